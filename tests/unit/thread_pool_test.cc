// tests/unit/thread_pool_test.cc -- each chunk once, whatever happens around it
#include <hom/backends/cpu/thread_pool.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hom/backends/cpu/threads.h>
#include <hom/core/error.h>

namespace hom::cpu {
namespace {

class ThreadPool : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_threads(GetParam()); }
  void TearDown() override { set_threads(0); }
};

std::vector<int> counts(std::int64_t chunks) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(chunks));
  parallel_for(chunks, [&](std::int64_t i) { ++seen[static_cast<std::size_t>(i)]; });
  return {seen.begin(), seen.end()};
}

TEST_P(ThreadPool, every_chunk_runs_once) {
  for (const std::int64_t chunks : {0, 1, 2, 3, 7, 64, 1000})
    EXPECT_EQ(counts(chunks), std::vector<int>(static_cast<std::size_t>(chunks), 1)) << chunks;
}

TEST_P(ThreadPool, what_chunks_wrote_is_seen_by_the_caller) {
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> squares(8);
    parallel_for(8, [&](std::int64_t i) { squares[static_cast<std::size_t>(i)] = i * i + round; });
    for (std::int64_t i = 0; i < 8; ++i)
      ASSERT_EQ(squares[static_cast<std::size_t>(i)], i * i + round);
  }
}

TEST_P(ThreadPool, ranges_cover_the_extent_in_pieces) {
  std::vector<std::atomic<int>> seen(1001);
  std::atomic<int> pieces = 0;
  parallel_ranges(1001, 64, [&](std::int64_t low, std::int64_t high) {
    ++pieces;
    EXPECT_EQ(low % 64, 0);
    EXPECT_TRUE(high == low + 64 || high == 1001);
    for (std::int64_t i = low; i < high; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(pieces, 16);
  for (const std::atomic<int>& count : seen) EXPECT_EQ(count, 1);
}

TEST_P(ThreadPool, the_first_chunk_that_throws_reaches_the_caller) {
  for (int round = 0; round < 200; ++round) {
    try {
      parallel_for(100, [&](std::int64_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "3");
    }
  }
  EXPECT_EQ(counts(50), std::vector<int>(50, 1));
}

TEST_P(ThreadPool, a_chunk_runs_what_it_shares_itself) {
  std::atomic<int> inner = 0;
  EXPECT_FALSE(is_in_chunk());
  parallel_for(8, [&](std::int64_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(8, [&](std::int64_t) {
      ++inner;
      EXPECT_EQ(std::this_thread::get_id(), self);
    });
  });
  EXPECT_EQ(inner, 64);
  EXPECT_FALSE(is_in_chunk());
}

TEST_P(ThreadPool, several_callers_share_it) {
  std::vector<std::thread> callers;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  for (int c = 0; c < 6; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::int64_t> sum = 0;
        parallel_for(20, [&](std::int64_t i) {
          const int now = ++running;
          for (int before = most; now > before && !most.compare_exchange_weak(before, now);) {
          }
          sum += i;
          --running;
        });
        ASSERT_EQ(sum, 190);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_LE(most, std::max(6, GetParam())) << "callers, and workers where there is room";
}

TEST_P(ThreadPool, a_child_process_has_its_own) {
  EXPECT_EQ(counts(100), std::vector<int>(100, 1));
  const pid_t child = fork();
  if (child == 0) {
    const bool fine = counts(100) == std::vector<int>(100, 1);
    // With the ends of static objects, as in a program that returns from main.
    std::exit(fine ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(counts(100), std::vector<int>(100, 1));
}

INSTANTIATE_TEST_SUITE_P(threads, ThreadPool, ::testing::Values(1, 2, 3, 7));

TEST(Threads, there_are_none_before_they_are_needed) {
  // In a child, for other tests have started some.
  const pid_t child = fork();
  if (child == 0) {
    set_threads(4);
    bool fine = started_threads() == 0;
    counts(1);
    fine = fine && started_threads() == 0;
    counts(2);
    fine = fine && started_threads() == 1;
    counts(100);
    fine = fine && started_threads() == 3;
    std::_Exit(fine ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Threads, their_number_can_be_set_and_reset) {
  const int first = threads();
  EXPECT_GE(first, 1);
  set_threads(5);
  EXPECT_EQ(threads(), 5);
  set_threads(0);
  EXPECT_EQ(threads(), first);
}

TEST(Threads, a_number_below_none_is_an_error) {
  EXPECT_THROW(set_threads(-1), Error);
  EXPECT_THROW(set_threads(1025), Error);
}

TEST(Threads, the_environment_says_how_many) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("HOM_THREADS", "3", 1);
    set_threads(0);
    std::_Exit(threads() == 3 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace hom::cpu
