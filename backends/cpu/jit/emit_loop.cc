// backends/cpu/jit/emit_loop.cc -- loops: plain, unrolled, and several positions at once
#include <algorithm>

#include <hom/backends/cpu/jit/emit_kernel.h>

namespace hom::cpu {

using nest::Loop;
using nest::Node;
using nest::Value;
using Form = ReductionPrinter::Form;

namespace {

/// From so many statements on a body is printed once more for each shorter vector.
constexpr std::int64_t long_body = 40;

/// Statements that are printed for one iteration, those of inner loops included.
std::int64_t weight(const nest::Block& block) {
  std::int64_t sum = 0;
  for (const nest::Statement& statement : block) {
    const Loop* loop = std::get_if<Loop>(&statement.is);
    const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is);
    sum += loop != nullptr ? 4 + weight(loop->body) : 1;
    if (shortcut != nullptr)
      sum += weight(shortcut->attempt) + weight(shortcut->quick) + weight(shortcut->full);
  }
  return sum;
}

bool has_checks(const nest::Block& block) {
  return std::any_of(block.begin(), block.end(), [](const nest::Statement& statement) {
    const Loop* loop = std::get_if<Loop>(&statement.is);
    return loop != nullptr ? has_checks(loop->body)
                           : std::holds_alternative<nest::Check>(statement.is);
  });
}

}  // namespace

void KernelPrinter::place(const Loop& loop) {
  const int lanes = lanes_for(loop);
  if (lanes > 1) return vector_loop(loop, lanes);
  if (is_worth_unrolling(loop)) return unrolled_loop(loop);
  plain_loop(loop);
}

std::int64_t KernelPrinter::iterations(const Loop& loop) const {
  std::int64_t count = 1;
  for (const nest::Axis axis : loop.axes) count *= extent(axis);
  return count;
}

bool KernelPrinter::is_split(const Loop& loop) const { return &loop == nest::split_loop(kernel_); }

bool KernelPrinter::is_worth_unrolling(const Loop& loop) const {
  const std::int64_t count = iterations(loop);
  const bool is_pairwise =
      std::any_of(loop.reductions.begin(), loop.reductions.end(),
                  [](const nest::Reduction& reduction) { return reduction.pairwise; });
  return !is_split(loop) && !is_pairwise &&
         (count == 1 || (count <= 16 && count * weight(loop.body) <= 64));
}

// ---- positions ----

/// `for (i64 i3 = from; i3 < to; i3 += step) {`
void KernelPrinter::open_positions(nest::Axis axis, const std::string& from, const std::string& to,
                                   std::int64_t step) {
  const std::string i = "i" + std::to_string(axis);
  out_.open("for (i64 " + i + " = " + from + "; " + i + " < " + to + "; " +
            (step == 1 ? "++" + i : i + " += " + std::to_string(step)) + ")");
}

void KernelPrinter::open_axis(const Loop& loop, std::size_t which) {
  const nest::Axis axis = loop.axes[which];
  const std::string i = "i" + std::to_string(axis);
  const std::string end = std::to_string(extent(axis));
  if (which == 0 && is_split(loop)) return open_positions(axis, "low", "high", 1);
  if (extent(axis) == 1) {
    out_.open();
    out_.line("const i64 " + i + " = 0;");
  } else if (loop.reverse && which + 1 == loop.axes.size()) {
    out_.open("for (i64 " + i + " = " + std::to_string(extent(axis) - 1) + "; " + i + " >= 0; --" +
              i + ")");
  } else {
    open_positions(axis, "0", end, 1);
  }
}

void KernelPrinter::plain_loop(const Loop& loop) {
  ReductionPrinter reductions(kernel_, loop, Form::sequence, 1, values_, out_);
  declare_states(loop);
  reductions.begin();
  for (std::size_t i = 0; i < loop.axes.size(); ++i) open_axis(loop, i);
  block(loop.body);
  reductions.add();
  advance_states(loop);
  for (std::size_t i = 0; i < loop.axes.size(); ++i) out_.close();
  reductions.end();
}

