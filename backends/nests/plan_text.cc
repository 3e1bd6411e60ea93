// backends/nests/plan_text.cc -- plans as readable text
//
//     plan of 2 inputs, 1 outputs, 6 instructions; arena 4096 bytes, 4096 live
//       b0 x: f32[64], input 0
//       b1 v7: f32[64], temporary at 0
//       return b1
//
//       exp_sum(b0, b1 + 256·l0)
//       repeat l0, 10 times
//         …
#include <hom/backends/nests/plan.h>

namespace hom::nest {
namespace {

std::string place_text(const PlannedBuffer& buffer) {
  switch (buffer.place) {
    case PlannedBuffer::Place::input:
      return "input " + std::to_string(buffer.index);
    case PlannedBuffer::Place::output:
      return "output " + std::to_string(buffer.index);
    case PlannedBuffer::Place::constant:
      return "constant " + std::to_string(buffer.index);
    case PlannedBuffer::Place::temporary:
      break;
  }
  return "temporary at " + std::to_string(buffer.offset);
}

class Printer {
 public:
  explicit Printer(const Plan& plan) : plan_(plan) {}

  std::string print() {
    out_ += "plan of " + std::to_string(plan_.input_count) + " inputs, " +
            std::to_string(plan_.outputs.size()) + " outputs, " +
            std::to_string(plan_.kernels.size()) + " kernels, " +
            std::to_string(plan_.routines.size()) + " routines; arena " +
            std::to_string(plan_.arena_bytes) + " bytes, " + std::to_string(plan_.live_bytes) +
            " live\n";
    for (std::size_t i = 0; i < plan_.buffers.size(); ++i) {
      const PlannedBuffer& buffer = plan_.buffers[i];
      line(1, "b" + std::to_string(i) + (buffer.label.empty() ? "" : " " + buffer.label) + ": " +
                  hom::to_string(buffer.type) + ", " + place_text(buffer));
    }
    std::string returned;
    for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
      returned += (i ? ", b" : "return b") + std::to_string(plan_.outputs[i]);
      if (i < plan_.donations.size() && plan_.donations[i] != Plan::not_donated)
        returned += " (in input " + std::to_string(plan_.donations[i]) + " where it is donated)";
    }
    if (!returned.empty()) line(1, returned);
    if (!plan_.body.empty()) out_ += "\n";
    instructions(plan_.body, 1);
    return std::move(out_);
  }

 private:
  void line(int depth, const std::string& text) {
    out_.append(static_cast<std::size_t>(2 * depth), ' ');
    out_ += text + "\n";
  }

  static std::string address(const Address& at) {
    std::string text = "b" + std::to_string(at.buffer);
    const auto add = [&](std::int64_t bytes, const std::string& what) {
      text += bytes < 0 ? " - " : " + ";
      text += std::to_string(bytes < 0 ? -bytes : bytes) + what;
    };
    if (at.offset != 0) add(at.offset, "");
    for (const Address::Move& move : at.moves) add(move.stride, "·l" + std::to_string(move.loop));
    return text;
  }

  static std::string addresses(const std::vector<Address>& list) {
    std::string text;
    for (const Address& at : list) text += (text.empty() ? "" : ", ") + address(at);
    return text;
  }

  std::string launch(const Launch& launch) const {
    return (launch.kernel < plan_.kernels.size() ? plan_.kernels[launch.kernel].name
                                                 : "kernel " + std::to_string(launch.kernel)) +
           "(" + addresses(launch.arguments) + ")" +
           (launch.grain > 0 ? " in pieces of " + std::to_string(launch.grain) : "") +
           (launch.positions > 0 ? " for " + std::to_string(launch.positions) + " positions a slice"
                                 : "");
  }

  void instructions(const Instructions& list, int depth) {
    for (const Instruction& instruction : list)
      std::visit([&](const auto& is) { print(is, depth); }, instruction.is);
  }

  void print(const Launch& is, int depth) { line(depth, launch(is)); }

  void print(const Call& is, int depth) {
    const bool is_there = is.routine < plan_.routines.size() && plan_.routines[is.routine];
    std::string text = addresses(is.results) + " = " +
                       (is_there ? plan_.routines[is.routine]->describe()
                                 : "routine " + std::to_string(is.routine)) +
                       "(" + addresses(is.operands) + ")";
    if (is.rows > 0) text += " for " + std::to_string(is.rows) + " rows a slice";
    if (is.scratch) text += ", scratch " + address(*is.scratch);
    line(depth, text);
    if (is.epilogue) line(depth + 1, "then rows by " + launch(*is.epilogue));
  }

  void print(const Copy& is, int depth) {
    line(depth,
         address(is.to) + " = " + address(is.from) + ", " + std::to_string(is.bytes) + " bytes");
  }

  void print(const Repeat& is, int depth) {
    line(depth, "repeat l" + std::to_string(is.id) + ", " + std::to_string(is.count) + " times");
    instructions(is.body, depth + 1);
  }

  void print(const Strips& is, int depth) {
    line(depth, "strips l" + std::to_string(is.id) + ", " + std::to_string(is.slices) +
                    " slices, " + std::to_string(is.together) + " together, in b" +
                    std::to_string(is.memory) +
                    (is.grain > 0 ? ", in pieces of " + std::to_string(is.grain) : ""));
    instructions(is.body, depth + 1);
  }

  void print(const While& is, int depth) {
    line(depth, "loop" + (is.bound < 0 ? std::string()
                                       : ", at most " + std::to_string(is.bound) + " times"));
    instructions(is.condition, depth + 1);
    line(depth, "while " + address(is.predicate));
    instructions(is.body, depth + 1);
  }

  void print(const Branch& is, int depth) {
    line(depth, "if " + address(is.predicate));
    instructions(is.then, depth + 1);
    line(depth, "else");
    instructions(is.otherwise, depth + 1);
  }

  const Plan& plan_;
  std::string out_;
};

}  // namespace

std::string to_string(const Plan& plan) { return Printer(plan).print(); }

}  // namespace hom::nest
