// backends/cpu/jit/emit_loop.cc -- loops: plain, unrolled, and several positions at once
#include <algorithm>

#include <hom/backends/cpu/jit/emit_kernel.h>

namespace hom::cpu {

using nest::Loop;
using nest::Node;
using nest::Value;
using Form = ReductionPrinter::Form;

void KernelPrinter::place(const Loop& loop) {
  const int lanes = values_.lanes_for(loop, dialect_.vector_bytes());
  if (!loop.tile.empty()) return tiled_loop(loop, lanes);
  if (lanes > 1) return vector_loop(loop, lanes);
  if (values_.is_worth_unrolling(loop)) return unrolled_loop(loop);
  if (values_.adds_in_chunks(loop, 1)) return chunk_loop(loop);
  plain_loop(loop);
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
  const std::string end = std::to_string(values_.extent(axis));
  if (which == 0 && values_.is_split(loop)) return open_positions(axis, "low", "high", 1);
  if (values_.extent(axis) == 1) {
    out_.open();
    out_.line("const i64 " + i + " = 0;");
  } else if (loop.reverse && which + 1 == loop.axes.size()) {
    out_.open("for (i64 " + i + " = " + std::to_string(values_.extent(axis) - 1) + "; " + i +
              " >= 0; --" + i + ")");
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
  const std::int64_t count = values_.iterations(loop);
  for (std::int64_t n = 0; n < count; ++n) {
    out_.open();
    std::int64_t rest = n;
    for (std::size_t k = loop.axes.size(); k-- > 0;) {
      const nest::Axis axis = loop.axes[k];
      const std::int64_t at = rest % values_.extent(axis);
      rest /= values_.extent(axis);
      const bool backwards = loop.reverse && k + 1 == loop.axes.size();
      out_.line("const i64 i" + std::to_string(axis) + " = " +
                std::to_string(backwards ? values_.extent(axis) - 1 - at : at) + ";");
    }
    block(loop.body);
    reductions.add();
    advance_states(loop);
    out_.close();
  }
  reductions.end();
}

// ---- tiles ----

/// Tile after tile: row after row inside, and of a row as many vectors as fit; what no vector
/// reaches comes last.
void KernelPrinter::tiled_loop(const Loop& loop, int lanes) {
  const std::int64_t columns = values_.extent(loop.axes[1]);
  const std::int64_t whole = columns / lanes * lanes;
  const bool is_split = values_.is_split(loop);
  const auto in_tiles = [&](std::size_t which, const std::string& from, const std::string& to) {
    const std::string tile = "t" + std::to_string(loop.axes[which]);
    const std::string size = std::to_string(loop.tile[which]);
    out_.open("for (i64 " + tile + " = " + from + "; " + tile + " < " + to + "; " + tile +
              " += " + size + ")");
    out_.line("const i64 " + tile + "_end = " + tile + " + " + size + " < " + to + " ? " + tile +
              " + " + size + " : " + to + ";");
    return tile;
  };
  const std::string top = in_tiles(
      0, is_split ? "low" : "0", is_split ? "high" : std::to_string(values_.extent(loop.axes[0])));
  const auto open_rows = [&] { open_positions(loop.axes[0], top, top + "_end", 1); };
  if (whole > 0) {
    const std::string left = in_tiles(1, "0", std::to_string(whole));
    open_rows();
    open_positions(loop.axes[1], left, left + "_end", lanes);
    // Inside a loop of vectors its lanes stay.
    const int outside = values_.lanes();
    values_.set_lanes(std::max(lanes, outside));
    block(loop.body);
    values_.set_lanes(outside);
    for (int i = 0; i < 3; ++i) out_.close();
  }
  if (whole < columns) {
    open_rows();
    open_positions(loop.axes[1], std::to_string(whole), std::to_string(columns), 1);
    block(loop.body);
    for (int i = 0; i < 2; ++i) out_.close();
  }
  out_.close();
}

// ---- chunks of ordered reductions ----

/// The bodies of `count` ≤ 8 neighbouring positions, or vectors of them.
void KernelPrinter::neighbours(const Loop& loop, ReductionPrinter& reductions,
                               const std::string& from, std::int64_t count) {
  const std::string i = "i" + std::to_string(loop.axes.back());
  for (std::int64_t k = 0; k < count; ++k) {
    out_.open();
    out_.line("const i64 " + i + " = " + from + " + " +
              std::to_string(k * reductions.terms_at_once()) + ";");
    block(loop.body);
    reductions.add_neighbour(k);
    out_.close();
  }
}

/// The whole chunks between `from` and `to`.
void KernelPrinter::chunks(const Loop& loop, ReductionPrinter& reductions, const std::string& from,
                           const std::string& to) {
  const std::string axis = std::to_string(loop.axes.back());
  const std::string chunk = "c" + axis;
  const std::string part = "p" + axis;
  out_.open("for (i64 " + chunk + " = " + from + "; " + chunk + " + 64 <= " + to + "; " + chunk +
            " += 64)");
  reductions.begin_chunk();
  const std::int64_t together = 8 * reductions.terms_at_once();
  if (together == 64) {
    neighbours(loop, reductions, chunk, 8);
  } else {
    out_.open("for (i64 " + part + " = " + chunk + "; " + part + " < " + chunk + " + 64; " + part +
              " += " + std::to_string(together) + ")");
    neighbours(loop, reductions, part, 8);
    out_.close();
  }
  reductions.end_chunk();
  out_.close();
}

/// Iterations follow each other, eight accumulators take their terms in turn.
void KernelPrinter::chunk_loop(const Loop& loop) {
  ReductionPrinter reductions(kernel_, loop, Form::chunks, 1, values_, out_);
  reductions.begin();
  for (std::size_t i = 0; i + 1 < loop.axes.size(); ++i) open_axis(loop, i);
  const std::int64_t terms = values_.extent(loop.axes.back());
  // What is left for the last, incomplete chunk; all where there is but one.
  const std::int64_t whole = terms <= 64 ? 0 : terms / 64 * 64;
  const std::int64_t eights = whole + (terms - whole) / 8 * 8;
  if (whole > 0) chunks(loop, reductions, "0", std::to_string(whole));
  if (whole < terms) {
    reductions.begin_chunk();
    if (whole < eights) {
      const std::string part = "p" + std::to_string(loop.axes.back());
      out_.open("for (i64 " + part + " = " + std::to_string(whole) + "; " + part + " < " +
                std::to_string(eights) + "; " + part + " += 8)");
      neighbours(loop, reductions, part, 8);
      out_.close();
    }
    neighbours(loop, reductions, std::to_string(eights), terms - eights);
  }
  for (std::size_t i = 0; i + 1 < loop.axes.size(); ++i) out_.close();
  reductions.end();
}

/// All but the last axis as they are; along the last one as many vectors as fit, then the rest.
void KernelPrinter::vector_loop(const Loop& loop, int lanes) {
  ReductionPrinter reductions(kernel_, loop, Form::vectors, lanes, values_, out_);
  reductions.begin();
  for (std::size_t i = 0; i + 1 < loop.axes.size(); ++i) open_axis(loop, i);
  const nest::Axis axis = loop.axes.back();
  const bool is_dynamic = loop.axes.size() == 1 && values_.is_split(loop);
  const std::int64_t whole = values_.extent(axis) / lanes * lanes;
  const std::string i = "i" + std::to_string(axis);
  const bool in_chunks = values_.adds_in_chunks(loop, lanes);
  std::string from = is_dynamic ? "low" : "0";
  if (in_chunks) {
    const std::string to = is_dynamic ? "high" : std::to_string(whole);
    values_.set_lanes(lanes);
    chunks(loop, reductions, from, to);
    values_.set_lanes(1);
    from += " + (" + to + " - " + from + ") / 64 * 64";
  }
  if (is_dynamic) {
    out_.line("i64 " + i + " = " + from + ";");
    out_.open("for (; " + i + " + " + std::to_string(lanes) + " <= high; " + i +
              " += " + std::to_string(lanes) + ")");
  } else if (whole == lanes && !in_chunks) {
    out_.open();
    out_.line("const i64 " + i + " = 0;");
  } else {
    open_positions(axis, from, std::to_string(whole), lanes);
  }
  values_.set_lanes(lanes);
  if (ValueForms::has_checks(loop.body))
    out_.line("int first_failed = record->failure != 0 ? 0 : " + std::to_string(lanes) + ";");
  block(loop.body);
  reductions.add();
  values_.set_lanes(1);
  out_.close();
  const std::int64_t done = !is_dynamic && values_.wants_shorter_vectors(loop)
                                ? shorter_vectors(loop, lanes, whole)
                                : whole;
  // Blocks but the last one are whole chunks of terms.
  const bool is_block = is_dynamic && kernel_.block > 0;
  if ((is_dynamic && !is_block) || done < values_.extent(axis)) {
    reductions.begin_rest();
    if (is_dynamic) {
      out_.open("for (; " + i + " < high; ++" + i + ")");
    } else {
      open_positions(axis, std::to_string(done), std::to_string(values_.extent(axis)), 1);
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
    if (at + fewer > values_.extent(axis)) continue;
    out_.open();
    out_.line("const i64 i" + std::to_string(axis) + " = " + std::to_string(at) + ";");
    values_.set_lanes(fewer);
    if (ValueForms::has_checks(loop.body))
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

}  // namespace hom::cpu
