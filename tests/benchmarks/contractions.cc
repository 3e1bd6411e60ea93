// tests/benchmarks/contractions.cc -- matrix products of compiled programs, by each library that is
// installed, on one thread
//
// Prints GFLOP/s: the best of several rounds in which libraries alternate, each routine prepared
// once and called on memory that is there already. The last columns are what Hom takes by itself
// and its speed over that of the best other library. Batches are one routine for all of their
// matrices. libxsmm, of which Debian has archives only, is found as libxsmm.so.1:
//
//   gcc -shared -o libxsmm.so.1 -Wl,--whole-archive -lxsmm -lxsmmnoblas -Wl,--no-whole-archive -ldl
//
//   contractions [MOST_TERMS]     leaves out products of more than so many multiplications
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <hom/backends/cpu/routines/libraries.h>
#include <hom/backends/cpu/routines/routine.h>
#include <hom/backends/cpu/threads.h>
#include <hom/hom.h>

namespace {

using hom::Shape;
using hom::cpu::Library;

constexpr Library libraries[] = {Library::hom, Library::eigen, Library::openblas, Library::onednn,
                                 Library::libxsmm};

/// [batch, m, k]·[batch, k, n]; batch 1 has no axis of its own.
struct Extents {
  std::int64_t m, k, n, batch = 1;
  bool a_is_transposed = false, b_is_transposed = false;
};

hom::Tensor drawn(hom::Dtype dtype, const Shape& shape) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(hom::element_count(shape)));
  for (double& value : values) value = uniform(random);
  return copy(hom::tensor(values, shape).astype(dtype));
}

hom::Tensor matrices(hom::Dtype dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                     bool is_transposed) {
  Shape shape = is_transposed ? Shape{columns, rows} : Shape{rows, columns};
  if (batch > 1) shape.insert(shape.begin(), batch);
  const hom::Tensor x = drawn(dtype, shape);
  return is_transposed ? hom::swap_axes(x, -1, -2) : x;
}

std::shared_ptr<const hom::nest::Routine> prepared(const hom::Tensor& a, const hom::Tensor& b,
                                                   const char* choice) {
  choice ? setenv("HOM_LIBRARIES", choice, 1) : unsetenv("HOM_LIBRARIES");
  const bool is_batched = a.rank() == 3;
  const Shape batch = is_batched ? Shape{0} : Shape{};
  const hom::Attributes attributes{{"lhs_contract", {Shape{a.rank() - 1}}},
                                   {"rhs_contract", {Shape{b.rank() - 2}}},
                                   {"lhs_batch", {batch}},
                                   {"rhs_batch", {batch}}};
  const hom::Primitive& primitive = hom::standard_primitives().find("dot_general");
  const hom::TensorType type = matmul(a, b).type();
  const hom::nest::Layout layouts[] = {{a.type(), a.array().strides},
                                       {b.type(), b.array().strides}};
  const hom::Location at = hom::Location::current();
  return hom::cpu::routine_for({primitive, attributes, {&type, 1}, at}, layouts);
}

double seconds(const hom::nest::Routine& routine, std::span<const std::byte* const> operands,
               std::byte* result, std::byte* scratch, int repeats) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) routine.run(operands, {&result, 1}, scratch);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return elapsed.count() / repeats;
}

