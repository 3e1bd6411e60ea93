// core/error.cc -- wording of failures
#include <hom/core/error.h>

#include <vector>

namespace hom {
namespace {

std::vector<std::string>& names() {
  thread_local std::vector<std::string> stack;
  return stack;
}

thread_local const Location* scoped_location = nullptr;

}  // namespace

Bug::Bug(const std::string& what)
    : std::logic_error("hom has a bug: " + what +
                       "\n  please report it, with the program that shows it") {}

void fail(const Complaint& complaint, const Location& at) {
  std::string text = complaint.what;
  const Location& place = LocationScope::current(at);
  // A tensor without a history carries no line.
  if (place.line() != 0) text += "\n  at " + to_string(place);
  if (!NameScope::current().empty())
    text += (place.line() != 0 ? ", in `" : "\n  in `") + NameScope::current() + "`";
  if (!complaint.hint.empty()) text += "\n  hint: " + complaint.hint;
  throw Error(text);
}

void ensure(bool ok, const char* promise) {
  if (!ok) [[unlikely]] {
    throw Bug(promise);
  }
}

NameScope::NameScope(std::string name) { names().push_back(std::move(name)); }
NameScope::~NameScope() { names().pop_back(); }

const std::string& NameScope::current() {
  static const std::string none;
  return names().empty() ? none : names().back();
}

LocationScope::LocationScope(const Location& at) : previous_(std::exchange(scoped_location, &at)) {}
LocationScope::~LocationScope() { scoped_location = previous_; }

const Location& LocationScope::current(const Location& otherwise) {
  return scoped_location ? *scoped_location : otherwise;
}

std::string to_string(const Location& at) {
  return std::string(at.file_name()) + ":" + std::to_string(at.line());
}

}  // namespace hom