void KernelPrinter::unrolled_loop(const Loop& loop) {
  ReductionPrinter reductions(kernel_, loop, Form::unrolled, 1, values_, out_);
  declare_states(loop);
  reductions.begin();
  const std::int64_t count = iterations(loop);
  for (std::int64_t n = 0; n < count; ++n) {
    out_.open();
    std::int64_t rest = n;
    for (std::size_t k = loop.axes.size(); k-- > 0;) {
      const nest::Axis axis = loop.axes[k];
      const std::int64_t at = rest % extent(axis);
      rest /= extent(axis);
      const bool backwards = loop.reverse && k + 1 == loop.axes.size();
      out_.line("const i64 i" + std::to_string(axis) + " = " +
                std::to_string(backwards ? extent(axis) - 1 - at : at) + ";");
    }
    block(loop.body);
    reductions.add();
    advance_states(loop);
    out_.close();
  }
  reductions.end();
}

/// All but the last axis as they are; along the last one as many vectors as fit, then the rest.
void KernelPrinter::vector_loop(const Loop& loop, int lanes) {
  ReductionPrinter reductions(kernel_, loop, Form::vectors, lanes, values_, out_);
  reductions.begin();
  for (std::size_t i = 0; i + 1 < loop.axes.size(); ++i) open_axis(loop, i);
  const nest::Axis axis = loop.axes.back();
  const bool is_dynamic = loop.axes.size() == 1 && is_split(loop);
  const std::int64_t whole = extent(axis) / lanes * lanes;
  const std::string i = "i" + std::to_string(axis);
  if (is_dynamic) {
    out_.line("i64 " + i + " = low;");
    out_.open("for (; " + i + " + " + std::to_string(lanes) + " <= high; " + i +
              " += " + std::to_string(lanes) + ")");
  } else if (whole == lanes) {
    out_.open();
    out_.line("const i64 " + i + " = 0;");
  } else {
    open_positions(axis, "0", std::to_string(whole), lanes);
  }
  values_.set_lanes(lanes);
  if (has_checks(loop.body))
    out_.line("int first_failed = record->failure != 0 ? 0 : " + std::to_string(lanes) + ";");
  block(loop.body);
  reductions.add();
  values_.set_lanes(1);
  out_.close();
  const std::int64_t done = is_dynamic || !loop.reductions.empty() || weight(loop.body) < long_body
                                ? whole
                                : shorter_vectors(loop, lanes, whole);
  // Blocks but the last one are whole chunks of terms.
  const bool is_block = is_dynamic && kernel_.block > 0;
  if ((is_dynamic && !is_block) || done < extent(axis)) {
    reductions.begin_rest();
    if (is_dynamic) {
      out_.open("for (; " + i + " < high; ++" + i + ")");
    } else {
      open_positions(axis, std::to_string(done), std::to_string(extent(axis)), 1);
    }
    block(loop.body);
    reductions.add_rest();
    out_.close();
  }
  for (std::size_t k = 0; k + 1 < loop.axes.size(); ++k) out_.close();
  reductions.end();
}

/// What is left after whole vectors, from `at` on, by halves of them, quarters …; how far that is.
std::int64_t KernelPrinter::shorter_vectors(const Loop& loop, int lanes, std::int64_t at) {
  const nest::Axis axis = loop.axes.back();
  for (int fewer = lanes / 2; fewer > 1; fewer /= 2) {
    if (at + fewer > extent(axis)) continue;
    out_.open();
    out_.line("const i64 i" + std::to_string(axis) + " = " + std::to_string(at) + ";");
    values_.set_lanes(fewer);
    if (has_checks(loop.body))
      out_.line("int first_failed = record->failure != 0 ? 0 : " + std::to_string(fewer) + ";");
    block(loop.body);
    values_.set_lanes(1);
    out_.close();
    at += fewer;
  }
  return at;
}

// ---- carried values ----

