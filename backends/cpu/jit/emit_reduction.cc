// backends/cpu/jit/emit_reduction.cc -- accumulators: before, in and after their loop
#include <hom/backends/cpu/jit/emit_reduction.h>

#include <algorithm>
#include <bit>

#include <hom/backends/cpu/jit/reduction_identity.h>

namespace hom::cpu {

using nest::Combine;

namespace {

constexpr std::int64_t order_lanes = 8;
constexpr std::int64_t chunk = 64;

/// The functor of the prelude.
std::string functor(Combine combine) {
  switch (combine) {
    case Combine::sum:
      return "Sum";
    case Combine::prod:
      return "Product";
    case Combine::max:
      return "Maximum";
    case Combine::min:
      return "Minimum";
    case Combine::and_:
      return "Both";
    default:
      return "Either";
  }
}

}  // namespace

ReductionPrinter::ReductionPrinter(const nest::Kernel& kernel, const nest::Loop& loop, Form form,
                                   int lanes, ExpressionPrinter& values, Writer& out)
    : kernel_(kernel), loop_(loop), form_(form), lanes_(lanes), values_(values), out_(out) {
  for (const nest::Axis axis : loop.axes) terms_ *= kernel.axes[axis];
  chunks_ = (terms_ + chunk - 1) / chunk;
  const std::string axis = std::to_string(loop.axes.back());
  // One axis that counts up counts the terms.
  const auto longer = std::count_if(loop.axes.begin(), loop.axes.end(),
                                    [&](nest::Axis a) { return kernel.axes[a] > 1; });
  const bool is_simple =
      !loop.reverse && (longer == 0 || (longer == 1 && kernel.axes[loop.axes.back()] > 1));
  // In blocks, terms count from where the block starts.
  const bool is_in_blocks = kernel.block > 0 && &loop == nest::split_loop(kernel);
  counts_ = (!is_simple || is_in_blocks) && form != Form::unrolled && !loop.reductions.empty();
  position_ = counts_ ? "t" + std::to_string(loop.reductions[0].result) : "i" + axis;
  in_chunks_ =
      form == Form::chunks || (form == Form::vectors && values.adds_in_chunks(loop, lanes));
  has_rest_ = form == Form::vectors && kernel.axes[loop.axes.back()] % lanes != 0;
}

ReductionPrinter::Accumulator ReductionPrinter::accumulator(
    const nest::Reduction& reduction) const {
  Accumulator result;
  result.reduction = &reduction;
  const Dtype term = kernel_.nodes[reduction.term].dtype;
  result.kind = reduction.combine >= Combine::argmax ? Accumulator::Kind::place
                : !term.is_float()                   ? Accumulator::Kind::free
                : reduction.pairwise                 ? Accumulator::Kind::pairwise
                                                     : Accumulator::Kind::ordered;
  const bool is_place = result.kind == Accumulator::Kind::place;
  result.dtype = is_place && term.is_bool() ? i8 : ExpressionPrinter::computing(term);
  result.is_vector = form_ == Form::vectors ? !is_place : values_.is_vector(reduction.result);
  result.name = "v" + std::to_string(reduction.result);
  if (!result.is_vector) {
    result.type = ExpressionPrinter::number_type(result.dtype);
  } else {
    const std::string lanes = std::to_string(form_ == Form::vectors ? lanes_ : values_.lanes());
    result.type = (result.dtype.is_bool() ? "i8" : ExpressionPrinter::number_type(result.dtype)) +
                  "x" + lanes;
  }
  return result;
}

std::string ReductionPrinter::number_identity(const Accumulator& of) const {
  const std::int64_t bits = visit(of.dtype, [&]<class T>() -> std::int64_t {
    if constexpr (sizeof(T) == 2) {
      return 0;  // computed in f32
    } else {
      return identity_bits<T>(of.reduction->combine);
    }
  });
  return ExpressionPrinter::literal(of.dtype, bits);
}

std::string ReductionPrinter::identity(const Accumulator& of) const {
  if (!of.is_vector) return number_identity(of);
  const bool is_mask = of.dtype.is_bool();
  const std::string number =
      is_mask ? (of.reduction->combine == Combine::and_ ? "-1" : "0") : number_identity(of);
  return "splat<" + of.type + ">(" + number + ")";
}

std::string ReductionPrinter::combined(const Accumulator& of, const std::string& a,
                                       const std::string& b) const {
  return ExpressionPrinter::combined(of.reduction->combine, a, b);
}

/// In the form of the accumulator; of places in vectors, as a vector.
std::string ReductionPrinter::term(const Accumulator& to) const {
  const nest::Value value = to.reduction->term;
  const Dtype dtype = kernel_.nodes[value].dtype;
  const bool as_vector = values_.lanes() > 1 && (to.is_vector || form_ == Form::vectors);
  if (dtype.is_bool()) {
    const bool is_place = to.kind == Accumulator::Kind::place;
    if (as_vector) return (is_place ? "-" : "") + values_.mask(value, 1);
    return is_place ? "i8(" + values_.number(value) + ")" : values_.number(value);
  }
  return as_vector ? values_.computed(value)
                   : ExpressionPrinter::decoded(dtype, values_.number(value));
}

void ReductionPrinter::begin() {
  for (const nest::Reduction& reduction : loop_.reductions)
    accumulators_.push_back(accumulator(reduction));
  for (const Accumulator& what : accumulators_) begin(what);
  if (counts_) out_.line("i64 " + position_ + " = 0;");
}

void ReductionPrinter::begin(const Accumulator& what) {
  switch (what.kind) {
    case Accumulator::Kind::place:
      out_.line(what.type + " " + what.name + "_best = " + identity(what) + ";");
      out_.line((what.is_vector ? values_.vector_type(i64) : "i64") + " " + what.name + "{};");
      return;
    case Accumulator::Kind::free:
      out_.line(what.type + " " + what.name + "_all = " + identity(what) + ";");
      if (has_rest_) {
        out_.line(ExpressionPrinter::number_type(what.dtype) + " " + what.name +
                  "_rest = " + number_identity(what) + ";");
      }
      return;
    case Accumulator::Kind::pairwise:
      out_.line("Chunks<" + what.type + ", " +
                std::to_string(std::bit_width(static_cast<std::uint64_t>(terms_))) + "> " +
                what.name + "_chunks;");
      return;
    case Accumulator::Kind::ordered:
      break;
  }
  if (form_ == Form::vectors) {
    for (std::int64_t g = 0; g < order_lanes / lanes_; ++g) {
      out_.line(what.type + " " + what.name + "_" + std::to_string(g) + " = " + identity(what) +
                ";");
    }
    if (has_rest_)
      out_.line(ExpressionPrinter::number_type(what.dtype) + " " + what.name + "_lane[8];");
  } else if (form_ != Form::chunks) {
    out_.line(what.type + " " + what.name + "_lane[8];");
    if (form_ != Form::unrolled)
      out_.line("fill_lanes(" + what.name + "_lane, " + identity(what) + ");");
  }
  for (std::int64_t k = 0; in_chunks_ && k < chunk_accumulators(); ++k)
    out_.line(what.type + " " + of_chunk(what, k) + " = " + identity(what) + ";");
  if (chunks_ > 1) {
    const std::string part =
        form_ == Form::vectors ? ExpressionPrinter::number_type(what.dtype) : what.type;
    const bool is_many = in_chunks_ && form_ == Form::vectors;
    out_.line((is_many ? "ManyChunks<" : "Chunks<") + part + ", " +
              std::to_string(std::bit_width(static_cast<std::uint64_t>(chunks_))) + "> " +
              what.name + "_chunks;");
  }
}

void ReductionPrinter::add() {
  for (const Accumulator& to : accumulators_) add(to);
  if (counts_) {
    out_.line(position_ + " += " +
              std::to_string(form_ == Form::vectors ? static_cast<std::int64_t>(lanes_) : 1) + ";");
  }
  ++added_;
}

void ReductionPrinter::add(const Accumulator& to) {
  const std::string position = form_ == Form::unrolled ? std::to_string(added_) : position_;
  switch (to.kind) {
    case Accumulator::Kind::place: {
      const std::string function =
          to.reduction->combine == Combine::argmax ? "first_maximum(" : "first_minimum(";
      const std::string state = to.name + "_best, " + to.name + ", ";
      if (form_ == Form::vectors && values_.lanes() > 1) {
        const std::string terms = to.name + "_terms";
        out_.line("const auto " + terms + " = " + term(to) + ";");
        out_.open("for (int l = 0; l < " + std::to_string(lanes_) + "; ++l)");
        out_.line(function + state + to.type + "(" + terms + "[l]), " + position + " + l);");
        out_.close();
      } else {
        out_.line(function + state + term(to) + ", " + position + ");");
      }
      return;
    }
    case Accumulator::Kind::free: {
      const std::string all = to.name + "_all";
      out_.line(all + " = " + combined(to, all, term(to)) + ";");
      return;
    }
    case Accumulator::Kind::pairwise:
      return finish_chunk(to, term(to));
    case Accumulator::Kind::ordered:
      break;
  }
  if (form_ == Form::vectors) {
    rotate(to);
  } else {
    add_to_lane(to);
  }
}

void ReductionPrinter::add_to_lane(const Accumulator& to) {
  if (form_ == Form::unrolled) {
    const std::string lane = to.name + "_lane[" + std::to_string(added_ % order_lanes) + "]";
    out_.line(lane + " = " + (added_ < order_lanes ? term(to) : combined(to, lane, term(to))) +
              ";");
    return;
  }
  const std::string lane = to.name + "_lane[" + position_ + " & 7]";
  out_.line(lane + " = " + combined(to, lane, term(to)) + ";");
  if (chunks_ == 1) return;
  out_.open("if ((" + position_ + " & 63) == 63)");
  finish_chunk(to, "fold_lanes<" + functor(to.reduction->combine) + ">(" + to.name + "_lane)");
  out_.line("fill_lanes(" + to.name + "_lane, " + identity(to) + ");");
  out_.close();
}

void ReductionPrinter::finish_chunk(const Accumulator& of, const std::string& part) {
  out_.line(of.name + "_chunks.add<" + functor(of.reduction->combine) + ">(" + part + ");");
}

// ---- chunks in registers ----

std::int64_t ReductionPrinter::chunk_accumulators() const {
  return form_ == Form::chunks ? order_lanes : order_lanes / lanes_;
}

std::string ReductionPrinter::of_chunk(const Accumulator& of, std::int64_t which) const {
  return of.name + "_c" + std::to_string(which);
}

std::string ReductionPrinter::folded_chunk(const Accumulator& of) const {
  std::string all;
  for (std::int64_t k = 0; k < chunk_accumulators(); ++k)
    all += (k > 0 ? ", " : "") + of_chunk(of, k);
  const std::string with = functor(of.reduction->combine);
  if (form_ != Form::chunks) return "fold<" + with + ">(" + all + ")";
  return "fold_eight<" + with + ">(" + all + ")";
}

void ReductionPrinter::begin_chunk() {
  for (const Accumulator& of : accumulators_) {
    if (of.kind != Accumulator::Kind::ordered) continue;
    for (std::int64_t k = 0; k < chunk_accumulators(); ++k)
      out_.line(of_chunk(of, k) + " = " + identity(of) + ";");
  }
}

void ReductionPrinter::add_neighbour(std::int64_t which) {
  for (const Accumulator& to : accumulators_) {
    if (to.kind == Accumulator::Kind::free) {
      add(to);
    } else {
      const std::string there = of_chunk(to, which % chunk_accumulators());
      out_.line(there + " = " + combined(to, there, term(to)) + ";");
    }
  }
}

void ReductionPrinter::end_chunk() {
  for (const Accumulator& of : accumulators_) {
    if (of.kind == Accumulator::Kind::ordered) finish_chunk(of, folded_chunk(of));
  }
  if (counts_) out_.line(position_ + " += " + std::to_string(chunk) + ";");
}

/// The accumulator that is due comes first and goes last, so that one text serves all of them.
void ReductionPrinter::rotate(const Accumulator& to) {
  const auto group = [&](std::int64_t g) { return to.name + "_" + std::to_string(g); };
  const std::int64_t count = order_lanes / lanes_;
  if (count == 1) {
    out_.line(group(0) + " = " + combined(to, group(0), term(to)) + ";");
  } else {
    out_.line("const " + to.type + " " + to.name + "_next = " + combined(to, group(0), term(to)) +
              ";");
    for (std::int64_t g = 0; g + 1 < count; ++g) out_.line(group(g) + " = " + group(g + 1) + ";");
    out_.line(group(count - 1) + " = " + to.name + "_next;");
  }
  if (chunks_ == 1 || in_chunks_) return;
  out_.open("if ((" + position_ + " & 63) == " + std::to_string(chunk - lanes_) + ")");
  std::string all;
  for (std::int64_t g = 0; g < count; ++g) all += (g > 0 ? ", " : "") + group(g);
  finish_chunk(to, "fold<" + functor(to.reduction->combine) + ">(" + all + ")");
  for (std::int64_t g = 0; g < count; ++g) out_.line(group(g) + " = " + identity(to) + ";");
  out_.close();
}

/// The accumulators of lanes 0 …, …, 7, as they stand after the last vector.
std::string ReductionPrinter::groups(const Accumulator& of) const {
  const std::int64_t count = order_lanes / lanes_;
  const std::int64_t vectors = kernel_.axes[loop_.axes.back()] / lanes_;
  std::string all;
  for (std::int64_t g = 0; g < count; ++g) {
    const std::int64_t at = ((g - vectors) % count + count) % count;
    all += (g > 0 ? ", " : "") + of.name + "_" + std::to_string(at);
  }
  return all;
}

void ReductionPrinter::begin_rest() {
  for (const Accumulator& of : accumulators_) {
    if (of.kind == Accumulator::Kind::ordered)
      out_.line("store_lanes(" + of.name + "_lane, " + groups(of) + ");");
  }
}

void ReductionPrinter::add_rest() {
  for (const Accumulator& to : accumulators_) {
    const std::string to_lane = to.name + "_lane[" + position_ + " & 7]";
    const std::string rest = to.name + "_rest";
    switch (to.kind) {
      case Accumulator::Kind::place:
      case Accumulator::Kind::pairwise:
        add(to);
        break;
      case Accumulator::Kind::free:
        out_.line(rest + " = " + combined(to, rest, term(to)) + ";");
        break;
      case Accumulator::Kind::ordered:
        out_.line(to_lane + " = " + combined(to, to_lane, term(to)) + ";");
        break;
    }
  }
  if (counts_) out_.line(position_ + " += 1;");
}

void ReductionPrinter::end() {
  for (const Accumulator& what : accumulators_) end(what);
}

/// The fold of the lanes that have a term. A sum starts from +0 all the same, which turns −0 into
/// 0.
std::string ReductionPrinter::unrolled_tree(const Accumulator& of) const {
  std::vector<std::string> parts;
  for (std::int64_t l = 0; l < std::min(terms_, order_lanes); ++l)
    parts.push_back(of.name + "_lane[" + std::to_string(l) + "]");
  for (std::size_t half = order_lanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half && l + half < parts.size(); ++l) {
      parts[l] = combined(of, parts[l], parts[l + half]);
      if (half > 1) parts[l] = "(" + parts[l] + ")";
    }
    parts.resize(std::min(parts.size(), half));
  }
  if (of.reduction->combine == Combine::sum) return "(" + parts[0] + ") + " + identity(of);
  return parts[0];
}

