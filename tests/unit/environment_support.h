// tests/unit/environment_support.h -- variables of the environment for the length of a test
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace hom::testing {

/// Sets a variable, and restores it.
class EnvironmentScope {
 public:
  EnvironmentScope(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~EnvironmentScope() {
    if (before_) {
      setenv(name_.c_str(), before_->c_str(), 1);
    } else {
      unsetenv(name_.c_str());
    }
  }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace hom::testing
