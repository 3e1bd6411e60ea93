// core/primitives/rules.cc -- the table of primitives and what their declarations share
#include <hom/core/primitives/rules.h>

#include <algorithm>
#include <numeric>

#include <hom/core/batched_program.h>
#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>

namespace hom {

std::string to_string(DtypeSet dtypes) {
  if (dtypes == every_dtype) return "every dtype";
  if (dtypes == numbers) return "numbers";
  if (dtypes == floats) return "floats";
  if (dtypes == integers) return "integers";
  std::string text;
  for (Dtype dtype : all_dtypes) {
    if (dtypes.contains(dtype)) text += (text.empty() ? "" : ", ") + to_string(dtype);
  }
  return text;
}

PrimitiveTable& PrimitiveTable::operator=(const PrimitiveTable& other) {
  if (this == &other) return *this;
  for (auto& primitive : primitives_) former_.push_back(std::move(primitive));
  former_.insert(former_.end(), other.former_.begin(), other.former_.end());
  primitives_ = other.primitives_;
  by_name_ = other.by_name_;
  // Those that stayed need not be kept twice; a table that is reset often must not grow.
  std::sort(former_.begin(), former_.end());
  former_.erase(std::unique(former_.begin(), former_.end()), former_.end());
  std::erase_if(former_, [&](const auto& primitive) {
    const auto found = by_name_.find(primitive->name);
    return found != by_name_.end() && found->second == primitive.get();
  });
  return *this;
}

const Primitive& PrimitiveTable::add(Primitive primitive) {
  if (contains(primitive.name)) {
    throw Error("primitive `" + primitive.name +
                "` is declared twice\n  hint: choose another name, or another table");
  }
  primitives_.push_back(std::make_shared<const Primitive>(std::move(primitive)));
  by_name_.emplace(primitives_.back()->name, primitives_.back().get());
  return *primitives_.back();
}

bool PrimitiveTable::contains(std::string_view name) const { return by_name_.contains(name); }

namespace {
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = std::exchange(row[j + 1], std::min({changed, row[j] + 1, row[j + 1] + 1}));
    }
  }
  return row.back();
}
}  // namespace

const Primitive& PrimitiveTable::find(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  const Primitive* nearest = nullptr;
  for (const auto& primitive : primitives_) {
    if (!nearest || edit_distance(name, primitive->name) < edit_distance(name, nearest->name))
      nearest = primitive.get();
  }
  throw Error("unknown primitive `" + std::string(name) + "`" +
              (nearest ? "\n  hint: did you mean `" + nearest->name + "`?" : ""));
}

std::vector<const Primitive*> PrimitiveTable::all() const {
  std::vector<const Primitive*> list;
  for (const auto& primitive : primitives_) list.push_back(primitive.get());
  return list;
}

PrimitiveTable& standard_primitives() {
  static PrimitiveTable table = [] {
    PrimitiveTable made;
    add_leaf_primitives(made);
    add_unary_primitives(made);
    add_special_primitives(made);
    add_binary_primitives(made);
    add_shape_primitives(made);
    add_indexing_primitives(made);
    add_window_primitives(made);
    add_reduction_primitives(made);
    add_cumulative_primitives(made);
    add_reduce_window_primitives(made);
    add_sorting_primitives(made);
    add_contraction_primitives(made);
    add_convolution_primitives(made);
    add_factorization_primitives(made);
    add_spectrum_primitives(made);
    add_linear_system_primitives(made);
    add_determinant_primitives(made);
    add_fft_primitives(made);
    add_control_primitives(made);
    add_scan_primitive(made);
    add_while_primitive(made);
    add_custom_primitives(made);
    return made;
  }();
  return table;
}

void Transposing::add(std::size_t operand, const Tensor& contribution) const {
  if (types[operand].size() == 0) return;
  Tensor& sum = accumulators[operand];
  sum = sum.is_empty() ? contribution : Operand(sum, at) + Operand(contribution, at);
}

Tensor Transposing::accumulator(std::size_t operand) const {
  return accumulators[operand].is_empty() ? zeros(types[operand], at) : accumulators[operand];
}

