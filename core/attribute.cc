// core/attribute.cc -- hash, equality and printer of attributes
#include <hom/core/attribute.h>

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include <hom/core/error.h>
#include <hom/core/object.h>
#include <hom/core/program.h>

namespace hom {

std::size_t hash_combine(std::size_t seed, std::size_t value) {
  // The finaliser of MurmurHash3 over a running product (A. Appleby, public domain).
  std::uint64_t mixed = seed * 0x9e3779b97f4a7c15u + value;
  mixed ^= mixed >> 33;
  mixed *= 0xff51afd7ed558ccdu;
  mixed ^= mixed >> 33;
  return mixed;
}

bool operator==(const Attribute& a, const Attribute& b) {
  if (a.value.index() != b.value.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using Kind = std::decay_t<decltype(left)>;
        const Kind& right = std::get<Kind>(b.value);
        if constexpr (std::same_as<Kind, double>) {
          return std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right);
        } else if constexpr (std::same_as<Kind, ProgramPtr>) {
          return left == right || *left == *right;
        } else {
          return left == right;
        }
      },
      a.value);
}

std::size_t Attribute::hash() const {
  return hash_combine(value.index(), std::visit(
                                         [](const auto& held) -> std::size_t {
                                           using Kind = std::decay_t<decltype(held)>;
                                           if constexpr (std::same_as<Kind, double>) {
                                             return std::bit_cast<std::uint64_t>(held);
                                           } else if constexpr (std::same_as<Kind, std::string>) {
                                             return std::hash<std::string>()(held);
                                           } else if constexpr (std::same_as<Kind, Dtype>) {
                                             return static_cast<std::size_t>(held.id);
                                           } else if constexpr (std::same_as<Kind, Shape>) {
                                             std::size_t hash = held.size();
                                             for (std::int64_t extent : held)
                                               hash = hash_combine(
                                                   hash, static_cast<std::size_t>(extent));
                                             return hash;
                                           } else if constexpr (std::same_as<Kind, AttributeList>) {
                                             std::size_t hash = held.size();
                                             for (const Attribute& entry : held)
                                               hash = hash_combine(hash, entry.hash());
                                             return hash;
                                           } else if constexpr (std::same_as<Kind, ProgramPtr>) {
                                             return held->hash();
                                           } else {
                                             return static_cast<std::size_t>(held);
                                           }
                                         },
                                         value));
}

void Attributes::set(std::string_view name, Attribute value) {
  for (Entry& entry : entries_) {
    if (entry.first == name) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(name, std::move(value));
}

bool Attributes::has(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return true;
  }
  return false;
}

const Attribute& Attributes::get(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.first == name) return entry.second;
  }
  throw Bug("a step lacks its attribute `" + std::string(name) + "`");
}

namespace {
template <class Kind>
const Kind& held(const Attributes& attributes, std::string_view name) {
  const Kind* value = std::get_if<Kind>(&attributes.get(name).value);
  if (!value) throw Bug("attribute `" + std::string(name) + "` is of another kind");
  return *value;
}
}  // namespace

const Shape& Attributes::shape(std::string_view name) const { return held<Shape>(*this, name); }
std::int64_t Attributes::integer(std::string_view name) const {
  return held<std::int64_t>(*this, name);
}
bool Attributes::boolean(std::string_view name) const { return held<bool>(*this, name); }
Dtype Attributes::dtype(std::string_view name) const { return held<Dtype>(*this, name); }
const std::string& Attributes::string(std::string_view name) const {
  return held<std::string>(*this, name);
}
const ProgramPtr& Attributes::program(std::string_view name) const {
  return held<ProgramPtr>(*this, name);
}

std::size_t Attributes::hash() const {
  std::size_t hash = entries_.size();
  for (const auto& [name, value] : entries_) hash = hash_combine(hash, value.hash());
  return hash;
}

std::string to_string(double value) {
  if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  // A mark of being a float, so that the text reads back as one.
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string to_string(const Attribute& attribute) {
  return std::visit(
      [](const auto& held) -> std::string {
        using Kind = std::decay_t<decltype(held)>;
        if constexpr (std::same_as<Kind, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::same_as<Kind, std::uint64_t>) {
          return std::to_string(held) + "u";
        } else if constexpr (std::same_as<Kind, std::int64_t>) {
          return std::to_string(held);
        } else if constexpr (std::same_as<Kind, std::string>) {
          return "\"" + held + "\"";
        } else if constexpr (std::same_as<Kind, AttributeList>) {
          std::string text = "{";
          for (const Attribute& entry : held)
            text += (text.size() > 1 ? ", " : "") + to_string(entry);
          return text + "}";
        } else if constexpr (std::same_as<Kind, ProgramPtr>) {
          return held->name().empty() ? "program" : held->name();
        } else {
          return to_string(held);
        }
      },
      attribute.value);
}

}  // namespace hom
