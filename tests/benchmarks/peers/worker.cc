// tests/benchmarks/peers/worker.cc -- Hom's worker of the peers' benchmark: takes commands, one a
// line, and answers each with one line
//
//     prepare NAME=VALUE…   makes the inputs of a row                     ready
//     first                 the first call, which compiles                seconds S
//     run N                 N calls                                       seconds S
//     check                 what the row computes                         values V…
//     memory                bytes that calls need beyond what there was   bytes B
//     quit
//
// and as `worker NAME=VALUE…` prints what the row is compiled to and where its time goes.
//
// Where a command fails the answer is `error TEXT`. peer_worker.py answers the same.
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include <hom/tests/benchmarks/peers/row.h>

using namespace hom;
using namespace hom::peers;

namespace {

/// A line of /proc/self/status in bytes.
std::int64_t process_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  }
  return 0;
}

/// Seconds by the wall's clock; where PEERS_CLOCK is cpu, those of this process's threads together.
double now() {
  static const char* const clock = std::getenv("PEERS_CLOCK");
  static const bool is_cpu = clock != nullptr && std::string_view(clock) == "cpu";
  timespec time{};
  clock_gettime(is_cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Specification specification(std::istream& words) {
  std::map<std::string, std::string> values;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Error("no value: " + word);
    values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return Specification(std::move(values));
}

class Worker {
 public:
  std::string answer(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "prepare") return prepare(words);
    if (!row_) throw Error("no row is prepared");
    if (command == "first") return seconds(1);
    if (command == "run") {
      std::int64_t n = 0;
      words >> n;
      return seconds(n);
    }
    if (command == "check") return values();
    if (command == "memory") return memory();
    throw Error("there is no command " + command);
  }

 private:
  std::string prepare(std::istream& words) {
    const Specification spec = specification(words);
    row_.reset();
    before_ = process_bytes("VmRSS");
    row_ = make_row(spec);
    return "ready";
  }

  std::string seconds(std::int64_t n) {
    const double start = now();
    row_->run(n);
    std::ostringstream text;
    text.precision(9);
    text << "seconds " << now() - start;
    return text.str();
  }

  std::string values() {
    std::ostringstream text;
    text.precision(9);
    text << "values";
    for (const double value : row_->check()) text << ' ' << value;
    return text.str();
  }

  /// The peak while it runs: writing 5 to clear_refs sets the peak back to what is there now.
  std::string memory() {
    std::ofstream("/proc/self/clear_refs") << "5";
    row_->run(3);
    return "bytes " + std::to_string(process_bytes("VmHWM") - before_);
  }

  std::optional<Row> row_;
  std::int64_t before_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    std::stringstream words;
    for (int i = 1; i < argc; ++i) words << argv[i] << ' ';
    std::cout << make_row(specification(words)).describe();
    return 0;
  }
  // What a process does once is no part of a row.
  compile([](Tensor x) { return x + 1; })(ones({8}, f32));
  Worker worker;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    std::string answer;
    try {
      answer = worker.answer(line);
    } catch (const std::exception& error) {
      answer = "error " + std::string(error.what());
      for (char& c : answer) {
        if (c == '\n') c = ' ';
      }
    }
    std::cout << answer << std::endl;
  }
}
