// core/loops.cc -- loops as steps of programs, and the messages about their carries
#include <hom/core/loops.h>

#include <cmath>

#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/loops.h>

namespace hom::detail {
namespace {

/// A stretch of a scan as a `checkpoint`: carries…, [length] elements…, constants… ↦ carries…, ys….
class Stretch {
 public:
  Stretch(const ProgramPtr& body, std::size_t carries, std::size_t scanned, std::int64_t length,
          bool reverse, const Location& at)
      : types_(body->input_types()), names_(body->input_names()), at_(at) {
    for (std::size_t i = carries; i < carries + scanned; ++i)
      types_[i].shape.insert(types_[i].shape.begin(), length);
    Capture capture(at);
    const TensorList results =
        scan_step(body, {carries, scanned, length, reverse}, capture.inputs(types_, names_), at);
    program_ = std::make_shared<const Program>(
        capture.finish({results.data(), results.size()}, {body->name(), {}, {}}, at).program);
  }

  TensorList on(std::span<const Tensor> operands) const {
    static const Primitive& checkpoint = standard_primitives().find("checkpoint");
    return apply(checkpoint, {{"program", {program_}}}, operands, at_);
  }
  /// As the body of a scan over stretches.
  ProgramPtr as_body() const {
    Capture capture(at_);
    const TensorList results = on(capture.inputs(types_, names_));
    return std::make_shared<const Program>(
        capture.finish({results.data(), results.size()}, {program_->name(), {}, {}}, at_).program);
  }

 private:
  std::vector<TensorType> types_;
  std::vector<std::string> names_;
  Location at_;
  ProgramPtr program_;
};

/// `size` elements from `start` along the first axis.
Tensor part(const Tensor& x, std::int64_t start, std::int64_t size, const Location& at) {
  Shape starts(x.shape(at).size(), 0);
  Shape sizes = x.shape(at);
  starts[0] = size > 0 ? start : 0;
  sizes[0] = size;
  return slice(Operand(x, at), starts, sizes, Shape(starts.size(), 1));
}

/// About √n stretches of about √n iterations. Those that are left over come last.
std::vector<Tensor> scan_in_stretches(const ProgramPtr& body, const std::vector<Tensor>& carries,
                                      const std::vector<Tensor>& scanned,
                                      const std::vector<Tensor>& constants, std::int64_t length,
                                      bool reverse, const Location& at) {
  const auto size = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(length))));
  const std::int64_t count = length / size;
  const std::int64_t rest = length - count * size;
  const auto operands_of = [&](const std::vector<Tensor>& carry,
                               const std::vector<Tensor>& elements) {
    std::vector<Tensor> operands = carry;
    operands.insert(operands.end(), elements.begin(), elements.end());
    operands.insert(operands.end(), constants.begin(), constants.end());
    return operands;
  };
  std::vector<Tensor> main_elements;
  std::vector<Tensor> rest_elements;
  for (const Tensor& x : scanned) {
    Shape shape = x.shape(at);
    shape[0] = size;
    shape.insert(shape.begin(), count);
    main_elements.push_back(
        reshape(Operand(part(x, reverse ? rest : 0, count * size, at), at), shape));
    rest_elements.push_back(part(x, reverse ? 0 : count * size, rest, at));
  }
  const Stretch stretch(body, carries.size(), scanned.size(), size, reverse, at);
  TensorList main = scan_step(stretch.as_body(), {carries.size(), scanned.size(), count, reverse},
                              operands_of(carries, main_elements), at);
  std::vector<Tensor> results(main.begin(), main.end());
  for (std::size_t k = carries.size(); k < results.size(); ++k) {
    Shape shape = results[k].shape(at);
    shape.erase(shape.begin());
    shape[0] = count * size;
    results[k] = reshape(Operand(results[k], at), shape);
  }
  if (rest == 0) return results;
  const std::vector<Tensor> carry(results.begin(),
                                  results.begin() + static_cast<std::ptrdiff_t>(carries.size()));
  const TensorList last = Stretch(body, carries.size(), scanned.size(), rest, reverse, at)
                              .on(operands_of(carry, rest_elements));
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (k < carries.size()) {
      results[k] = last[k];
    } else {
      const Operand first(reverse ? last[k] : results[k], at);
      const Operand second(reverse ? results[k] : last[k], at);
      results[k] = concat({first, second}, 0, at);
    }
  }
  return results;
}

}  // namespace

