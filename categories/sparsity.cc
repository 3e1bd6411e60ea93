// categories/sparsity.cc -- known values, the table of rules, and the pattern of a derivative
#include <hom/categories/sparsity.h>

#include <algorithm>

#include <hom/categories/sparsity_rule.h>
#include <hom/core/axes.h>
#include <hom/core/executor.h>
#include <hom/core/operations/shaping.h>

namespace hom::categories {
namespace {

/// The results of a step on known operands; nothing where it raises, as a step of a branch that is
/// not taken may.
std::vector<Tensor> computed(const Operation& step, std::span<const Dependences> x) {
  if (!step.captured.is_empty()) return {step.captured};
  TensorList operands;
  for (const Dependences& operand : x) {
    if (operand.known.is_empty()) return {};
    operands.push_back(operand.known);
  }
  try {
    const TensorList list =
        execute({*step.primitive, step.attributes, step.results, step.at}, std::move(operands));
    return {list.begin(), list.end()};
  } catch (const Error&) {
    return {};
  }
}

/// Of a primitive about which nothing is known.
std::vector<Tensor> everything(IndexSets& sets, const Operation& step,
                               std::span<const Dependences> x) {
  std::vector<IndexSets::Id> all;
  for (const Dependences& operand : x) {
    if (operand.sets.is_empty()) continue;
    const Tensor list = row_major(operand.sets);
    const auto own = ids(list);
    all.insert(all.end(), own.begin(), own.end());
  }
  SetTensor one({});
  one[0] = sets.unite(all);
  const Tensor any = one.tensor();
  std::vector<Tensor> results;
  for (const TensorType& type : step.results)
    results.push_back(broadcast_in_dim(any, type.shape, {}));
  return results;
}

}  // namespace

SparsityRules& sparsity_rules() {
  static SparsityRules table = [] {
    SparsityRules made;
    add_elementwise_sparsity(made);
    add_movement_sparsity(made);
    add_reduction_sparsity(made);
    add_window_sparsity(made);
    add_matrix_sparsity(made);
    return made;
  }();
  return table;
}

Dependences Sparsity::inputs(const TensorType& type, std::uint64_t first) const {
  SetTensor own(type.shape);
  for (std::int64_t i = 0; i < own.size(); ++i)
    own[i] = IndexSets::singleton(first + static_cast<std::uint64_t>(i));
  return {type, own.tensor(), {}};
}

std::vector<Dependences> Sparsity::primitive(const Operation& operation,
                                             std::span<const Dependences> x) const {
  std::vector<Dependences> results;
  for (const TensorType& type : operation.results) results.push_back({type, {}, {}});
  const bool depends =
      std::any_of(x.begin(), x.end(), [](const Dependences& d) { return !d.sets.is_empty(); });
  if (!depends) {
    std::vector<Tensor> known = computed(operation, x);
    for (std::size_t i = 0; i < known.size(); ++i) results[i].known = std::move(known[i]);
    return results;
  }
  const auto rule = sparsity_rules().find(operation.primitive->name);
  const std::vector<Tensor> found = rule != sparsity_rules().end()
                                        ? rule->second(*sets, operation, x)
                                        : everything(*sets, operation, x);
  ensure(found.size() == results.size(), "a sparsity rule gives sets for each result");
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].type.dtype.is_float() || found[i].is_empty()) continue;
    ensure(found[i].type() == u32[results[i].type.shape], "sets have the shape of the result");
    results[i].sets = found[i];
  }
  return results;
}

std::optional<bool> Sparsity::decide(const Dependences& predicate) const {
  if (predicate.known.is_empty()) return std::nullopt;
  return predicate.known.item<bool>();
}

Dependences Sparsity::merge(const Dependences& a, const Dependences& b) const {
  const bool agree =
      !a.known.is_empty() && !b.known.is_empty() && array_equal(a.known, b.known, true);
  return {a.type, united(*sets, a.sets, b.sets), agree ? a.known : Tensor()};
}

bool Sparsity::same(const Dependences& a, const Dependences& b) const {
  if (a.known.is_empty() != b.known.is_empty()) return false;
  return array_equal(sets_of(a), sets_of(b));
}

SetTensor::SetTensor(const Shape& shape)
    : array_(Array::allocate(u32[shape])), ids_(array_->data<IndexSets::Id>()) {}

Tensor empty_sets(const Shape& shape) { return hom::detail::stand_in(u32[shape]); }

Tensor sets_of(const Dependences& x) {
  return x.sets.is_empty() ? empty_sets(x.type.shape) : x.sets;
}

std::span<const IndexSets::Id> ids(const Tensor& row_major_sets) {
  return {row_major_sets.array().data<const IndexSets::Id>(),
          static_cast<std::size_t>(row_major_sets.size())};
}

Tensor executed(const Operation& step, TensorList operands, Dtype result) {
  const std::vector<TensorType> types{result[step.results[0].shape]};
  return execute({*step.primitive, step.attributes, types, step.at}, std::move(operands))[0];
}

}  // namespace hom::categories

namespace hom {

SparsityPattern sparsity(const Program& program, const std::vector<bool>& active,
                         const std::vector<Tensor>& known, const Location& at) {
  for (const TensorType& type : program.output_types()) {
    require(type.dtype.is_float(), at, [&] {
      return Complaint{"sparsity: the function returns " + to_string(program.codomain()) +
                           ", and only floats have derivatives",
                       "return the float results only"};
    });
  }
  const LocationScope line(at);
  const Program both = pushforward(program, active);
  const categories::Sparsity algebra;
  const std::vector<TensorType> types = both.input_types();
  std::vector<categories::Dependences> inputs;
  const std::size_t primal = program.inputs().size();
  for (std::size_t i = 0; i < primal; ++i) inputs.push_back({types[i], {}, known[i]});
  SparsityPattern pattern;
  for (std::size_t i = primal; i < types.size(); ++i) {
    inputs.push_back(algebra.inputs(types[i], static_cast<std::uint64_t>(pattern.column_count)));
    pattern.column_count += types[i].size();
  }
  const auto results = categories::interpret(algebra, both, std::move(inputs));
  for (std::size_t k = program.outputs().size(); k < results.size(); ++k) {
    const Tensor sets = row_major(categories::sets_of(results[k]));
    for (categories::IndexSets::Id set : categories::ids(sets)) {
      algebra.sets->append(set, pattern.columns);
      pattern.starts.push_back(pattern.entry_count());
    }
    pattern.row_count += sets.size();
  }
  return pattern;
}

}  // namespace hom
