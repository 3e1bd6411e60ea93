// backends/cpu/jit/system_compiler.cc -- the compiler as a subprocess, without a shell
#include <hom/backends/cpu/jit/system_compiler.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

#include <spawn.h>

#include <hom/core/error.h>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has it in no header

namespace hom::cpu {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_executable(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

/// The executable called `name`: a path as it is, else the first one in the directories of PATH.
std::string executable(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_executable(name) ? name : std::string();
  std::istringstream directories(environment("PATH"));
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string path = (directory.empty() ? "." : directory) + "/" + name;
    if (is_executable(path)) return path;
  }
  return {};
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A running program that writes all it says to a file.
class Process {
 public:
  Process(const std::vector<std::string>& command, std::string output)
      : output_(std::move(output)) {
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    error_ = posix_spawn(&id_, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  ~Process() { wait(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Whether it ended well.
  bool wait() {
    if (error_ != 0 || is_over_) return is_ok_;
    is_over_ = true;
    int status = 0;
    pid_t ended;
    do {
      ended = waitpid(id_, &status, 0);
    } while (ended < 0 && errno == EINTR);
    // Where the program ignores SIGCHLD nobody learns how its children ended; the result tells.
    is_ok_ = ended < 0 ? errno == ECHILD : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return is_ok_;
  }

  std::string said() const {
    if (error_ != 0) return std::generic_category().message(error_);
    return contents(output_);
  }

 private:
  std::string output_;
  pid_t id_ = 0;
  int error_ = 0;
  bool is_over_ = false;
  bool is_ok_ = false;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// `g++ 12.2.0` of `g++ (Debian 12.2.0-14) 12.2.0`, `clang++ 14.0.6` of `Debian clang version
/// 14.0.6`.
std::string short_name(const std::string& path, const std::string& version_line) {
  std::string version;
  std::istringstream words(version_line);
  for (std::string word; words >> word;) {
    if (std::isdigit(static_cast<unsigned char>(word[0])) && word.find('.') != std::string::npos)
      version = word;
  }
  const std::string name = path.substr(path.rfind('/') + 1);
  return version.empty() ? name : name + " " + version;
}

/// Asks the compiler once for as long as its file stays the same.
std::optional<SystemCompiler> ask(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<SystemCompiler>> known;
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  const std::string file = path + " " + std::to_string(status.st_size) + " " +
                           std::to_string(status.st_mtim.tv_sec) + "." +
                           std::to_string(status.st_mtim.tv_nsec);
  const std::lock_guard lock(mutex);
  const auto found = known.find(file);
  if (found != known.end()) return found->second;
  std::optional<SystemCompiler> compiler;
  const TemporaryDirectory directory;
  Process process({path, "--version"}, directory.path() + "/version");
  if (process.wait()) {
    const std::string line = first_line(process.said());
    compiler = SystemCompiler{path, path + ": " + line, short_name(path, line)};
  }
  known.emplace(file, compiler);
  return compiler;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(path + ": can't be written: " + std::generic_category().message(errno));
}

[[noreturn]] void fail_with(const SystemCompiler& compiler, const std::string& said) {
  constexpr std::size_t most = 4000;
  throw Error("the compiler " + compiler.path + " failed:\n" + said.substr(0, most) +
              (said.size() > most ? "\n…" : ""));
}

std::vector<std::string> command_of(const SystemCompiler& compiler,
                                    const std::vector<std::string>& flags) {
  std::vector<std::string> command{compiler.path};
  command.insert(command.end(), emission_flags().begin(), emission_flags().end());
  command.insert(command.end(), flags.begin(), flags.end());
  return command;
}

}  // namespace

std::optional<SystemCompiler> find_system_compiler(std::string* why_not) {
  const std::string wanted = environment("HOM_CXX");
  const std::vector<std::string> names = wanted.empty()
                                             ? std::vector<std::string>{"g++", "clang++", "c++"}
                                             : std::vector<std::string>{wanted};
  for (const std::string& name : names) {
    const std::string path = executable(name);
    if (path.empty()) continue;
    if (auto compiler = ask(path)) return compiler;
  }
  if (why_not != nullptr) {
    *why_not = wanted.empty() ? "no C++ compiler: none of g++, clang++ and c++ is on the PATH"
                              : "no C++ compiler: $HOM_CXX is " + wanted + ", which does not run";
  }
  return std::nullopt;
}

TemporaryDirectory::TemporaryDirectory() {
  const std::string parent = environment("TMPDIR");
  path_ = (parent.empty() ? "/tmp" : parent) + "/hom-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    throw Error("no temporary directory " + path_ + ": " + std::generic_category().message(errno) +
                "\n  hint: set TMPDIR to a directory that can be written");
  }
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

const std::vector<std::string>& emission_flags() {
  static const std::vector<std::string> flags{
      "-std=c++17", "-O1", "-fPIC", "-w", "-Wno-psabi",
      // Without these g++ clears no upper halves of vectors at -O1, and all code for older
      // processors that runs afterwards, the functions of libm among it, takes several times as
      // long.
      "-fexpensive-optimizations",
      // One arithmetic: what is written is computed, and integers wrap.
      "-ffp-contract=off", "-fwrapv",
      // Nobody reads errno or floating-point exception flags.
      "-fno-math-errno", "-fno-trapping-math",
      // Buffers show their bytes as several types in turn.
      "-fno-strict-aliasing", "-fvisibility=hidden"};
  return flags;
}

std::string compile_shared_object(const SystemCompiler& compiler,
                                  const std::vector<std::string>& units,
                                  const std::vector<std::string>& flags,
                                  const TemporaryDirectory& directory) {
  const std::string base = directory.path() + "/";
  const std::string object = base + "object.so";
  // Nothing is linked: what is left open (memmove) is found in the program that loads it.
  std::vector<std::string> link = command_of(compiler, flags);
  link.insert(link.end(), {"-shared", "-nostdlib", "-o", object});
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < units.size(); ++i) {
    sources.push_back(base + "unit" + std::to_string(i) + ".cc");
    write(sources.back(), units[i]);
  }
  if (units.size() == 1) {
    link.push_back(sources[0]);
  } else {
    const std::size_t at_once = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t first = 0; first < sources.size(); first += at_once) {
      std::vector<std::unique_ptr<Process>> processes;
      for (std::size_t i = first; i < std::min(first + at_once, sources.size()); ++i) {
        std::vector<std::string> command = command_of(compiler, flags);
        command.insert(command.end(), {"-c", sources[i], "-o", sources[i] + ".o"});
        processes.push_back(std::make_unique<Process>(command, sources[i] + ".log"));
        link.push_back(sources[i] + ".o");
      }
      for (const auto& process : processes) {
        if (!process->wait()) fail_with(compiler, process->said());
      }
    }
  }
  Process linking(link, base + "link.log");
  const bool is_ok = linking.wait();
  if (!is_ok || access(object.c_str(), R_OK) != 0) fail_with(compiler, linking.said());
  return object;
}

}  // namespace hom::cpu
