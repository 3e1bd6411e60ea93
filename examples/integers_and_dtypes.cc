// examples/integers_and_dtypes.cc -- dtypes: how they meet, and integers that never trap
#include <iostream>

#include <hom/hom.h>

using namespace hom;

int main() {
  const Tensor half = tensor({0.5f, 1.5f});  // f32[2]
  const Tensor count = tensor({7, -7});      // i32[2]
  const Tensor bytes = tensor<std::uint8_t>({250, 10});

  // C++ numbers are weak: they adopt the dtype of the tensor that they meet.
  std::cout << "0.1 * f32        " << 0.1 * half << "\n";
  std::cout << "u8 + 1           " << bytes + 1 << "\n";

  // Floats win over integers; integers widen among themselves, and never turn float.
  std::cout << "f32 + i32        " << half + count << "\n";
  std::cout << "u8 + i32         " << bytes + count << "\n";
  std::cout << "f16 + bf16       " << promote(f16, bf16).name() << "\n";

  // Division of integers rounds down, and the remainder has the sign of the divisor.
  std::cout << "i32 / 2          " << count / 2 << "\n";
  std::cout << "i32 % 2          " << count % 2 << "\n";
  std::cout << "i32 / 0, i32 % 0 " << count / 0 << ", " << count % 0 << "\n";

  // Overflow wraps; float to integer truncates and saturates, and takes NaN to 0.
  std::cout << "u8 overflow      " << bytes + bytes << "\n";
  const Tensor wild = tensor({2.9, -1e300, 0.0 / 0.0});
  std::cout << "f64 to i8        " << wild.astype(i8) << "\n";

  // 16-bit floats are stored in 16 bits, and summed in 32.
  std::cout << "sum of bf16      " << sum(full({1000}, 0.1, bf16)) << "\n";

  // Comparisons give bool, which chooses elements and counts.
  std::cout << "positive         " << where(count > 0, count, 0) << "\n";
  std::cout << "how many         " << sum((count > 0).astype(i64)) << "\n";
}
