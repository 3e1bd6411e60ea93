// tests/unit/optimise_support.h -- programs before and after a pass, written in few words
//
//     expect_rule("arithmetic", "f32[4]", "x, y", "m = neg(y); add(x, m)", "sub(x, y)");
//
// Statements are those of the text form (core/text.h) with less around them: the type given stands
// for all types that are not written, `c = 2.0` is a literal, and the last statement is what is
// returned, unless that says `return a, b`.
#pragma once

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/backends/optimise/optimise.h>
#include <hom/core/executor.h>
#include <hom/core/text.h>

namespace hom {

namespace optimise_support {

inline std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \n") - begin + 1);
}

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(trimmed(part));
  return parts;
}

/// Inputs are separated by commas, which types may hold too: those in brackets do not count.
inline std::vector<std::string> split_inputs(const std::string& text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  for (char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (trimmed(text).empty()) parts.clear();
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

/// `f32[2, 3]` as attributes of a literal.
inline std::string dtype_and_shape(const std::string& type) {
  const auto bracket = type.find('[');
  return "dtype = " + type.substr(0, bracket) + ", shape = " + type.substr(bracket);
}

}  // namespace optimise_support

/// The program of statements; `programs` are definitions in the text form that come before it.
inline Program program_of(const std::string& type, const std::string& inputs,
                          const std::string& statements, const std::string& programs = "") {
  using namespace optimise_support;
  std::string header;
  std::vector<std::pair<std::string, std::string>> types;
  for (const std::string& input : split_inputs(inputs)) {
    const auto colon = input.find(':');
    const std::string name = trimmed(input.substr(0, colon));
    const std::string own = colon == std::string::npos ? type : trimmed(input.substr(colon + 1));
    header += (header.empty() ? "" : ", ") + name + ": " + own;
    types.emplace_back(name, own);
  }
  std::string body;
  std::vector<std::string> results;
  const std::vector<std::string> lines = split(statements, ';');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("return ")) {
      results = split(line.substr(7), ',');
      break;
    }
    if (line.find_first_of("(=") == std::string::npos) {
      results = {line};  // an input
      break;
    }
    const auto equals = line.find(" = ");
    const auto paren = line.find('(');
    const bool is_named =
        equals != std::string::npos && (paren == std::string::npos || equals < paren);
    std::string names = is_named ? line.substr(0, equals) : "last";
    std::string value = is_named ? trimmed(line.substr(equals + 3)) : line;
    std::string typed;
    std::string first_type;
    for (const std::string& part : split_inputs(names)) {
      const auto colon = part.find(':');
      const std::string name = trimmed(part.substr(0, colon));
      const std::string own = colon == std::string::npos ? type : trimmed(part.substr(colon + 1));
      typed += (typed.empty() ? "" : ", ") + name + ": " + own;
      types.emplace_back(name, own);
      if (first_type.empty()) first_type = own;
      results = {name};
    }
    if (paren == std::string::npos && value.find('{') == std::string::npos)
      value = "constant {value = " + value + ", " + dtype_and_shape(first_type) + "}";
    body += "  " + typed + " = " + value + "\n";
  }
  std::string returned;
  std::string codomain;
  for (const std::string& result : results) {
    returned += (returned.empty() ? "" : ", ") + result;
    for (const auto& [name, own] : types) {
      if (name == result) {
        codomain += (codomain.empty() ? "" : ", ") + own;
        break;
      }
    }
  }
  if (results.size() != 1) codomain = "(" + codomain + ")";
  return parse_program("hom 1\n" + programs + "f(" + header + ") -> " + codomain + " {\n" + body +
                       "  return " + returned + "\n}\n");
}

