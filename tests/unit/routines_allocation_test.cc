// tests/unit/routines_allocation_test.cc -- repeated runs of routines ask nothing of the system
#include <cstdlib>
#include <thread>

#include "routines_support.h"

#include <hom/hom.h>

namespace {

thread_local std::int64_t allocations = 0;
thread_local std::int64_t allocated_bytes = 0;

void count(std::size_t bytes) {
  ++allocations;
  allocated_bytes += static_cast<std::int64_t>(bytes);
}

}  // namespace

// Eigen and libraries allocate by malloc, all else by operator new, which calls it.
#ifndef __SANITIZE_ADDRESS__
extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
  count(bytes);
  return __libc_malloc(bytes);
}
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count(bytes);
  return __libc_memalign(alignment, bytes);
}
extern "C" int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count(bytes);
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : 12;
}
#endif

namespace hom::testing {
namespace {

/// What the fourth run allocates.
std::pair<std::int64_t, std::int64_t> allocated(const Prepared& prepared) {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<std::byte*> results;
  for (const TensorType& type : prepared.types()) {
    memory.push_back(
        std::make_unique<Guarded>(type.size() * static_cast<std::int64_t>(type.dtype.size())));
    results.push_back(memory.back()->data());
  }
  Guarded scratch(prepared.routine().scratch_bytes());
  for (int i = 0; i < 3; ++i) prepared.run_into(results, scratch.data());
  allocations = allocated_bytes = 0;
  prepared.run_into(results, scratch.data());
  return {allocations, allocated_bytes};
}

TEST(RoutinesAllocation, the_counters_count) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer has its own malloc";
#endif
  allocations = 0;
  const auto* number = new std::int64_t{3};
  EXPECT_EQ(allocations, 1);
  delete number;
  allocations = 0;
  const Buffer buffer(1 << 20);
  EXPECT_EQ(allocations, 1);
}

TEST(RoutinesAllocation, contractions_allocate_nothing) {
  Random random(1);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (const Shape& extents : {Shape{3, 4, 5}, Shape{70, 80, 90}, Shape{300, 200, 260},
                                   Shape{1, 3000, 200}, Shape{500, 900, 1}, Shape{300, 1, 400}}) {
        for (int layout = 0; layout < 3; ++layout) {
          const Tensor a = random_tensor<T>(random, {extents[0], extents[1]}, tame_element<T>);
          const Tensor b = random_tensor<T>(random, {extents[1], extents[2]}, tame_element<T>);
          const Prepared prepared("dot_general",
                                  {{"lhs_contract", {Shape{1}}},
                                   {"rhs_contract", {Shape{0}}},
                                   {"lhs_batch", {Shape{}}},
                                   {"rhs_batch", {Shape{}}}},
                                  {a, b});
          EXPECT_EQ(allocated(prepared).first, 0)
              << prepared.routine().describe() << " " << to_string(a.type()) << " · "
              << to_string(b.type()) << ", strides " << to_string(a.array().strides) << " and "
              << to_string(b.array().strides);
        }
      }
    }
  });
}

TEST(RoutinesAllocation, convolutions_allocate_nothing) {
  Random random(2);
  for_each_dtype(numbers, [&]<class T>() {
    if constexpr (!std::same_as<T, bool>) {
      for (const std::int64_t groups : {1, 2, 6}) {
        const Attributes attributes{
            {"stride", {Shape{2, 1}}},       {"low", {Shape{1, 1}}},
            {"high", {Shape{1, 1}}},         {"lhs_dilation", {Shape{1, 2}}},
            {"rhs_dilation", {Shape{1, 1}}}, {"groups", {groups}}};
        const Tensor x = row_major(random_tensor<T>(random, {2, 30, 20, 6}, tame_element<T>));
        const Tensor kernel =
            row_major(random_tensor<T>(random, {3, 3, 6 / groups, 6}, tame_element<T>));
        const Prepared prepared("conv_general", attributes, {x, kernel});
        EXPECT_EQ(allocated(prepared).first, 0)
            << prepared.routine().describe() << " " << to_string(x.type()) << ", groups " << groups;
      }
    }
  });
}

TEST(RoutinesAllocation, kernels_reuse_the_memory_of_their_arrays) {
  const Tensor x = tensor(std::vector<double>(200 * 200, 1.0), Shape{200, 200}) + 500.0 * eye(200);
  // The result alone has 320 kB; what is left are small lists and the kernel's own vectors.
  EXPECT_LT(allocated(Prepared("cholesky", {}, {x})).second, 100'000);
}

TEST(BufferReuse, memory_is_taken_again_by_buffers_of_about_its_size) {
  std::thread([] {  // which has nothing left over
    const std::byte* first = nullptr;
    {
      const BufferReuse reuse;
      first = Buffer(100'000).data();
      EXPECT_EQ(Buffer(99'000).data(), first);
      EXPECT_EQ(Buffer(60'000).data(), first);
      EXPECT_NE(Buffer(40'000).data(), first);
      EXPECT_NE(Buffer(100'001).data(), first);
    }
    const Buffer outside(100'000);
    EXPECT_NE(outside.data(), first) << "it belongs to the next scope";
    const BufferReuse reuse;
    EXPECT_EQ(Buffer(100'000).data(), first);
  })
      .join();
}

TEST(BufferReuse, a_window_keeps_what_it_shows) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1000}}) {
    std::vector<std::byte> memory(bytes, std::byte{1}), other(bytes, std::byte{2});
    Buffer window(memory.data(), bytes);
    EXPECT_EQ(window.data(), memory.data());
    window.show(other.data());
    window.keep();
    std::fill(other.begin(), other.end(), std::byte{3});
    EXPECT_EQ(std::vector<std::byte>(window.data(), window.data() + bytes),
              std::vector<std::byte>(bytes, std::byte{2}));
  }
}

}  // namespace
}  // namespace hom::testing
