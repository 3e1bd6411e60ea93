// tests/unit/loop_memory_test.cc -- what loops keep for their derivatives, and allocate when they
// run
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <new>

#include "transformation_support.h"
#include <malloc.h>

#include <hom/categories/linearize.h>

namespace {
std::int64_t bytes_allocated = 0;
std::int64_t bytes_held = 0;
std::int64_t most_bytes_held = 0;
}  // namespace

// Buffers of tensors come from here (core/tensor.cc), but for the smallest.
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  const auto unit = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  bytes_allocated += static_cast<std::int64_t>(bytes);
  bytes_held += static_cast<std::int64_t>(malloc_usable_size(memory));
  most_bytes_held = std::max(most_bytes_held, bytes_held);
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  bytes_held -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

namespace hom::testing {
namespace {

/// Bytes of buffers that f allocates, and the most that it holds at once.
struct Allocated {
  std::int64_t all;
  std::int64_t at_once;
};
template <class F>
Allocated allocated_by(const F& f) {
  const std::int64_t all = bytes_allocated;
  const std::int64_t held = most_bytes_held = bytes_held;
  f();
  return {bytes_allocated - all, most_bytes_held - held};
}

/// Whether the slot is an input, or a view of one, or known without any.
bool is_there_already(const Program& p, Slot slot) {
  for (;;) {
    if (p.definition(slot) == Program::is_none) return true;
    const Step step = p.step(p.definition(slot));
    if (step.operands.empty()) return true;
    if (step.primitive.name != "reshape" && step.primitive.name != "slice") return false;
    slot = step.operands[0];
  }
}

/// Bytes of the residuals that a linearised program hands to its linear part, for each type; those
/// that take no memory of their own are left out.
std::map<std::string, std::int64_t> residuals_of(const Program& p) {
  const Linearization lin = linearize(p, std::vector<bool>(p.inputs().size(), true));
  std::map<std::string, std::int64_t> bytes;
  for (std::size_t r = p.outputs().size(); r < lin.primal.outputs().size(); ++r) {
    const Slot slot = lin.primal.outputs()[r];
    if (is_there_already(lin.primal, slot)) continue;
    const TensorType& type = lin.primal.type(slot);
    bytes[to_string(type)] += type.size() * static_cast<std::int64_t>(type.dtype.size());
  }
  return bytes;
}
std::int64_t total(const std::map<std::string, std::int64_t>& bytes) {
  std::int64_t sum = 0;
  for (const auto& [type, size] : bytes) sum += size;
  return sum;
}

TEST(Memory, loop_invariants_are_not_stacked) {
  constexpr std::int64_t n = 10;
  constexpr std::int64_t d = 32;
  const auto rnn = [](Tensor w, Tensor u, Tensor b, Tensor h, Tensor xs) {
    return scan(
               [&](Tensor state, Tensor x) {
                 const Tensor next = tanh(matmul(w, state) + matmul(u, x) + exp(b));
                 return std::pair{next, next};
               },
               h, xs)
        .second;
  };
  const auto kept =
      residuals_of(program(rnn, f64[{d, d}], f64[{d, d}], f64[{d}], f64[{d}], f64[{n, d}]));
  // The states and the slopes of tanh, a few numbers for each; W, U, exp(b) and x once or not at
  // all.
  EXPECT_LE(total(kept), 3 * 8 * n * d + 8 * d);
  for (const auto& [type, bytes] : kept) EXPECT_NE(type, "f64[10, 32, 32]");
}

const auto wave = [](const ScanOptions& options) {
  return [options](Tensor c, Tensor xs) {
    return scan(
               [](Tensor h, Tensor x) {
                 const Tensor next = sin(h * x) + cos(h) * tanh(x);
                 return std::pair{next, std::tuple<>()};
               },
               c, xs, options)
        .first;
  };
};

TEST(Memory, checkpoint_keeps_the_carries_of_root_n_iterations) {
  constexpr std::int64_t d = 8;
  constexpr std::int64_t carry = 8 * d;
  const auto kept_by = [](std::int64_t n, const ScanOptions& options) {
    return total(residuals_of(program(wave(options), f64[{d}], f64[{n, d}])));
  };
  for (std::int64_t n : {100, 400, 1600, 101, 1000, 2, 3, 5}) {
    SCOPED_TRACE(n);
    EXPECT_GE(kept_by(n, {}), n * carry);
    const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(n))));
    for (bool reverse : {false, true}) {
      // One for each stretch, and that in which what is left over starts.
      EXPECT_LE(kept_by(n, {.reverse = reverse, .checkpoint = true}), (root + 1) * carry);
    }
  }
  EXPECT_EQ(kept_by(1600, {.checkpoint = true}), 40 * carry);
}