void Transposing::not_linear(const std::string& why) const {
  fail({"transpose: " + primitive.name + " is not linear here: " + why,
        "transpose takes linear functions; differentiate others with vjp or grad"},
       at);
}

std::vector<TensorType> result_types(const Primitive& primitive, const Attributes& attributes,
                                     std::span<const TensorType> operands, const Location& at) {
  const int count = static_cast<int>(operands.size());
  require(count >= primitive.min_operands && count <= primitive.max_operands, at, [&] {
    const bool open = primitive.max_operands > primitive.min_operands;
    return Complaint{primitive.name + ": takes " + std::to_string(primitive.min_operands) +
                     (open ? " or more" : "") + " operands, got " + std::to_string(count)};
  });
  // Counting elements may fail too, and knows no line of its own.
  const LocationScope line(at);
  std::vector<TensorType> results = primitive.type(Typing{primitive, attributes, operands, at});
  for (const TensorType& result : results) static_cast<void>(result.size());
  return results;
}

bool is_zero_by_linearity(const Primitive& primitive, std::span<const TensorType> operands,
                          const std::vector<bool>& zero) {
  // What a program inside does with zeros is not known here.
  if (!primitive.transpose || primitive.run) return false;
  bool any = false;
  bool all = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].dtype.is_float()) continue;
    any = any || zero[i];
    all = all && zero[i];
  }
  const std::string& name = primitive.name;
  const bool is_product =
      name == "mul" || name == "scale" || name == "dot_general" || name == "conv_general";
  const bool is_solution = name == "triangular_solve" || name == "lu_solve";
  return any && (all || is_product || (name == "div" && zero[0]) || (is_solution && zero.back()));
}

Slot append_literal(Builder& builder, const Attribute& value, const TensorType& type,
                    const Location& at, const std::string& scope) {
  static const Primitive& constant = standard_primitives().find("constant");
  const Attributes attributes{
      {"value", rounded(value, type.dtype)}, {"dtype", {type.dtype}}, {"shape", {type.shape}}};
  return builder.append(constant, attributes, std::span<const Slot>(), at, scope);
}

Slot Simplifying::append(const Primitive& other, const Attributes& with,
                         std::initializer_list<Slot> on) const {
  return builder.append(other, with, std::span<const Slot>(on.begin(), on.size()), at, scope);
}

Slot Simplifying::literal(const Attribute& value) const {
  return append_literal(builder, value, result, at, scope);
}

Tensor repeated_for_lanes(const Tensor& x, std::int64_t size) {
  const Shape shape = x.shape();
  return broadcast_in_dim(x, with_lanes(size, shape), iota_shape(shape.size(), 1));
}

Tensor Batching::lifted(std::size_t operand) const {
  return batched[operand] ? x[operand] : repeated_for_lanes(x[operand], size);
}

Batching with_operands(const Batching& at, std::span<const Tensor> x, const Tensor& alive) {
  return {at.primitive,    at.attributes, x,     at.batched, at.types,
          at.result_types, at.size,       alive, at.at,      at.batch};
}

Shape inverse(const Shape& permutation) {
  Shape result(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    result[static_cast<std::size_t>(permutation[i])] = static_cast<std::int64_t>(i);
  return result;
}

bool is_inside(std::int64_t start, std::int64_t size, std::int64_t step, std::int64_t extent) {
  if (step == 0 || size < 0) return false;
  if (size == 0) return true;
  if (start < 0 || start >= extent) return false;
  // Divided rather than multiplied, which could overflow.
  const std::int64_t room = step > 0            ? (extent - 1 - start) / step
                            : step == INT64_MIN ? 0
                                                : start / -step;
  return size - 1 <= room;
}

std::int64_t sum_of_extents(std::initializer_list<std::int64_t> extents) {
  std::int64_t sum = 0;
  for (std::int64_t extent : extents) {
    if (__builtin_add_overflow(sum, extent, &sum)) fail({"an extent does not fit 64 bits"}, {});
  }
  return sum;
}

}  // namespace hom
