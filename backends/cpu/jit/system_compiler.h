// backends/cpu/jit/system_compiler.h -- C++ text to a shared object, by the compiler of the system
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hom::cpu {

/// A C++ compiler that takes the options of g++.
struct SystemCompiler {
  /// The executable.
  std::string path;
  /// The first line of what it says of itself, with the path: part of the key of cached code.
  std::string identity;
  /// `g++ 12.2.0`
  std::string name;
};

/// $HOM_CXX, a path or a name, if set; else the first of g++, clang++, c++ on the PATH. Nothing
/// where it is none that runs; `why_not` says so in one line.
std::optional<SystemCompiler> find_system_compiler(std::string* why_not = nullptr);

/// A private directory that is removed with what is in it.
class TemporaryDirectory {
 public:
  /// In $TMPDIR, or /tmp. Throws `Error` where none can be made.
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The flags that emitted C++ is compiled with, those of the target (target.h) apart.
const std::vector<std::string>& emission_flags();

/// Compiles the units, several at once up to the number of cores, and links them to
/// `directory`/object.so, whose path is the result. Throws `Error` with what the compiler said.
std::string compile_shared_object(const SystemCompiler& compiler,
                                  const std::vector<std::string>& units,
                                  const std::vector<std::string>& flags,
                                  const TemporaryDirectory& directory);

}  // namespace hom::cpu
