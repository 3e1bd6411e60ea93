// tests/unit/update_in_place_test.cc -- what n updates of n elements allocate
#include <cstdlib>
#include <new>

#include "update_support.h"

namespace {
std::int64_t bytes_allocated = 0;
}  // namespace

// Buffers of tensors come from here (core/tensor.cc), but for the smallest.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  bytes_allocated += static_cast<std::int64_t>(bytes);
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }

namespace hom::testing {
namespace {

template <class F>
std::int64_t bytes_of(F&& f) {
  const std::int64_t before = bytes_allocated;
  f();
  return bytes_allocated - before;
}

constexpr std::int64_t n = 512;
// One copy of the n elements is 8 n bytes; n copies would be 8 n².
constexpr std::int64_t few_copies = 16 * 8 * n;

TEST(InPlace, n_updates_of_a_variable_copy_nothing) {
  Tensor x = zeros({n}) + 0.0;
  const std::byte* const memory = x.array().buffer->data();
  const std::int64_t bytes = bytes_of([&] {
    for (std::int64_t i = 0; i < n; ++i) {
      x.at(i) = 3.0;
      x.at(i) += x((i + 1) % n) + 1.0;
      x.at(i) = x(i);
      x.at(i) *= 2.0;
      x.at(Range{i, i + 1}) -= 0.5;
      x.at(Tensor(i)) += 1.0;
      x.at(ints({i, i})) += tensor({1.0, 1.0});
      x = std::move(x).at(i).max(1.0);
      x = std::move(x).at(Tensor(i)).min(9.0, Bounds::check);
    }
  });
  EXPECT_EQ(x.array().buffer->data(), memory);
  EXPECT_LE(bytes, few_copies);
  EXPECT_EQ(values(x), Values(n, 9));
}

TEST(InPlace, a_copy_of_a_variable_costs_one_copy_of_its_elements) {
  Tensor x = zeros({n}) + 0.0;
  const Tensor before = x;
  const std::int64_t bytes = bytes_of([&] {
    for (std::int64_t i = 0; i < n; ++i) x.at(i) = 3.0;
  });
  EXPECT_GE(bytes, 8 * n);
  EXPECT_LE(bytes, 2 * 8 * n);
  EXPECT_EQ(values(before), Values(n, 0));
}

template <class F>
void expect_linear(const char* what, const F& f) {
  const Tensor x = arange(n).astype(f64);
  const Program p = program(f, x);
  const std::int64_t bytes = bytes_of([&] { apply(p, std::vector{x}, Location::current()); });
  EXPECT_LE(bytes, few_copies) << what;
}

TEST(InPlace, n_updates_in_a_program_copy_once) {
  expect_linear("set", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x.at(i) = 3.0;
    return x;
  });
  expect_linear("add", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x = x.at(i).add(x((i + 1) % n));
    return x;
  });
  expect_linear("mul", [](Tensor x) {
    for (std::int64_t i = 1; i < n; ++i) x.at(i) *= x(i - 1);
    return x;
  });
  expect_linear("computed", [](Tensor x) {
    for (std::int64_t i = 0; i < n; ++i) x = x.at(Tensor(i)).max(1.0).at(ints({i, i})).add(2.0);
    return x;
  });
}

template <class Body>
auto loop(const Body& body) {
  return [body](Tensor x) { return fori_loop(0, n, body, x); };
}

TEST(InPlace, a_loop_of_n_updates_copies_once) {
  expect_linear("set", loop([](Tensor i, Tensor x) { return x.at(i).set(1.0); }));
  expect_linear("add", loop([](Tensor i, Tensor x) { return x.at(i).add(x((i + 1) % n)); }));
  expect_linear("mul", loop([](Tensor i, Tensor x) { return x.at(i).mul(2.0); }));
  expect_linear("list", loop([](Tensor i, Tensor x) {
                  return x.at(stack({i, n - 1 - i})).add(tensor({1.0, 2.0}));
                }));
  expect_linear("static", loop([](Tensor i, Tensor x) { return x.at(0).set(i.astype(f64)); }));
  expect_linear("while", [](Tensor x) {
    return fori_loop(Tensor(0), Tensor(n), [](Tensor i, Tensor y) { return y.at(i).set(1.0); }, x);
  });
}

TEST(InPlace, the_gradient_of_n_updates_copies_a_few_times) {
  const auto of = [](auto f) { return grad([f](Tensor x) { return sum(sin(f(x))); }); };
  expect_linear("set", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x.at(i) = x((i + 1) % n) * 3.0;
                  return x;
                }));
  expect_linear("add", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x.at(i) += x((i + 1) % n) * 3.0;
                  return x;
                }));
  expect_linear("mul", of([](Tensor x) {
                  for (std::int64_t i = 1; i < n; ++i) x.at(i) *= x(i - 1);
                  return x;
                }));
  expect_linear("computed", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x = x.at(Tensor(i)).set(x(0) + 1.0);
                  return x;
                }));
  expect_linear("computed add", of([](Tensor x) {
                  for (std::int64_t i = 0; i < n; ++i) x = x.at(ints({i, i})).add(x(0));
                  return x;
                }));
}

TEST(InPlace, the_gradient_of_a_loop_of_n_updates_copies_a_few_times) {
  const auto of = [](auto body) {
    return grad([body](Tensor x) { return sum(sin(loop(body)(x))); });
  };
  expect_linear("set", of([](Tensor i, Tensor x) { return x.at(i).set(2.0 * x(i)); }));
  expect_linear("add", of([](Tensor i, Tensor x) { return x.at(i).add(x((i + 1) % n)); }));
  expect_linear("mul", of([](Tensor i, Tensor x) { return x.at(i).mul(2.0); }));
}

}  // namespace
}  // namespace hom::testing
