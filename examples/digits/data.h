// examples/digits/data.h -- the handwritten digits: reading them, and a train and test split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hom {

/// Pixels of a digit: 8 by 8, row by row.
inline constexpr std::int64_t kDigitPixels = 64;
/// The classes are 0 to 9.
inline constexpr std::int64_t kDigitClasses = 10;

/// Some handwritten digits.
struct Digits {
  /// Shape [count, 64]; ink from 0 (none) to 1, in sixteenths.
  std::vector<float> pixels;
  /// Shape [count]; from 0 to 9.
  std::vector<std::int32_t> labels;
  std::int64_t count = 0;
};

/// Reads a CSV file, gzipped or plain, with a digit on each line: 64 integers from 0 to 16, then
/// the class. Throws `Error` that names the file, and the line where it is wrong, cut off or
/// damaged.
Digits read_digits(const std::string& path);

/// Deals `all` out to `test`, which gets `test_count` digits, and `train`, which gets the others;
/// both are in a random order that depends on `seed` alone, on every platform. The classes' shares
/// may differ a little. `train` or `test` may be `&all`; both are replaced.
///
/// Throws `Error` if `test_count` isn't from 0 to `all.count`, or `all` contradicts its count.
void shuffle_split(const Digits& all, std::int64_t test_count, std::uint64_t seed, Digits* train,
                   Digits* test);

}  // namespace hom
