// backends/optimise/known_values.cc -- integers that are known when a program is optimised
#include <hom/backends/optimise/known_values.h>

namespace hom::optimiser {

std::optional<std::vector<std::int64_t>> known_integers(const Rewriting& at, Slot slot) {
  constexpr std::int64_t most = 64;
  const TensorType type = at.type(slot);
  if (!type.dtype.is_integer() || type.size() > most) return std::nullopt;
  const auto as_index = [](std::uint64_t value) {
    return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
  };
  if (const auto value = at.literal_of(slot)) {
    const std::int64_t index =
        type.dtype == u64 ? as_index(number<std::uint64_t>(*value)) : number<std::int64_t>(*value);
    return std::vector<std::int64_t>(static_cast<std::size_t>(type.size()), index);
  }
  const auto step = at.match(slot, words().captured);
  if (!step) return std::nullopt;
  const auto index = static_cast<std::size_t>(step->attributes.integer("index"));
  const Tensor& tensor = at.rewriter.builder().program().captured()[index];
  if (type.dtype != u64) return tensor.to_vector<std::int64_t>();
  std::vector<std::int64_t> values;
  for (std::uint64_t value : tensor.to_vector<std::uint64_t>()) values.push_back(as_index(value));
  return values;
}

}  // namespace hom::optimiser
