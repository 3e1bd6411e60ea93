// core/operations/random.h -- random numbers as pure functions of a key
#pragma once

#include <cstdint>
#include <vector>

#include <boost/hana/define_struct.hpp>

#include <hom/core/tensor.h>

namespace hom {

/// The state of a random stream: two words that are never changed, only split. Use each key once.
struct Key {
  BOOST_HANA_DEFINE_STRUCT(Key, (Tensor, words));  // u32[2]
};

/// The key of a seed.
Key key(std::uint64_t seed);
/// Independent keys, a function of the key alone.
std::vector<Key> split(const Key& key, std::int64_t count = 2,
                       const Location& at = Location::current());
/// A key for each number: of `key` and an integer, or of an integer tensor [n…], whose keys have
/// words [n…, 2]. Throws for other than integers.
Key fold_in(const Key& key, const Operand& data);
/// Uniform bits (u8, u32 or u64) by Threefry-2x32-20 (J. Salmon et al., "Parallel random numbers:
/// as easy as 1, 2, 3", 2011); those of element i depend on the key and i alone. Many keys at once,
/// words [n, 2], give [n] + shape.
Tensor random_bits(const Key& key, const Shape& shape, Dtype dtype = u32,
                   const Location& at = Location::current());
/// Uniform floats in [low, high); as many random bits as the dtype has digits. f32 unless asked
/// for, because they start and feed models. Throws for a dtype that is not a float.
Tensor uniform(const Key& key, const Shape& shape, double low = 0, double high = 1,
               Dtype dtype = f32, const Location& at = Location::current());

}  // namespace hom
