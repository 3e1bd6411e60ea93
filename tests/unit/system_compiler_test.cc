// tests/unit/system_compiler_test.cc -- finding and running the system's compiler
#include <hom/backends/cpu/jit/system_compiler.h>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "environment_support.h"
#include <gtest/gtest.h>

#include <hom/backends/cpu/jit/native_code.h>
#include <hom/core/error.h>

namespace hom::cpu {
namespace {

using hom::testing::EnvironmentScope;

TEST(system_compiler, is_found_on_the_path_or_named) {
  const auto compiler = find_system_compiler();
  ASSERT_TRUE(compiler);
  const EnvironmentScope named("HOM_CXX", compiler->path);
  const auto again = find_system_compiler();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->identity, compiler->identity);
  EXPECT_FALSE(again->name.empty());
}

TEST(system_compiler, is_not_replaced_where_the_named_one_does_not_run) {
  for (const char* name : {"/nonexistent/g++", "no-such-compiler", "/tmp"}) {
    const EnvironmentScope named("HOM_CXX", name);
    std::string why_not;
    EXPECT_FALSE(find_system_compiler(&why_not));
    EXPECT_NE(why_not.find(name), std::string::npos) << why_not;
    EXPECT_EQ(why_not.find('\n'), std::string::npos);
  }
  const EnvironmentScope path("PATH", "/nonexistent");
  std::string why_not;
  EXPECT_FALSE(find_system_compiler(&why_not));
  const NativeCode native = native_code(nest::Plan());
  EXPECT_EQ(native.code, nullptr);
  EXPECT_EQ(native.why_not, why_not);
}

TEST(system_compiler, compiles_units_apart_and_links_them) {
  const auto compiler = find_system_compiler();
  ASSERT_TRUE(compiler);
  const TemporaryDirectory directory;
  const std::string object = compile_shared_object(
      *compiler,
      {"int one() { return 1; }", "int one(); int two() { return 2 * one(); }", "", "",
       "int two(); extern \"C\" int four() { return 2 * two(); }"},
      {}, directory);
  EXPECT_TRUE(std::filesystem::exists(object));
}

TEST(system_compiler, says_what_the_compiler_said) {
  const auto compiler = find_system_compiler();
  ASSERT_TRUE(compiler);
  for (const std::vector<std::string>& units :
       {std::vector<std::string>{"int f() { return surprise; }"},
        std::vector<std::string>{"int f();", "int f() { return surprise; }"}}) {
    const TemporaryDirectory directory;
    try {
      compile_shared_object(*compiler, units, {}, directory);
      FAIL() << "compiled";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("surprise"), std::string::npos) << error.what();
    }
  }
}

/// A script in place of the compiler.
std::string script(const TemporaryDirectory& directory, const std::string& text) {
  std::string path = directory.path() + "/a compiler; with $pecial characters";
  std::ofstream(path) << "#!/bin/sh\n" << text;
  chmod(path.c_str(), 0700);
  return path;
}

TEST(system_compiler, that_fails_is_a_reason_not_an_exception) {
  const TemporaryDirectory directory;
  const EnvironmentScope cache("HOM_CACHE_DIR", directory.path() + "/cache");
  const EnvironmentScope named(
      "HOM_CXX", script(directory, "[ $1 = --version ] && exit 0\necho out of memory >&2\nexit 1"));
  const NativeCode native = native_code(nest::Plan());
  EXPECT_EQ(native.code, nullptr);
  EXPECT_NE(native.why_not.find("out of memory"), std::string::npos) << native.why_not;
}

TEST(system_compiler, that_writes_nothing_or_nonsense_is_a_reason) {
  for (const char* text : {"exit 0",
                           "[ $1 = --version ] && exit 0\n"
                           "while [ \"$1\" != -o ]; do shift; done\necho nonsense > \"$2\""}) {
    const TemporaryDirectory directory;
    const EnvironmentScope cache("HOM_CACHE_DIR", directory.path() + "/cache");
    const EnvironmentScope named("HOM_CXX", script(directory, text));
    const NativeCode native = native_code(nest::Plan());
    EXPECT_EQ(native.code, nullptr);
    EXPECT_FALSE(native.why_not.empty());
  }
}

TEST(temporary_directory, is_private_and_goes_with_its_files) {
  std::string path;
  {
    const TemporaryDirectory directory;
    path = directory.path();
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700);
    std::ofstream(path + "/file") << "text";
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  const EnvironmentScope elsewhere("TMPDIR", "/nonexistent");
  EXPECT_THROW(TemporaryDirectory(), Error);
  EXPECT_NE(native_code(nest::Plan()).why_not.find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace hom::cpu
