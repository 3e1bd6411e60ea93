// signs.h -- a category of one's own by its algebra: which signs a tensor's elements may have
//
//     interpret(Signs{}, program(f, f64[{3}]), {Sign::positive})
//
// A value is a set of signs; an arrow takes sets of signs to sets of signs, so that the signs of f
// x are in F S for every x with signs in S. Elements that are NaN have no sign.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <hom/categories/interpret.h>

namespace extension {

/// A set of signs, by bits.
struct Sign {
  unsigned bits = 0;

  static const Sign negative, zero, positive, any;
  friend Sign operator|(Sign a, Sign b) { return {a.bits | b.bits}; }
  bool contains(Sign other) const { return (bits & other.bits) == other.bits; }
  friend bool operator==(Sign, Sign) = default;
};
inline constexpr Sign Sign::negative{1};
inline constexpr Sign Sign::zero{2};
inline constexpr Sign Sign::positive{4};
inline constexpr Sign Sign::any{7};
/// `{−, 0}`
std::string to_string(Sign sign);
/// The signs of the elements of a concrete tensor.
Sign sign_of(const hom::Tensor& x);

struct Signs {
  using Value = Sign;
  using Rule = std::function<Sign(const hom::categories::Operation&, std::span<const Sign>)>;

  /// What each primitive does; a value, to be extended.
  std::map<std::string, Rule, std::less<>> rules = standard();
  static std::map<std::string, Rule, std::less<>> standard();

  std::string name() const { return "signs"; }
  std::string lacks(const hom::Primitive& primitive) const;
  std::vector<Sign> primitive(const hom::categories::Operation& operation,
                              std::span<const Sign> x) const;
  /// For `cond`: the branch that a predicate chooses, if it is known, and what either may give.
  std::optional<bool> decide(Sign predicate) const;
  Sign merge(Sign a, Sign b) const { return a | b; }
};

}  // namespace extension