/// A tensor of random elements: `wild` ones include NaN, infinities, zeros of both signs and the
/// ends of the integers, the others are between ½ and 2.
inline Tensor random_elements(const TensorType& type, bool wild, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  const auto array = Array::allocate(type);
  visit(type.dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < type.size(); ++i) {
      T& element = array->data<T>()[i];
      if constexpr (std::same_as<T, bool>) {
        element = below(2) == 1;
      } else if constexpr (dtype_of<T>().is_float()) {
        constexpr double special[] = {0.0,    -0.0, 1,        -1,        0.5, 2,
                                      1e-310, 3e38, INFINITY, -INFINITY, NAN};
        const double real = std::uniform_real_distribution<double>(0.5, 2)(random);
        element = convert_element<T>(!wild           ? real
                                     : below(3) == 0 ? special[below(std::size(special))]
                                                     : 3 * real - 4);
      } else {
        constexpr T special[] = {T{0}, T{1}, static_cast<T>(-1), std::numeric_limits<T>::min(),
                                 std::numeric_limits<T>::max()};
        // Small ones, so that they are positions too.
        element = below(3) == 0 && wild ? special[below(std::size(special))]
                                        : static_cast<T>(below(wild ? 9 : 3));
      }
    }
  });
  return Tensor(std::shared_ptr<const Array>(array));
}

/// Both give the same bits, whatever the inputs are, wherever `before` does not raise; or, where
/// roundings may differ, nearly the same for tame inputs.
inline void expect_same_results(const Program& before, const Program& after, bool exact) {
  // A loop may count as far as an input says.
  bool wild = exact;
  for (std::size_t i = 0; i < before.step_count(); ++i)
    wild = wild && before.step(i).primitive.name != "while";
  std::mt19937 random(1);
  for (int n = 0; n < 60; ++n) {
    std::vector<Tensor> inputs;
    for (const TensorType& type : before.input_types())
      inputs.push_back(random_elements(type, wild, random));
    std::vector<Tensor> want;
    try {
      want = evaluate(before, inputs);
    } catch (const Error&) {
      continue;
    }
    const std::vector<Tensor> got = evaluate(after, inputs);
    for (std::size_t k = 0; k < want.size(); ++k) {
      if (!exact && want[k].dtype().is_float()) {
        const std::vector<double> x = got[k].to_vector();
        const std::vector<double> y = want[k].to_vector();
        for (std::size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(x[i], y[i], 2e-5 * std::max(1.0, std::abs(y[i]))) << to_text(after);
        continue;
      }
      ASSERT_TRUE(array_equal(got[k], want[k], /*nan_equal=*/true))
          << got[k] << " is not " << want[k];
      if (!want[k].dtype().is_float()) continue;
      // Zeros are equal; their signs are not.
      const std::vector<double> x = got[k].to_vector();
      const std::vector<double> y = want[k].to_vector();
      for (std::size_t i = 0; i < y.size(); ++i) {
        const bool same_sign = std::signbit(x[i]) == std::signbit(y[i]);
        ASSERT_TRUE(y[i] != 0 || same_sign) << got[k] << " is not " << want[k];
      }
    }
  }
}

/// The pass makes the one of the other, and both compute the same.
inline void expect_pass(const std::string& pass, const Program& before, const Program& after,
                        const OptimiseOptions& options = {}) {
  const Program got = pass_named(pass).run(before, options);
  EXPECT_TRUE(got == after) << pass << " makes\n"
                            << to_text(before) << "to\n"
                            << to_text(got) << "and not\n"
                            << to_text(after);
  expect_same_results(before, after, !options.reassociate);
}

inline void expect_rule(const std::string& pass, const std::string& type, const std::string& inputs,
                        const std::string& before, const std::string& after,
                        const OptimiseOptions& options = {}) {
  SCOPED_TRACE(before);
  expect_pass(pass, program_of(type, inputs, before), program_of(type, inputs, after), options);
}

/// The pass leaves it as it is.
inline void expect_stays(const std::string& pass, const std::string& type,
                         const std::string& inputs, const std::string& statements,
                         const OptimiseOptions& options = {}) {
  expect_rule(pass, type, inputs, statements, statements, options);
}

/// The rule holds with `reassociate`, and without it nothing changes.
inline void expect_reassociated(const std::string& pass, const std::string& type,
                                const std::string& inputs, const std::string& before,
                                const std::string& after) {
  expect_stays(pass, type, inputs, before);
  expect_rule(pass, type, inputs, before, after, {.reassociate = true});
}

}  // namespace hom
