// tests/unit/routines_kernel_test.cc -- steps by their eager kernels, on memory of a plan
#include "routines_support.h"

#include <hom/hom.h>

namespace hom::testing {
namespace {

void expect_equals_eager(const std::string& name, const Attributes& attributes,
                         const std::vector<Tensor>& operands) {
  TensorList list;
  for (const Tensor& operand : operands) list.push_back(operand);
  const TensorList want = compute(name, attributes, std::move(list));
  const Prepared prepared(name, attributes, operands);
  EXPECT_EQ(prepared.routine().describe(), name);
  for (int repeat = 0; repeat < 2; ++repeat) {
    const std::vector<Tensor> got = prepared.run();
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(array_equal(got[i], want[i], true)) << name << ", result " << i;
  }
}

TEST(RoutinesKernel, factorizations_equal_eager) {
  Random random(3);
  for (const Shape& shape : {Shape{0, 0}, Shape{1, 1}, Shape{3, 5, 5}, Shape{2, 31, 31}}) {
    const Tensor x = random_tensor<double>(random, shape, tame_element<double>);
    for (const char* name : {"lu", "qr", "eigh", "svd", "determinant", "cofactor"})
      expect_equals_eager(name, {}, {x});
  }
}

}  // namespace
}  // namespace hom::testing
