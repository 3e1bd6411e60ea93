// tests/unit/code_cache_test.cc -- cached code is found again, and never trusted blindly
#include <hom/backends/cpu/jit/code_cache.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "environment_support.h"
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/native_code.h>
#include <hom/backends/cpu/jit/system_compiler.h>

namespace hom::cpu {
namespace {

namespace fs = std::filesystem;
using hom::testing::EnvironmentScope;

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void overwrite(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<fs::path> files(const std::string& directory) {
  std::vector<fs::path> list;
  if (!fs::exists(directory)) return list;
  for (const auto& entry : fs::directory_iterator(directory)) list.push_back(entry.path());
  return list;
}

struct code_cache : ::testing::Test {
  TemporaryDirectory directory;
  std::string path = directory.path() + "/deep/cache";
  CodeCache cache{path, 1 << 20};
};

TEST_F(code_cache, finds_what_it_keeps) {
  EXPECT_FALSE(cache.find("key"));
  const auto kept = cache.keep("key", "object");
  ASSERT_TRUE(kept);
  EXPECT_EQ(cache.find("key"), kept);
  EXPECT_EQ(contents(*kept).substr(0, 6), "object");
  EXPECT_FALSE(cache.find("key "));
  EXPECT_FALSE(cache.find(""));
  // A new object takes the place of the old one.
  ASSERT_TRUE(cache.keep("key", "another object"));
  EXPECT_EQ(contents(*cache.find("key")).substr(0, 7), "another");
  EXPECT_EQ(files(path).size(), 1u);
  cache.remove("key");
  EXPECT_FALSE(cache.find("key"));
}

TEST_F(code_cache, takes_no_byte_more_or_less_or_changed) {
  const std::string key = "the key";
  const std::string good = contents(*cache.keep(key, "the object"));
  const std::string file = *cache.find(key);
  const auto is_refused = [&](const std::string& bytes) {
    overwrite(file, bytes);
    const bool refused = !cache.find(key) && !fs::exists(file);
    return refused;
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    EXPECT_TRUE(is_refused(bad)) << "byte " << i;
    EXPECT_TRUE(is_refused(good.substr(0, i))) << "cut to " << i;
  }
  EXPECT_TRUE(is_refused(good + "x"));
  EXPECT_TRUE(is_refused(good + good));
  EXPECT_TRUE(is_refused(std::string(1000, '\0')));
  overwrite(file, good);
  EXPECT_TRUE(cache.find(key));
}

TEST_F(code_cache, tells_entries_of_one_name_apart_by_their_keys) {
  const std::string file = *cache.keep("key", "object");
  const std::string other = *cache.keep("other key", "other object");
  // As if both keys had one hash: the entry is sound, but not the one that is asked for.
  fs::rename(other, file);
  EXPECT_FALSE(cache.find("key"));
  EXPECT_TRUE(fs::exists(file));
}

TEST_F(code_cache, loads_nothing_that_others_can_write_to) {
  const std::string file = *cache.keep("key", "object");
  chmod(file.c_str(), 0666);
  EXPECT_FALSE(cache.find("key"));
  chmod(file.c_str(), 0600);
  EXPECT_TRUE(cache.find("key"));
  fs::rename(file, path + "/elsewhere");
  fs::create_symlink(path + "/elsewhere", file);
  EXPECT_FALSE(cache.find("key"));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache.find("key"));
  EXPECT_FALSE(cache.keep("key", "object"));
}

TEST_F(code_cache, leaves_foreign_files_alone) {
  fs::create_directories(path);
  const std::vector<std::string> names{"notes.txt", "hom-.so", "hom-1234.so", "libother.so"};
  for (const std::string& name : names) overwrite(path + "/" + name, std::string(1 << 20, 'x'));
  for (int i = 0; i < 30; ++i) cache.keep("key " + std::to_string(i), std::string(100000, 'o'));
  for (const std::string& name : names) EXPECT_EQ(fs::file_size(path + "/" + name), 1u << 20);
}

TEST_F(code_cache, removes_what_was_not_used_for_longest) {
  const std::string object(300000, 'o');
  const auto later = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_TRUE(cache.keep(key, object));
    later();
  }
  EXPECT_TRUE(cache.find("a"));
  later();
  ASSERT_TRUE(cache.keep("d", object));
  EXPECT_TRUE(cache.find("a"));
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.find("c"));
  EXPECT_TRUE(cache.find("d"));
  std::uintmax_t total = 0;
  for (const fs::path& file : files(path)) total += fs::file_size(file);
  EXPECT_LE(total, 1u << 20);
  // What fits nowhere is not kept at all.
  EXPECT_FALSE(cache.keep("e", std::string(2 << 20, 'o')));
  EXPECT_TRUE(cache.find("d"));
}