void ReductionPrinter::end(const Accumulator& what) {
  const Combine combine = what.reduction->combine;
  const Dtype dtype = kernel_.nodes[what.reduction->result].dtype;
  const auto result = [&](const std::string& computed) {
    out_.line("const " + values_.type_of(what.reduction->result) + " " + what.name + " = " +
              ExpressionPrinter::encoded(dtype, computed) + ";");
  };
  if (what.kind == Accumulator::Kind::place) return;
  if (what.kind == Accumulator::Kind::free) {
    if (form_ != Form::vectors) return result(what.name + "_all");
    std::string all = "fold<" + functor(combine) + ">(" + what.name + "_all)";
    if (what.dtype.is_bool()) all = "(" + all + " != 0)";
    return result(has_rest_ ? combined(what, all, what.name + "_rest") : all);
  }
  if (what.kind == Accumulator::Kind::pairwise)
    return result(what.name + "_chunks.total<" + functor(combine) + ">()");
  if (form_ == Form::unrolled) return result(unrolled_tree(what));
  const std::string part = form_ == Form::chunks ? folded_chunk(what)
                           : form_ == Form::vectors && !has_rest_
                               ? "fold<" + functor(combine) + ">(" + groups(what) + ")"
                               : "fold_lanes<" + functor(combine) + ">(" + what.name + "_lane)";
  if (chunks_ == 1) return result(part);
  if (terms_ % chunk != 0) finish_chunk(what, part);
  result(what.name + "_chunks.total<" + functor(combine) + ">()");
}

}  // namespace hom::cpu
