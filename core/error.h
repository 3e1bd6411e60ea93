// core/error.h -- the two kinds of failure: the user's mistake and our bug, and the one place that
// words them
#pragma once

#include <concepts>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace hom {

/// A place in the user's source. Every operation records the line that called it.
using Location = std::source_location;

/// The user's mistake: says what, where, why and what to do. `what()` is the whole message.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Our mistake: a broken promise inside Hom. Please report it.
class Bug : public std::logic_error {
 public:
  explicit Bug(const std::string& what);
};

/// What is wrong and the way out; either part of it becomes a line of the message.
struct Complaint {
  std::string what;
  std::string hint = {};
};

/// Throws `Error` with the lines `what`, `at file:line, in `scope``, `hint: …`. Inside a
/// `LocationScope` that place is named instead of `at`, for a step that is replayed on behalf of
/// the user's line.
[[noreturn]] void fail(const Complaint& complaint, const Location& at);

/// Throws unless `ok`. The complaint is a function, so that its text costs nothing where all is
/// well.
template <std::invocable Text>
void require(bool ok, const Location& at, Text&& complaint) {
  if (!ok) [[unlikely]] {
    fail(std::forward<Text>(complaint)(), at);
  }
}

/// Throws `Bug` unless `ok`.
void ensure(bool ok, const char* promise);

/// While it lives, errors and recorded steps of this thread carry `name`, as in `named("forward",
/// f)`.
class NameScope {
 public:
  explicit NameScope(std::string name);
  ~NameScope();
  NameScope(const NameScope&) = delete;
  NameScope& operator=(const NameScope&) = delete;

  /// The innermost name on this thread, or the empty string.
  static const std::string& current();
};

/// While it lives, steps recorded and errors raised on this thread belong to the line `at`:
/// derivative steps keep the line of the step that they differentiate.
class LocationScope {
 public:
  explicit LocationScope(const Location& at);
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

  /// The line of the innermost scope, or `otherwise` outside every scope.
  static const Location& current(const Location& otherwise);

 private:
  const Location* previous_;
};

/// `file:line` as the compiler spells the file.
std::string to_string(const Location& at);

}  // namespace hom
