// backends/cpu/jit/emit_plan.cc -- instructions as statements, addresses as expressions
#include <hom/backends/cpu/jit/emit_plan.h>

#include <vector>

#include <hom/backends/cpu/jit/emit_writer.h>

namespace hom::cpu {
namespace {

class PlanPrinter {
 public:
  explicit PlanPrinter(const nest::Plan& plan) : plan_(plan) {}

  std::string print() {
    out_.open("EXPORT void hom_plan(char* const* buffers, Host* host)");
    instructions(plan_.body);
    out_.close();
    return out_.take();
  }

 private:
  void instructions(const nest::Instructions& body) {
    for (const nest::Instruction& instruction : body)
      std::visit([&](const auto& is) { run(is); }, instruction.is);
  }

  static std::string loop_name(nest::LoopId loop) { return "n" + std::to_string(loop); }

  static std::string address(const nest::Address& at) {
    std::string text = "buffers[" + std::to_string(at.buffer) + "]";
    if (at.offset != 0) text += " + " + std::to_string(at.offset);
    for (const nest::Address::Move& move : at.moves)
      text += " + " + loop_name(move.loop) + " * " + number(move.stride);
    return text;
  }

  static std::string number(std::int64_t value) {
    return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
  }

  /// An array of addresses in the current block, or no array where there are none.
  template <class Addresses>
  std::string list(const std::string& name, const Addresses& addresses) {
    if (addresses.empty()) return "0";
    std::string text;
    for (const nest::Address& at : addresses) text += (text.empty() ? "" : ", ") + address(at);
    out_.line("char* const " + name + "[] = {" + text + "};");
    return name;
  }

  /// Positions of the axis that may be split; other kernels ignore them.
  std::string positions(const nest::Kernel& kernel) const {
    if (!kernel.is_splittable) return "0, 0";
    const nest::Loop& loop = *nest::split_loop(kernel);
    return "0, " + std::to_string(kernel.axes[loop.axes[0]]);
  }

  void run(const nest::Launch& launch) {
    out_.open();
    const std::string arguments = list("arguments", launch.arguments);
    const std::string kernel = "hom_kernel_" + std::to_string(launch.kernel);
    const nest::Kernel& launched = plan_.kernels[launch.kernel];
    if (launch.grain == 0) {
      out_.line(kernel + "(" + arguments + ", " + positions(launched) + ", &host->record);");
    } else {
      const std::int64_t extent = launched.axes[nest::split_loop(launched)->axes[0]];
      out_.line("host->launch(host, " + kernel + ", " + arguments + ", " + std::to_string(extent) +
                ", " + std::to_string(launch.grain) + ");");
    }
    out_.close();
  }

  void run(const nest::Call& call) {
    out_.open();
    const std::string operands = list("operands", call.operands);
    const std::string results = list("results", call.results);
    const std::string epilogue =
        call.epilogue ? list("epilogue", call.epilogue->arguments) : std::string("0");
    out_.line("host->call(host, " + std::to_string(calls_++) + ", " + operands + ", " + results +
              ", " + (call.scratch ? address(*call.scratch) : "0") + ", " + epilogue + ");");
    out_.close();
  }

  void run(const nest::Copy& copy) {
    out_.line("__builtin_memmove(" + address(copy.to) + ", " + address(copy.from) + ", " +
              std::to_string(copy.bytes) + ");");
  }

  void run(const nest::Repeat& repeat) {
    const std::string n = loop_name(repeat.id);
    out_.open("for (i64 " + n + " = 0; " + n + " < " + std::to_string(repeat.count) + "; ++" + n +
              ")");
    open_loops_.push_back(repeat.id);
    instructions(repeat.body);
    open_loops_.pop_back();
    out_.close();
  }

  void run(const nest::Strips& /*strips*/) {
    out_.open();
    out_.line("i64 iterations[" + std::to_string(plan_.loop_count) + "] = {};");
    for (const nest::LoopId loop : open_loops_)
      out_.line("iterations[" + std::to_string(loop) + "] = " + loop_name(loop) + ";");
    out_.line("host->strips(host, " + std::to_string(strips_++) + ", buffers, iterations);");
    out_.close();
  }

  void run(const nest::While& loop) {
    const std::string count = "rounds" + std::to_string(whiles_++);
    out_.open("for (i64 " + count + " = 0;; ++" + count + ")");
    instructions(loop.condition);
    const std::string at_bound =
        loop.bound < 0 ? "" : " || " + count + " == " + std::to_string(loop.bound);
    out_.line("if (!*(" + address(loop.predicate) + ")" + at_bound + ") break;");
    instructions(loop.body);
    out_.close();
  }

  void run(const nest::Branch& branch) {
    out_.open("if (*(" + address(branch.predicate) + "))");
    instructions(branch.then);
    out_.close();
    if (branch.otherwise.empty()) return;
    out_.open("else");
    instructions(branch.otherwise);
    out_.close();
  }

  const nest::Plan& plan_;
  Writer out_;
  std::vector<nest::LoopId> open_loops_;
  std::uint32_t calls_ = 0;
  std::uint32_t strips_ = 0;
  int whiles_ = 0;
};

}  // namespace

std::string emit_plan(const nest::Plan& plan) { return PlanPrinter(plan).print(); }

}  // namespace hom::cpu