std::string KernelPrinter::as_state(Value state, Value value) const {
  if (!values_.is_vector(state)) return values_.number(value);
  return kernel_.nodes[state].dtype.is_bool() ? values_.mask(value, 1) : values_.held(value);
}

void KernelPrinter::declare_states(const Loop& loop) {
  for (const nest::Carry& carry : loop.carries) {
    out_.line(values_.type_of(carry.state) + " v" + std::to_string(carry.state) + " = " +
              as_state(carry.state, carry.initial) + ";");
  }
}

void KernelPrinter::advance_states(const Loop& loop) {
  const auto is_state = [&](Value value) {
    return std::any_of(loop.carries.begin(), loop.carries.end(),
                       [&](const nest::Carry& carry) { return carry.state == value; });
  };
  // States that become each other do so at once.
  for (const nest::Carry& carry : loop.carries) {
    if (!is_state(carry.next)) continue;
    out_.line("const " + values_.type_of(carry.state) + " v" + std::to_string(carry.state) +
              "_next = " + as_state(carry.state, carry.next) + ";");
  }
  for (const nest::Carry& carry : loop.carries) {
    const std::string state = "v" + std::to_string(carry.state);
    out_.line(state + " = " +
              (is_state(carry.next) ? state + "_next" : as_state(carry.state, carry.next)) + ";");
  }
}

// ---- lanes ----

int KernelPrinter::lanes_for(const Loop& loop) const {
  if (values_.lanes() > 1 || kernel_.vector_axis != loop.axes.back() || !loop.carries.empty() ||
      loop.reverse)
    return 1;
  const std::int64_t positions = extent(loop.axes.back());
  int lanes = dialect_.vector_bytes() / widest(loop);
  const bool is_ordered_loop =
      std::any_of(loop.reductions.begin(), loop.reductions.end(),
                  [&](const nest::Reduction& reduction) { return is_ordered(reduction, kernel_); });
  if (is_ordered_loop) {
    lanes = std::min(lanes, 8);
    // Rows that do not fill the eight lanes would meet inside a vector.
    if (iterations(loop) != positions && positions % 8 != 0) return 1;
  } else if (!loop.reductions.empty() && iterations(loop) != positions && positions % lanes != 0) {
    return 1;
  }
  while (lanes > positions) lanes /= 2;
  return lanes;
}

int KernelPrinter::widest(const Loop& loop) const {
  int bytes = widest(loop.body);
  const auto bytes_of = [&](Value value) {
    return values_.varies(value) ? values_.bytes_of(value) : 1;
  };
  for (const nest::Reduction& reduction : loop.reductions)
    bytes = std::max({bytes, bytes_of(reduction.term), bytes_of(reduction.result)});
  for (const nest::Carry& carry : loop.carries) bytes = std::max(bytes, bytes_of(carry.state));
  return bytes;
}

int KernelPrinter::widest(const nest::Block& block) const {
  int bytes = 1;
  const auto use = [&](Value value) {
    if (values_.varies(value)) bytes = std::max(bytes, values_.bytes_of(value));
  };
  for (const nest::Statement& statement : block) {
    if (const auto* define = std::get_if<nest::Define>(&statement.is)) {
      // Strided indices are numbers until something computes with them.
      if (!values_.varies(define->value) || values_.is_strided(define->value)) continue;
      use(define->value);
      const Node& node = kernel_.nodes[define->value];
      const bool is_load = node.kind == Node::Kind::load;
      for (std::size_t i = is_load ? 1 : 0; i < node.operands.size(); ++i) use(node.operands[i]);
    } else if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      use(store->value);
    } else if (const auto* loop = std::get_if<Loop>(&statement.is)) {
      bytes = std::max(bytes, widest(*loop));
    } else if (const auto* shortcut = std::get_if<nest::Shortcut>(&statement.is)) {
      // The other blocks compute the same in the same dtypes.
      bytes = std::max(bytes, widest(shortcut->full));
    }
  }
  return bytes;
}

}  // namespace hom::cpu