void row(hom::Dtype dtype, const Extents& e) {
  const hom::Tensor a = matrices(dtype, e.batch, e.m, e.k, e.a_is_transposed);
  const hom::Tensor b = matrices(dtype, e.batch, e.k, e.n, e.b_is_transposed);
  std::vector<std::shared_ptr<const hom::nest::Routine>> routines;
  std::int64_t scratch_bytes = 0;
  const auto add = [&](const char* choice, const std::string& name) {
    auto routine = prepared(a, b, choice);
    if (!name.empty() && !routine->describe().ends_with("by " + name)) routine = nullptr;
    if (routine) scratch_bytes = std::max(scratch_bytes, routine->scratch_bytes());
    routines.push_back(std::move(routine));
  };
  for (const Library library : libraries)
    add(std::string(key_of(library)).c_str(), std::string(name_of(library)));
  add("none", "");
  add(nullptr, "");
  const std::byte* operands[] = {reinterpret_cast<const std::byte*>(a.array().buffer->data()),
                                 reinterpret_cast<const std::byte*>(b.array().buffer->data())};
  hom::Buffer result(static_cast<std::size_t>(e.batch * e.m * e.n) * dtype.size());
  hom::Buffer scratch(static_cast<std::size_t>(scratch_bytes));
  const double flops = 2.0 * static_cast<double>(e.batch * e.m * e.k * e.n);
  // Short, so that some rounds pass without another process in between; many where they are short.
  const int repeats = static_cast<int>(std::clamp(1e7 / flops, 1.0, 1e4));
  const int rounds = static_cast<int>(std::clamp(2e9 / (flops * repeats), 9.0, 200.0));
  std::vector<double> best(routines.size(), 1e30);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < routines.size(); ++i) {
      if (!routines[i]) continue;
      best[i] = std::min(best[i],
                         seconds(*routines[i], operands, result.data(), scratch.data(), repeats));
    }
  }
  std::printf("%-4s %5d %5d%c %5d%c %5d", std::string(dtype.name()).c_str(), static_cast<int>(e.m),
              static_cast<int>(e.k), e.a_is_transposed ? '\'' : ' ', static_cast<int>(e.n),
              e.b_is_transposed ? '\'' : ' ', static_cast<int>(e.batch));
  for (std::size_t i = 0; i < routines.size(); ++i) {
    if (routines[i]) {
      std::printf(" %8.1f", flops / best[i] * 1e-9);
    } else {
      std::printf("        –");
    }
  }
  // Hom's own products were measured twice where that is what it takes.
  const bool is_own = routines.front() && libraries[0] == Library::hom &&
                      routines.front()->describe() == routines.back()->describe();
  const double taken = is_own ? std::min(best.front(), best.back()) : best.back();
  const double other = *std::min_element(best.begin() + 1, best.begin() + std::size(libraries));
  if (other < 1e30) {
    std::printf("   %4.2f", other / taken);
  } else {
    std::printf("      –");
  }
  std::printf("  %s\n", routines.back()->describe().substr(15).c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  hom::set_threads(1);
  const double most = count > 1 ? std::atof(arguments[1]) : 1e12;
  std::vector<Extents> table;
  for (const std::int64_t n : {8, 16, 32, 64, 128, 256, 512, 1024, 2048})
    table.push_back({n, n, n});
  for (const Extents& e : {Extents{64, 784, 128},
                           {256, 512, 512},
                           {32, 128, 10},
                           {1000, 784, 10},
                           {10, 1000, 10},
                           {1000, 10, 1000},
                           {4096, 64, 64},
                           {16, 1024, 1024},
                           {2, 512, 512},
                           {128, 784, 128, 1, true, false},
                           {256, 256, 256, 1, false, true},
                           {256, 256, 256, 1, true, true},
                           {100, 100, 100},
                           {33, 65, 129},
                           {1, 1024, 1024},
                           {1, 1024, 1024, 1, false, true},
                           {1024, 1024, 1},
                           {1024, 1024, 1, 1, true, false},
                           {1000, 1, 1000},
                           {1, 100000, 1},
                           {4, 4, 4, 1000},
                           {8, 8, 8, 1000},
                           {16, 16, 16, 1000},
                           {32, 32, 32, 100},
                           {64, 64, 64, 32},
                           {64, 32, 64, 32, false, true},
                           {3, 3, 1, 10000}})
    table.push_back(e);
  std::printf("           m     k      n  batch");
  for (const Library library : libraries)
    std::printf(" %8s", std::string(name_of(library)).c_str());
  std::printf(" in order   choice  ÷ others\n");
  for (const hom::Dtype dtype : {hom::f32, hom::f64}) {
    for (const Extents& e : table) {
      if (static_cast<double>(e.m * e.k * e.n) <= most) row(dtype, e);
    }
  }
}