TEST_F(code_cache, removes_temporary_files_of_processes_that_are_gone) {
  ASSERT_TRUE(cache.keep("key", "object"));
  const std::string entry = *cache.find("key");
  overwrite(entry + ".tmp-1-0", "left");
  overwrite(entry + ".tmp-2-0", "being written");
  fs::last_write_time(entry + ".tmp-1-0", fs::file_time_type::clock::now() - std::chrono::hours(3));
  ASSERT_TRUE(cache.keep("other", "object"));
  EXPECT_FALSE(fs::exists(entry + ".tmp-1-0"));
  EXPECT_TRUE(fs::exists(entry + ".tmp-2-0"));
}

TEST_F(code_cache, does_without_a_directory_that_cannot_be_written) {
  EXPECT_FALSE(CodeCache("", 1 << 20).keep("key", "object"));
  EXPECT_FALSE(CodeCache("", 1 << 20).find("key"));
  overwrite(directory.path() + "/file", "");
  const CodeCache below_a_file(directory.path() + "/file/cache", 1 << 20);
  EXPECT_FALSE(below_a_file.keep("key", "object"));
  EXPECT_FALSE(below_a_file.find("key"));
  // Not even root can write here.
  const CodeCache read_only("/proc/cache", 1 << 20);
  EXPECT_FALSE(read_only.keep("key", "object"));
  EXPECT_FALSE(read_only.find("key"));
}