TEST(Memory, a_gradient_with_checkpoint_holds_root_n_carries_when_it_runs) {
  constexpr std::int64_t d = 512;
  constexpr std::int64_t n = 400;
  const auto held_by = [](const ScanOptions& options) {
    const auto f = [&](Tensor c) {
      return sum(fori_loop(0, n, [](Tensor, Tensor h) { return sin(h) * cos(h); }, c, options));
    };
    const Program p = program(grad(f), f64[{d}]);
    const std::vector<Tensor> x{ones({d}) + 0.0};
    return allocated_by([&] { evaluate(p, x); }).at_once;
  };
  constexpr std::int64_t carry = 8 * d;
  EXPECT_GE(held_by({}), n * carry);
  // Two or three residuals for each iteration of a stretch, and the carry of each stretch.
  EXPECT_LE(held_by({.checkpoint = true}), 6 * 20 * carry);
}

TEST(Memory, checkpointed_gradients_are_the_same_bit_for_bit) {
  const Tensor c = numbers({4});
  const Tensor xs = numbers({23, 4});
  for (bool reverse : {false, true}) {
    const auto f = [&](bool checkpoint) {
      return [=](Tensor a, Tensor b) {
        return sum(wave({.reverse = reverse, .checkpoint = checkpoint})(a, b));
      };
    };
    const auto plain = value_and_grad(f(false), wrt<0, 1>)(c, xs);
    const auto again = value_and_grad(f(true), wrt<0, 1>)(c, xs);
    expect_equal(again.first, plain.first);
    expect_equal(std::get<0>(again.second), std::get<0>(plain.second));
    expect_equal(std::get<1>(again.second), std::get<1>(plain.second));
  }
}

TEST(Memory, cond_keeps_the_residuals_of_the_branch_taken) {
  constexpr std::int64_t d = 4096;
  const auto f = [](Tensor flag, Tensor x) {
    return cond(
        flag, [](Tensor t) { return sum(sin(exp(t)) * tanh(t) * sin(t)); },
        [](Tensor t) { return sum(t); }, x);
  };
  const Program p = program(f, bool_[{}], f64[{d}]);
  const Linearization lin = linearize(p, {false, true});
  const auto bytes_of_residuals = [&](bool flag) {
    const std::vector<Tensor> all = evaluate(lin.primal, {Tensor(flag), ones({d}) + 0.0});
    std::int64_t bytes = 0;
    for (std::size_t r = 1; r < all.size(); ++r)
      bytes += static_cast<std::int64_t>(all[r].array().buffer->bytes());
    return bytes;
  };
  EXPECT_GE(bytes_of_residuals(true), 8 * d);
  // The places of the other branch hold zeros, each a view of one number.
  EXPECT_LE(bytes_of_residuals(false), 8 * 16);
}

TEST(Memory, reads_of_single_elements_in_a_scan_cost_their_number_in_reverse_mode) {
  const auto bytes = [](std::int64_t n) {
    const auto f = [n](Tensor x) {
      return fori_loop(
          0, n, [&](Tensor i, Tensor s) { return s + x(i) * x((i + 1) % n); }, Tensor(0.0));
    };
    const Program p = program(grad(f), f64[{n}]);
    const Tensor x = numbers({n});
    const Tensor got = evaluate(p, {x})[0];
    expect_near(got, roll(x, 1, 0) + roll(x, -1, 0));
    return allocated_by([&] { evaluate(p, {x}); }).all;
  };
  // n copies of the gradient would be 8 n² bytes: 32 MiB.
  EXPECT_LE(bytes(2048), 40 * 8 * 2048);
  EXPECT_LE(bytes(2048), 5 * bytes(512));
}

TEST(Memory, a_hundred_thousand_iterations_run_in_constant_memory) {
  constexpr std::int64_t n = 100'000;
  const auto body = [](Tensor, Tensor x) { return x * 0.9999 + 1e-4; };
  Tensor last;
  const Tensor start = zeros({64}) + 0.0;
  const auto by_while = [&](Tensor x) { return fori_loop(Tensor(0L), Tensor(n), body, x); };
  const Allocated held = allocated_by([&] { last = by_while(start); });
  EXPECT_LE(held.at_once, 64 * 1024);
  EXPECT_NEAR(last(0).item(), 1 - std::pow(0.9999, n), 1e-9);
  // A count that is known lists its positions.
  const Allocated counted = allocated_by([&] { last = fori_loop(0, n, body, start); });
  EXPECT_LE(counted.at_once, 8 * n + 64 * 1024);
  // Reverse mode keeps what it needs; here that is nothing, or √n carries.
  const auto f = [&](Tensor x) {
    return sum(fori_loop(0, n, [](Tensor, Tensor y) { return y + 1e-5 * sin(y); }, x,
                         {.checkpoint = true}));
  };
  Tensor gradient;
  const Allocated reverse = allocated_by([&] { gradient = grad(f)(ones({16})); });
  EXPECT_LE(reverse.at_once, 32 * 8 * n);
  const double end =
      fori_loop(0, n, [](Tensor, Tensor y) { return y + 1e-5 * sin(y); }, 1.0).item();
  EXPECT_NEAR(gradient(3).item(), std::sin(end) / std::sin(1.0), 1e-4);
}

}  // namespace
}  // namespace hom::testing
