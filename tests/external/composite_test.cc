// composite_test.cc -- a kernel for a composite is used, equals the decomposition, and can be taken
// out
#include "support.h"

#include <hom/backends/cpu/eager.h>

namespace extension {
namespace {

using namespace hom;

const Tensor x = tensor({{1.0, -2.0, 3.0}, {0.5, 0.0, -4.0}});

/// How often the kernel runs while f does.
template <class F>
int runs_in(const F& f) {
  const int before = rms_norm_kernel_runs();
  f();
  return rms_norm_kernel_runs() - before;
}

TEST(Composite, is_its_decomposition_without_a_kernel) {
  Tensor y;
  EXPECT_EQ(runs_in([&] { y = rms_norm(x); }), 0);
  EXPECT_LT(distance(mean(y * y, {-1}), ones_like(mean(y, {-1}))), 1e-5);
}

TEST(Composite, is_computed_by_its_kernel_where_an_executor_has_one) {
  const Tensor decomposed = rms_norm(x);
  KernelTable kernels = cpu_kernels();
  add_rms_norm(kernels);
  EagerExecutor executor(kernels);
  {
    const ExecutorScope scope(executor);
    Tensor y;
    EXPECT_EQ(runs_in([&] { y = rms_norm(x); }), 1);
    EXPECT_LT(distance(y, decomposed), 1e-14);
    EXPECT_EQ(runs_in([&] { y = rms_norm(x.astype(f32)); }), 1);
    EXPECT_LT(distance(y.astype(f64), decomposed), 1e-6);
    // In programs, and in programs inside them.
    const auto inner = [](Tensor t) { return rms_norm(t); };
    const auto f = [inner](Tensor t) { return cond(sum(t) < 0, inner, inner, t); };
    EXPECT_EQ(runs_in([&] { evaluate(program(f, f64[{2, 3}]), {x}); }), 1);
    // A dtype that the kernel does not know is left to the decomposition.
    EXPECT_EQ(runs_in([&] { y = rms_norm(x.astype(f16)); }), 0);
    EXPECT_EQ(y.dtype(), f16);
  }
  EXPECT_EQ(runs_in([] { rms_norm(x); }), 0);
}

TEST(Composite, leaves_the_default_table_as_it_was_after_a_reset) {
  const KernelTable before = cpu_kernels();
  add_rms_norm(cpu_kernels());
  EXPECT_EQ(runs_in([] { rms_norm(x); }), 1);
  EXPECT_NE(
      error_of([] { add_rms_norm(cpu_kernels()); }).find("`rms_norm` has a CPU kernel already"),
      std::string::npos);
  cpu_kernels() = before;
  EXPECT_EQ(runs_in([] { rms_norm(x); }), 0);
}

TEST(Composite, is_differentiated_and_batched_by_its_decomposition) {
  const auto f = [](Tensor t) { return rms_norm(t); };
  EXPECT_TRUE(check_derivatives(f, x).ok()) << check_derivatives(f, x);
  EXPECT_TRUE(array_equal(vmap(f)(x), f(x)));
  // Where it is linear it has a transpose.
  const auto total = composite("total", [](Tensor t) { return 3.0 * sum(t); });
  EXPECT_TRUE(array_equal(transpose(total, x)(1.0), 3.0 * ones_like(x)));
}

TEST(Composite, raises_where_a_kernel_gives_another_type) {
  KernelTable kernels = cpu_kernels();
  kernels.add_composite("rms_norm", [](const Invocation&, TensorList&) {
    return std::optional(TensorList{Tensor(1.0)});
  });
  EagerExecutor executor(kernels);
  const ExecutorScope scope(executor);
  const std::string message = error_of([] { rms_norm(x); });
  EXPECT_NE(message.find("composite `rms_norm`: its CPU kernel gives (f64[]), its decomposition "
                         "(f64[2, 3])"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace extension
