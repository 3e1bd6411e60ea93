// core/operations/random.cc -- keys, bits and uniform floats
#include <hom/core/operations/random.h>

#include <cmath>

#include <hom/core/capture.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {

Key key(std::uint64_t seed) {
  return {tensor(std::vector<std::uint32_t>{static_cast<std::uint32_t>(seed >> 32),
                                            static_cast<std::uint32_t>(seed)})};
}

Tensor random_bits(const Key& key, const Shape& shape, Dtype dtype, const Location& at) {
  static const Primitive& p = standard_primitives().find("random_bits");
  return apply_one(p, {{"dtype", {dtype}}, {"shape", {shape}}}, {key.words}, at);
}

std::vector<Key> split(const Key& key, std::int64_t count, const Location& at) {
  const LocationScope line(LocationScope::current(at));
  const Tensor words = random_bits(key, {count, 2}, u32, at);
  std::vector<Key> keys;
  for (std::int64_t i = 0; i < count; ++i) keys.push_back({words(ellipsis, i, all)});
  return keys;
}

Key fold_in(const Key& key, const Operand& data) {
  const LocationScope line(LocationScope::current(data.at()));
  require(data.dtype().is_integer(), data.at(), [&] {
    return Complaint{"fold_in: folds integers into a key, not " + to_string(data.value().type())};
  });
  const Tensor number = data.value().astype(u64);
  const Tensor words = stack({(number >> 32).astype(u32), number.astype(u32)}, -1);
  // Digits of π, so that this is no key of `split`.
  const Tensor apart = tensor(std::vector<std::uint32_t>{0x243f6a88, 0x85a308d3});
  const Tensor mixed = random_bits(key, {2}, u32, data.at()) ^ apart ^ words;
  return {random_bits({mixed}, {2}, u32, data.at())};
}

Tensor uniform(const Key& key, const Shape& shape, double low, double high, Dtype dtype,
               const Location& at) {
  const LocationScope line(LocationScope::current(at));
  require(dtype.is_float(), at, [&] {
    return Complaint{"uniform: makes floats, not " + to_string(dtype),
                     "random_integers gives integers"};
  });
  const Dtype bits_dtype = dtype == f64 ? u64 : u32;
  const int width = dtype == f64 ? 64 : 32;
  const int digits = dtype == f64 ? 53 : dtype == f32 ? 24 : dtype == f16 ? 11 : 8;
  const Tensor kept = random_bits(key, shape, bits_dtype, at) >> (width - digits);
  const Tensor unit = kept.astype(dtype) * std::ldexp(1.0, -digits);
  return unit * (high - low) + low;
}

}  // namespace hom
