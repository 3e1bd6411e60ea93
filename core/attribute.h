// core/attribute.h -- the static parameters of a step: a closed set of kinds with one hash, one
// equality, one printer
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hom/core/dtype.h>

namespace hom {

class Program;
struct Attribute;

using ProgramPtr = std::shared_ptr<const Program>;
using AttributeList = std::vector<Attribute>;

/// A number (bool, signed, unsigned or double), string, dtype, list of integers, list of
/// attributes, or program.
struct Attribute {
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string, Dtype, Shape,
                             AttributeList, ProgramPtr>;
  Value value;

  /// Doubles compare by their bits, so that NaN equals itself and 0 differs from −0; programs by
  /// structure.
  friend bool operator==(const Attribute& a, const Attribute& b);
  std::size_t hash() const;
};

/// Named attributes of one step, in the order in which the primitive declares them.
class Attributes {
 public:
  using Entry = std::pair<std::string_view, Attribute>;

  Attributes() = default;
  /// Names must outlive every program that uses them: string literals, or names owned by a
  /// primitive.
  Attributes(std::initializer_list<Entry> entries) : entries_(entries) {}

  void set(std::string_view name, Attribute value);
  bool has(std::string_view name) const;
  /// Throw `Bug` where the attribute is absent or of another kind.
  const Attribute& get(std::string_view name) const;
  const Shape& shape(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  /// A number of operands or results: an integer that the typing rule found not negative.
  std::size_t count(std::string_view name) const { return static_cast<std::size_t>(integer(name)); }
  bool boolean(std::string_view name) const;
  Dtype dtype(std::string_view name) const;
  const std::string& string(std::string_view name) const;
  const ProgramPtr& program(std::string_view name) const;

  bool empty() const { return entries_.empty(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  friend bool operator==(const Attributes& a, const Attributes& b) {
    return a.entries_ == b.entries_;
  }
  std::size_t hash() const;

 private:
  std::vector<Entry> entries_;
};

/// A number attribute as an element of dtype `T`, converted as `convert` does.
template <Element T>
T number(const Attribute& attribute);

/// `0.1`, `[1, 2]`, `f32`, `"clip"`, `"forward"` for a program: its name. Doubles print so that
/// they read back exactly.
std::string to_string(const Attribute& attribute);
std::string to_string(double value);

std::size_t hash_combine(std::size_t seed, std::size_t value);

template <Element T>
T number(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> T {
        if constexpr (Arithmetic<std::decay_t<decltype(value)>>) {
          return convert_element<T>(value);
        } else {
          return T{};
        }
      },
      attribute.value);
}

}  // namespace hom
