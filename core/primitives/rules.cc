// core/primitives/rules.cc -- the table of primitives and what their declarations share
#include <hom/core/primitives/rules.h>

#include <algorithm>
#include <numeric>

#include <hom/core/operations/broadcasting.h>
#include <hom/core/operations/elementwise.h>
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

const Primitive& PrimitiveTable::add(Primitive primitive) {
  if (contains(primitive.name)) {
    throw Error("primitive `" + primitive.name +
                "` is declared twice\n  hint: choose another name, or another table");
  }
  primitives_.push_back(std::make_unique<Primitive>(std::move(primitive)));
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
    add_binary_primitives(made);
    add_shape_primitives(made);
    add_indexing_primitives(made);
    add_reduction_primitives(made);
    add_cumulative_primitives(made);
    add_contraction_primitives(made);
    add_control_primitives(made);
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

std::string list_types(std::span<const TensorType> types) {
  std::string text;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i) text += i + 1 == types.size() ? " and " : ", ";
    text += to_string(types[i]);
  }
  return text;
}

void require_dtypes(const Typing& typing) {
  for (const TensorType& operand : typing.operands) {
    typing.require(typing.primitive.dtypes.contains(operand.dtype), [&] {
      return Complaint{typing.primitive.name + ": takes " + to_string(typing.primitive.dtypes) +
                           ", got " + list_types(typing.operands),
                       typing.primitive.dtypes == floats ? "convert with astype(f32) or astype(f64)"
                                                         : "convert with astype"};
    });
    typing.require(operand.dtype == typing.operands[0].dtype, [&] {
      return Complaint{
          typing.primitive.name + ": operands differ in dtype: " + list_types(typing.operands),
          "convert with astype"};
    });
  }
}

TensorType elementwise_type(const Typing& typing) {
  require_dtypes(typing);
  for (const TensorType& operand : typing.operands) {
    typing.require(operand.shape == typing.operands[0].shape, [&] {
      return Complaint{typing.primitive.name +
                       ": operands differ in shape: " + list_types(typing.operands)};
    });
  }
  return typing.operands[0];
}

std::vector<TensorType> same_type(const Typing& typing) { return {elementwise_type(typing)}; }

Tensor tangent_or_zeros(const Linearizing& at, std::size_t operand) {
  return at.dx[operand].is_empty() ? zeros_like(at.x[operand]) : at.dx[operand];
}

DerivativeRule linear_in(std::size_t data) {
  return [data](const Linearizing& at) -> std::vector<Tensor> {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < at.x.size(); ++i)
      operands.push_back(i < data ? tangent_or_zeros(at, i) : at.x[i]);
    const TensorList tangents = apply(at.primitive, at.attributes, operands, Location::current());
    return {tangents.begin(), tangents.end()};
  };
}

Slot append_literal(Builder& builder, const Attribute& value, const TensorType& type,
                    const Location& at) {
  static const Primitive& constant = standard_primitives().find("constant");
  return builder.append(
      constant,
      {{"value", rounded(value, type.dtype)}, {"dtype", {type.dtype}}, {"shape", {type.shape}}}, {},
      at);
}

std::optional<Slot> zeros_of_zeros(const Simplifying& at) {
  if (!at.builder.is_literal(at.operands[0], 0)) return std::nullopt;
  return append_literal(at.builder, {0.0}, at.result, at.at);
}

std::optional<Slot> operand_of(const Builder& builder, Slot slot, const std::string& primitive) {
  const auto step = builder.definition(slot);
  if (step && step->primitive.name == primitive) return step->operands[0];
  return std::nullopt;
}

bool is_zero(const Tensor& x) {
  if (!x.is_symbolic() || !Capture::current() || Capture::current()->id() != x.capture_id())
    return false;
  if (x.size() == 0) return true;
  const Attribute* value = Capture::current()->builder().literal(x.slot());
  return value && number<double>(*value) == 0;
}

Shape iota_shape(std::size_t count, std::int64_t first) {
  Shape list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

bool contains(const Shape& list, std::int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

Shape axes_without(std::size_t rank, const Shape& axes) {
  Shape kept;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(rank); ++axis) {
    if (!contains(axes, axis)) kept.push_back(axis);
  }
  return kept;
}

}  // namespace hom