TEST_F(code_cache, is_shared_by_processes_that_write_break_and_read) {
  const auto object_of = [](int key) {
    return std::string(20000 + key, static_cast<char>('a' + key));
  };
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    const pid_t id = fork();
    if (id == 0) {
      // A child ends without running anything of its parent's; its status is the verdict.
      int wrong = 0;
      for (int round = 0; round < 60; ++round) {
        const int k = (round + child) % 5;
        const std::string key = "key " + std::to_string(k);
        if (const auto file = cache.find(key)) {
          const std::string object = object_of(k);
          const std::string bytes = contents(*file);
          // The file may have gone or been cut since, by child 0, but is never a mixture.
          if (child != 0 && bytes.size() > object.size() &&
              bytes.compare(0, object.size(), object) != 0)
            ++wrong;
          if (child == 0) cache.remove(key);
        } else {
          cache.keep(key, object_of(k));
        }
      }
      _exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(id);
  }
  for (const pid_t id : children) {
    int status = 0;
    ASSERT_EQ(waitpid(id, &status, 0), id);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (int k = 0; k < 5; ++k) {
    const std::string key = "key " + std::to_string(k);
    ASSERT_TRUE(cache.keep(key, object_of(k)));
    EXPECT_TRUE(cache.find(key));
  }
  EXPECT_EQ(files(path).size(), 5u);
}

TEST(code_cache_of_environment, has_its_directory_from_the_first_variable_that_is_set) {
  const EnvironmentScope own("HOM_CACHE_DIR", "/one");
  const EnvironmentScope caches("XDG_CACHE_HOME", "/two");
  const EnvironmentScope home("HOME", "/three");
  EXPECT_EQ(CodeCache::of_environment().directory(), "/one");
  const EnvironmentScope no_own("HOM_CACHE_DIR", "");
  EXPECT_EQ(CodeCache::of_environment().directory(), "/two/hom");
  const EnvironmentScope no_caches("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(CodeCache::of_environment().directory(), "/three/.cache/hom");
  const EnvironmentScope no_home("HOME", "");
  EXPECT_EQ(CodeCache::of_environment().directory(), "");
}

// ---- native code through the cache ----

/// A plan that stores `number`.
nest::Plan plan_of(std::int64_t number) {
  nest::Kernel kernel;
  kernel.buffers = {{.dtype = i64, .elements = 1, .is_written = true}};
  nest::Node place{nest::Node::Kind::constant, nest::Function::neg, i64};
  nest::Node value = place;
  value.number = number;
  kernel.nodes = {place, value};
  kernel.body.push_back({nest::Store{0, 0, 1}});
  nest::Plan plan;
  plan.kernels.push_back(kernel);
  return plan;
}

std::int64_t result_of(const NativeCode& native) {
  std::int64_t result = 0;
  std::byte* arguments[] = {reinterpret_cast<std::byte*>(&result)};
  FailureRecord record;
  native.code->launch(0, arguments, 0, 0, record);
  return result;
}

/// Also without a cache on disk at all.
void expect_code(std::int64_t number, NativeCode::Source source) {
  const NativeCode native = native_code(plan_of(number));
  ASSERT_NE(native.code, nullptr) << native.why_not;
  EXPECT_EQ(native.source, source);
  EXPECT_EQ(result_of(native), number);
}

TEST(native_code, is_compiled_once_then_found_in_memory_and_on_disk) {
  const TemporaryDirectory directory;
  const EnvironmentScope where("HOM_CACHE_DIR", directory.path() + "/cache");
  forget_native_code();
  expect_code(1, NativeCode::Source::compiler);
  expect_code(1, NativeCode::Source::memory);
  forget_native_code();
  expect_code(1, NativeCode::Source::disk);
  expect_code(2, NativeCode::Source::compiler);
}

TEST(native_code, is_compiled_again_where_its_file_is_broken) {
  const TemporaryDirectory directory;
  const std::string cache = directory.path() + "/cache";
  const EnvironmentScope where("HOM_CACHE_DIR", cache);
  forget_native_code();
  expect_code(3, NativeCode::Source::compiler);
  ASSERT_EQ(files(cache).size(), 1u);
  const std::string file = files(cache)[0];
  const std::string good = contents(file);
  for (const std::string& bad :
       {good.substr(0, good.size() / 2), std::string("nonsense"), good + good}) {
    forget_native_code();
    overwrite(file, bad);
    expect_code(3, NativeCode::Source::compiler);
    EXPECT_EQ(contents(file), good);
  }
}

TEST(native_code, needs_no_cache) {
  for (const char* directory : {"", "/proc/cache"}) {
    const EnvironmentScope where("HOM_CACHE_DIR", directory);
    const EnvironmentScope caches("XDG_CACHE_HOME", "");
    const EnvironmentScope home("HOME", "");
    forget_native_code();
    expect_code(4, NativeCode::Source::compiler);
    expect_code(4, NativeCode::Source::memory);
  }
}

TEST(native_code, is_made_by_many_processes_and_threads_at_once) {
  const TemporaryDirectory directory;
  const EnvironmentScope where("HOM_CACHE_DIR", directory.path() + "/cache");
  forget_native_code();
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    const pid_t id = fork();
    if (id == 0) {
      const NativeCode native = native_code(plan_of(5));
      _exit(native.code != nullptr && result_of(native) == 5 ? 0 : 1);
    }
    children.push_back(id);
  }
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const NativeCode native = native_code(plan_of(5));
      if (native.code != nullptr && result_of(native) == 5) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4);
  for (const pid_t id : children) {
    int status = 0;
    ASSERT_EQ(waitpid(id, &status, 0), id);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

}  // namespace
}  // namespace hom::cpu