void require_same_carry(const char* loop, const Leaves& taken, const Program& body,
                        const std::vector<std::string>& returned, const Location& at) {
  const std::size_t count = std::max(taken.paths.size(), returned.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto leaf = [&](const std::vector<std::string>& paths) {
      return i < paths.size() ? "`" + paths[i] + "`" : std::string("nothing more");
    };
    require(leaf(taken.paths) == leaf(returned), at, [&] {
      return Complaint{std::string(loop) +
                           ": the body takes a carry of one structure and returns another: " +
                           leaf(taken.paths) + " became " + leaf(returned),
                       "a carry keeps the length of its vectors, the keys of its maps, and what is "
                       "there of its optionals and tensors"};
    });
  }
  for (std::size_t i = 0; i < taken.types.size(); ++i) {
    const TensorType& type = body.type(body.outputs()[i]);
    require(type == taken.types[i], at, [&] {
      return Complaint{
          std::string(loop) + ": the body takes `" + taken.paths[i] + "` as " +
              to_string(taken.types[i]) + " and returns " + to_string(type),
          "a carry keeps its dtype and shape: start from one of the type that the body "
          "returns, or convert with astype"};
    });
  }
}

std::vector<Tensor> element_stand_ins(const char* loop, const Leaves& xs, std::int64_t& length,
                                      const Location& at) {
  require(!xs.types.empty(), at, [&] {
    return Complaint{std::string(loop) + ": nothing to go over: xs has no tensors",
                     "fori_loop counts; scan over arange(n) gives the positions"};
  });
  std::vector<Tensor> elements;
  for (std::size_t i = 0; i < xs.types.size(); ++i) {
    TensorType type = xs.types[i];
    require(type.rank() > 0, at, [&] {
      return Complaint{std::string(loop) + ": `" + xs.paths[i] + "` is " + to_string(type) +
                           " and has no axis to go along",
                       "what is the same for all elements is captured by the lambda"};
    });
    if (i == 0) length = type.shape[0];
    require(type.shape[0] == length, at, [&] {
      return Complaint{std::string(loop) + ": `" + xs.paths[0] + "` is " + to_string(xs.types[0]) +
                           " and `" + xs.paths[i] + "` is " + to_string(type) + " (" +
                           std::to_string(length) + " ≠ " + std::to_string(type.shape[0]) + ")",
                       "all of xs have the elements along their first axis"};
    });
    type.shape.erase(type.shape.begin());
    elements.push_back(stand_in(type));
  }
  return elements;
}

Tensor positions(std::int64_t lower, std::int64_t upper, const Location& at) {
  const Tensor i = arange(std::max<std::int64_t>(upper - lower, 0), i64, at);
  return lower == 0 ? i : Operand(i, at) + Operand(lower, at);
}

std::pair<Tensor, Tensor> common_bounds(const Tensor& lower, const Tensor& upper,
                                        const Location& at) {
  const TensorType a = lower.type(at);
  const TensorType b = upper.type(at);
  require(a.dtype.is_integer() && b.dtype.is_integer() && a.rank() == 0 && b.rank() == 0, at, [&] {
    return Complaint{"fori_loop: the bounds are " + to_string(a) + " and " + to_string(b) +
                         ", not integers of rank 0",
                     "convert with astype(i64), or take one element"};
  });
  const Dtype dtype = promote(a.dtype, b.dtype);
  return {convert(Operand(lower, at), dtype), convert(Operand(upper, at), dtype)};
}

std::vector<Tensor> apply_scan(Program body, const std::vector<Tensor>& carries,
                               const std::vector<Tensor>& scanned,
                               const std::vector<Tensor>& constants, std::int64_t length,
                               const ScanOptions& options, const Location& at) {
  const auto shared = std::make_shared<const Program>(std::move(body));
  if (options.checkpoint && length > 1) {
    return scan_in_stretches(shared, carries, scanned, constants, length, options.reverse, at);
  }
  std::vector<Tensor> operands = carries;
  operands.insert(operands.end(), scanned.begin(), scanned.end());
  operands.insert(operands.end(), constants.begin(), constants.end());
  const TensorList results =
      scan_step(shared, {carries.size(), scanned.size(), length, options.reverse}, operands, at);
  return {results.begin(), results.end()};
}

std::vector<Tensor> apply_while(ProgramPtr condition, ProgramPtr body, std::size_t carries,
                                const std::vector<Tensor>& operands, const WhileOptions& options,
                                const Location& at) {
  static const Primitive& loop = standard_primitives().find("while");
  require(options.bound >= WhileOptions::unbounded, at, [&] {
    return Complaint{
        "while_loop: a bound of " + std::to_string(options.bound) + " iterations",
        "a bound is the most iterations that there may be; leave it out for a loop without"};
  });
  const TensorList results = apply(loop,
                                   {{"condition", {std::move(condition)}},
                                    {"body", {std::move(body)}},
                                    {"carries", {static_cast<std::int64_t>(carries)}},
                                    {"bound", {options.bound}}},
                                   operands, at);
  return {results.begin(), results.end()};
}

Tensor switch_index(const Operand& index) {
  require(index.dtype().is_integer() && index.shape().empty(), index.at(), [&] {
    return Complaint{
        "switch_: the index is " + to_string(index.value().type()) + ", not an integer of rank 0",
        "convert with astype(i64); cond takes a bool"};
  });
  return index.value();
}

}  // namespace hom::detail
