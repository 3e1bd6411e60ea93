// tests/oracles/oracle_test.cc -- values and gradients of every primitive and composition against
// those of JAX and NumPy (oracle.py, values.npz)
//
// The table names each function as the oracle does. A test fails where the oracle has a function
// that is not in the table, or the table one that the oracle has not tried, and where a primitive
// of Hom has no entry.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include <hom/core/npz.h>
#include <hom/core/parameters.h>
#include <hom/hom.h>
#include <hom/tests/oracles/functions.h>

namespace hom {
namespace {

using Tensors = std::vector<Tensor>;

/// The arrays of one case of one function.
struct Case {
  Tensors x, y, c, d;
};
/// By function, then by dtype and number.
using Cases = std::map<std::string, std::map<std::string, Case>>;

/// The next `count` elements of a file's flat array of a dtype, as a tensor.
class Elements {
 public:
  explicit Elements(const NumpyArray& flat, Dtype dtype)
      : flat_(tensor_from_bytes(flat.data.data(), dtype[{flat.shape[0]}])) {}
  Tensor next(const Shape& shape) {
    const std::int64_t count = element_count(shape);
    const Tensor part = slice(flat_, {at_}, {count}, {1});
    at_ += count;
    return reshape(part, shape);
  }

 private:
  Tensor flat_;
  std::int64_t at_ = 0;
};

Cases read_cases() {
  const std::map<std::string, Dtype> dtypes{{"float32", f32}, {"float64", f64}, {"int8", i8},
                                            {"int32", i32},   {"int64", i64},   {"uint8", u8},
                                            {"uint32", u32},  {"uint64", u64}};
  std::string index;
  std::map<std::string, Elements> elements;
  for (const auto& [name, array] : read_npz("tests/oracles/values.npz")) {
    const char* bytes = reinterpret_cast<const char*>(array.data.data());
    if (name == "index") {
      index.assign(bytes, array.data.size());
    } else {
      elements.emplace(name, Elements(array, name == "bool" ? u8 : dtypes.at(name)));
    }
  }
  Cases cases;
  std::istringstream lines(index);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words;
    std::istringstream fields(line);
    for (std::string word; std::getline(fields, word, '\t');) words.push_back(word);
    const std::string& key = words[0];
    if (key == "versions") continue;
    Shape shape;
    for (std::size_t i = 2; i < words.size(); ++i) shape.push_back(std::stoll(words[i]));
    const auto last = key.rfind('/');
    const auto number = key.rfind('/', last - 1);
    const auto name_end = key.rfind('/', number - 1);
    Case& one = cases[key.substr(0, name_end)][key.substr(name_end + 1, last - name_end - 1)];
    const char role = key[last + 1];
    Tensors& list = role == 'x' ? one.x : role == 'y' ? one.y : role == 'c' ? one.c : one.d;
    const std::size_t i = std::stoul(key.substr(last + 2));
    if (list.size() <= i) list.resize(i + 1);
    list[i] = elements.at(words[1]).next(shape);
    if (words[1] == "bool") list[i] = list[i] != 0;
  }
  return cases;
}

/// How far `got` is from `want` in units of the dtype's precision, as the function says.
double error_in_epsilons(const Tensor& got, const Tensor& want, const OracleFunction& function) {
  const double epsilon = want.dtype() == f32 ? 0x1p-23 : 0x1p-52;
  const std::vector<double> a = got.to_vector();
  const std::vector<double> b = want.to_vector();
  const double smallest = std::max(function.least, want.dtype() == f32 ? 0x1p-126 : 0x1p-1022);
  double largest = smallest;
  for (double v : b) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double unit = epsilon * (function.whole ? largest : std::max(std::abs(b[i]), smallest));
    const double error = std::abs(a[i] - b[i]) / unit;
    worst = std::isnan(error) ? HUGE_VAL : std::max(worst, error);
  }
  return worst;
}

