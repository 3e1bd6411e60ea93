// signs.cc -- the rules of signs
#include "signs.h"

namespace extension {

using hom::categories::Operation;

std::string to_string(Sign sign) {
  std::string text;
  if (sign.contains(Sign::negative)) text += "−";
  if (sign.contains(Sign::zero)) text += text.empty() ? "0" : ", 0";
  if (sign.contains(Sign::positive)) text += text.empty() ? "+" : ", +";
  return "{" + text + "}";
}

Sign sign_of(const hom::Tensor& x) {
  Sign all;
  for (double element : x.to_vector()) {
    if (element < 0) all = all | Sign::negative;
    if (element == 0) all = all | Sign::zero;
    if (element > 0) all = all | Sign::positive;
  }
  return all;
}

namespace {

Sign negated(Sign x) {
  Sign all = x.contains(Sign::zero) ? Sign::zero : Sign{};
  if (x.contains(Sign::negative)) all = all | Sign::positive;
  if (x.contains(Sign::positive)) all = all | Sign::negative;
  return all;
}

/// The union over each sign of either operand.
template <class F>
Sign pairwise(Sign x, Sign y, F of) {
  Sign all;
  for (Sign a : {Sign::negative, Sign::zero, Sign::positive}) {
    for (Sign b : {Sign::negative, Sign::zero, Sign::positive}) {
      if (x.contains(a) && y.contains(b)) all = all | of(a, b);
    }
  }
  return all;
}

Sign sum(Sign x, Sign y) {
  return pairwise(x, y, [](Sign a, Sign b) {
    if (a == Sign::zero) return b;
    return b == Sign::zero || a == b ? a : Sign::any;
  });
}

/// Of numbers that are rounded: a product of small ones may be 0.
Sign times(Sign x, Sign y) {
  return pairwise(x, y, [](Sign a, Sign b) {
    if (a == Sign::zero || b == Sign::zero) return Sign::zero;
    return (a == b ? Sign::positive : Sign::negative) | Sign::zero;
  });
}

}  // namespace

std::map<std::string, Signs::Rule, std::less<>> Signs::standard() {
  using X = std::span<const Sign>;
  std::map<std::string, Rule, std::less<>> rules;
  rules["neg"] = [](const Operation&, X x) { return negated(x[0]); };
  rules["add"] = [](const Operation&, X x) { return sum(x[0], x[1]); };
  rules["sub"] = [](const Operation& step, X x) {
    return step.same_as[1] == 0 ? Sign::zero : sum(x[0], negated(x[1]));
  };
  rules["mul"] = rules["scale"] = [](const Operation& step, X x) {
    return step.same_as[1] == 0 ? Sign::zero | (x[0] == Sign::zero ? Sign{} : Sign::positive)
                                : times(x[0], x[1]);
  };
  rules["exp"] =
      rules["logistic"] = [](const Operation&, X) { return Sign::zero | Sign::positive; };
  rules["lt"] = rules["gt"] = [](const Operation&, X) { return Sign::zero | Sign::positive; };
  rules["select"] = [](const Operation&, X x) { return x[1] | x[2]; };
  for (const char* name : {"broadcast_in_dim", "reshape", "transpose", "slice"})
    rules[name] = [](const Operation&, X x) { return x[0]; };
  rules["reduce_sum"] = [](const Operation&, X x) { return sum(sum(x[0], x[0]), Sign::zero); };
  rules["constant"] = [](const Operation& step, X) { return sign_of(step({})[0]); };
  return rules;
}

std::string Signs::lacks(const hom::Primitive& primitive) const {
  if (primitive.name == "cond" || rules.contains(primitive.name)) return "";
  return "it has no rule for signs";
}

std::vector<Sign> Signs::primitive(const Operation& operation, std::span<const Sign> x) const {
  return {rules.find(operation.primitive->name)->second(operation, x)};
}

std::optional<bool> Signs::decide(Sign predicate) const {
  if (predicate == Sign::zero) return false;
  if (predicate == Sign::positive) return true;
  return std::nullopt;
}

}  // namespace extension