/// Where the tensors differ, or empty.
std::string difference(const char* role, const Tensors& got, const Tensors& want,
                       const OracleFunction& function) {
  if (got.size() != want.size()) return std::string(role) + ": another number of them";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::string name = role + std::to_string(i);
    if (want[i].is_empty() != got[i].is_empty()) return name + " is missing";
    if (want[i].is_empty()) continue;
    if (got[i].type() != want[i].type())
      return name + " is " + to_string(got[i].type()) + " instead of " + to_string(want[i].type());
    if (!want[i].dtype().is_float()) {
      if (!array_equal(got[i], want[i]))
        return name + " is " + to_string(got[i]) + " instead of " + to_string(want[i]);
      continue;
    }
    const double error = error_in_epsilons(got[i], want[i], function);
    if (error > function.epsilons)
      return name + " is off by " + std::to_string(error) + " epsilons (allowed " +
             std::to_string(function.epsilons) + "): " + to_string(got[i]) + " instead of " +
             to_string(want[i]);
  }
  return "";
}

/// The pullback of c at x: one tensor for each input, empty where it is no float.
Tensors pulled_back(const OracleFunction& function, const Tensors& x, const Tensors& c) {
  // As a function of the vector of float inputs, whose others are held.
  std::vector<std::size_t> vary;
  std::vector<Tensor> at;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!x[i].dtype().is_float()) continue;
    vary.push_back(i);
    at.push_back(x[i]);
  }
  const auto f = [&](const std::vector<Tensor>& floats) {
    Tensors all = x;
    for (std::size_t k = 0; k < vary.size(); ++k) all[vary[k]] = floats[k];
    std::vector<Tensor> results;
    for (const Tensor& y : function.f(all)) {
      if (y.dtype().is_float()) results.push_back(y);
    }
    return results;
  };
  const auto [y, pullback] = vjp(f)(at);
  const std::vector<Tensor> gradients = pullback(c);
  Tensors d(x.size());
  for (std::size_t k = 0; k < vary.size(); ++k) d[vary[k]] = gradients[k];
  // As the oracle's list ends with the last one that varies.
  d.resize(vary.empty() ? 0 : vary.back() + 1);
  return d;
}

const Cases& cases() {
  static const Cases all = read_cases();
  return all;
}

TEST(Oracle, every_function_of_the_oracle_is_in_the_table_and_the_other_way_round) {
  std::set<std::string> names;
  for (const OracleFunction& function : oracle_functions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name << " is in the table twice";
    EXPECT_TRUE(cases().contains(function.name)) << "oracle.py does not try " << function.name;
  }
  for (const auto& [name, list] : cases())
    EXPECT_TRUE(names.contains(name)) << name << " is not in functions.h";
}

TEST(Oracle, every_primitive_is_tried) {
  const std::map<std::string, std::string> exempt = primitives_without_oracle();
  for (const Primitive* primitive : standard_primitives().all()) {
    const bool is_tried = std::any_of(cases().begin(), cases().end(), [&](const auto& entry) {
      const std::string& name = entry.first;
      return name == primitive->name || name.starts_with(primitive->name + " ");
    });
    EXPECT_NE(is_tried, exempt.contains(primitive->name)) << primitive->name;
  }
}

class OracleTest : public testing::TestWithParam<const OracleFunction*> {};

TEST_P(OracleTest, value_and_gradient_are_those_of_the_oracle) {
  const OracleFunction& function = *GetParam();
  const auto found = cases().find(function.name);
  ASSERT_NE(found, cases().end());
  for (const auto& [key, one] : found->second) {
    SCOPED_TRACE(function.name + std::string(" ") + key);
    const Tensors y = function.f(one.x);
    EXPECT_EQ(difference("y", y, one.y, function), "");
    if (one.c.empty()) continue;
    EXPECT_EQ(difference("d", pulled_back(function, one.x, one.c), one.d, function), "");
  }
}

std::string test_name(const testing::TestParamInfo<const OracleFunction*>& info) {
  std::string name = info.param->name;
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

std::vector<const OracleFunction*> all_functions() {
  std::vector<const OracleFunction*> list;
  for (const OracleFunction& function : oracle_functions()) list.push_back(&function);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Oracle, OracleTest, testing::ValuesIn(all_functions()), test_name);

}  // namespace
}  // namespace hom
