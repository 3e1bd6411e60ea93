// tests/unit/error_test.cc -- every operation says what is wrong, on the user's line, eager or
// captured
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace {

using namespace hom;

const double infinity = std::numeric_limits<double>::infinity();

/// What `f` complains about; a message without failure is itself a failure of the test.
std::string complaint(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  } catch (const Bug& bug) {
    return std::string("a bug, not an error: ") + bug.what();
  }
  return "(no error)";
}

/// `f`, written on the line of this call, must throw an error that names that line and says
/// `parts`.
void expect_error(const std::function<void()>& f, std::initializer_list<const char*> parts,
                  const Location& at = Location::current()) {
  const std::string got = complaint(f);
  const std::string line = "error_test.cc:" + std::to_string(at.line());
  EXPECT_NE(got.find("\n  at "), std::string::npos) << at.line() << ": no place in:\n" << got;
  EXPECT_NE(got.find(line), std::string::npos) << "expected " << line << " in:\n" << got;
  for (const char* part : parts) {
    EXPECT_NE(got.find(part), std::string::npos) << at.line() << ": no `" << part << "` in:\n"
                                                 << got;
  }
  // Nothing of Hom's own code stands in a message for users.
  for (const char* own : {"core/", "categories/", "backends/"}) {
    EXPECT_EQ(got.find(own), std::string::npos) << at.line() << ": names Hom's code:\n" << got;
  }
}

/// The same line must be named where the operands are symbols: `f` takes them as arguments.
template <class... Examples>
void expect_error_of(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                     const std::vector<Tensor>& operands, std::initializer_list<const char*> parts,
                     const Location& at = Location::current()) {
  expect_error([&] { f(operands); }, parts, at);
  expect_error([&] { program([&](const std::vector<Tensor>& x) { return f(x); }, operands); },
               parts, at);
}

const Tensor none;
const Tensor matrix = zeros({2, 3});
const Tensor vec3 = zeros({3});
const Tensor vec4 = zeros({4});
const Tensor whole = arange(3);
const Tensor truth = vec3 == 0;
const Tensor hollow = zeros({0, 3});
const std::vector<Tensor> three{vec3, vec4, whole};

using List = const std::vector<Tensor>&;
const char* const empty_text = "an empty tensor is used";

TEST(Errors, queries_of_an_empty_tensor_name_the_line) {
  expect_error([&] { none.type(); }, {empty_text});
  expect_error([&] { none.dtype(); }, {empty_text});
  expect_error([&] { none.shape(); }, {empty_text});
  expect_error([&] { none.rank(); }, {empty_text});
  expect_error([&] { none.size(); }, {empty_text});
  expect_error([&] { none.extent(0); }, {empty_text});
  expect_error([&] { none.item(); }, {empty_text});
  expect_error([&] { none.to_vector(); }, {empty_text});
  expect_error([&] { none.array(); }, {empty_text});
  expect_error([&] { none.astype(f32); }, {empty_text});
  expect_error([&] { none.T(); }, {empty_text});
  expect_error([&] { none[0]; }, {empty_text});
  expect_error([&] { none(0); }, {empty_text});
  expect_error([&] { none(0, all); }, {empty_text});
  expect_error([&] { array_equal(none, vec3); }, {empty_text});
  expect_error([&] { array_equal(vec3, none); }, {empty_text});
}

TEST(Errors, operators_on_an_empty_tensor_name_the_line) {
  const auto both = [](const std::function<void(Tensor)>& f,
                       const Location& at = Location::current()) {
    expect_error([&] { f(none); }, {empty_text}, at);
    expect_error([&] { program([&](Tensor x) { return f(none), x; }, f64[{}]); }, {empty_text}, at);
  };
  both([](Tensor x) { -x; });
  both([](Tensor x) { ~x; });
  both([](Tensor x) { x + 1; });
  both([](Tensor x) { 1 + x; });
  both([](Tensor x) { x - vec3; });
  both([](Tensor x) { vec3 - x; });
  both([](Tensor x) { x* x; });
  both([](Tensor x) { x / 2.0; });
  both([](Tensor x) { x % 2; });
  both([](Tensor x) { static_cast<void>(x == vec3); });
  both([](Tensor x) { static_cast<void>(x != 1); });
  both([](Tensor x) { static_cast<void>(x < 1); });
  both([](Tensor x) { static_cast<void>(x <= vec3); });
  both([](Tensor x) { static_cast<void>(1 > x); });
  both([](Tensor x) { static_cast<void>(vec3 >= x); });
  both([](Tensor x) { x & truth; });
  both([](Tensor x) { truth | x; });
  both([](Tensor x) { x ^ 1; });
  both([](Tensor x) { x&& truth; });
  both([](Tensor x) { truth || x; });
  both([](Tensor x) { x << 1; });
  both([](Tensor x) { x >> 1; });
  both([](Tensor x) { x += 1; });
  both([](Tensor x) { x -= vec3; });
  both([](Tensor x) { x *= x; });
  both([](Tensor x) { x /= 2; });
}

TEST(Errors, negation_names_the_line_of_its_operand_or_none) {
  // C++ gives `!` no way to know its own line.
  const std::string got = complaint([] { static_cast<void>(!none); });
  EXPECT_NE(got.find(empty_text), std::string::npos) << got;
  EXPECT_EQ(got.find(" :0"), std::string::npos) << got;
  EXPECT_EQ(complaint([] { static_cast<void>(!vec3); }).find(" :0"), std::string::npos);
  expect_error([&] { program([](Tensor x) { return !(x + 1); }, f64[{}]); }, {"not: takes"});
}

TEST(Errors, functions_of_an_empty_tensor_name_the_line) {
  const auto both = [](Tensor (*f)(Tensor), const Location& at = Location::current()) {
    expect_error([&] { f(none); }, {empty_text}, at);
    expect_error([&] { program([&](Tensor) { return f(none); }, f64[{}]); }, {empty_text}, at);
  };
  both([](Tensor x) { return abs(x); });
  both([](Tensor x) { return sign(x); });
  both([](Tensor x) { return round(x); });
  both([](Tensor x) { return floor(x); });
  both([](Tensor x) { return ceil(x); });
  both([](Tensor x) { return sqrt(x); });
  both([](Tensor x) { return rsqrt(x); });
  both([](Tensor x) { return exp(x); });
  both([](Tensor x) { return expm1(x); });
  both([](Tensor x) { return log(x); });
  both([](Tensor x) { return log1p(x); });
  both([](Tensor x) { return sin(x); });
  both([](Tensor x) { return cos(x); });
  both([](Tensor x) { return tan(x); });
  both([](Tensor x) { return asin(x); });
  both([](Tensor x) { return acos(x); });
  both([](Tensor x) { return atan(x); });
  both([](Tensor x) { return sinh(x); });
  both([](Tensor x) { return cosh(x); });
  both([](Tensor x) { return tanh(x); });
  both([](Tensor x) { return asinh(x); });
  both([](Tensor x) { return acosh(x); });
  both([](Tensor x) { return atanh(x); });
  both([](Tensor x) { return logistic(x); });
  both([](Tensor x) { return erf(x); });
  both([](Tensor x) { return is_finite(x); });
  both([](Tensor x) { return is_nan(x); });
  both([](Tensor x) { return stop_gradient(x); });
  both([](Tensor x) { return pow(x, 2.0); });
  both([](Tensor x) { return pow(2.0, x); });
  both([](Tensor x) { return maximum(x, 0); });
  both([](Tensor x) { return minimum(vec3, x); });
  both([](Tensor x) { return atan2(x, vec3); });
  both([](Tensor x) { return scale(vec3, x); });
  both([](Tensor x) { return where(x, 1.0, 2.0); });
  both([](Tensor x) { return where(truth, x, 2.0); });
  both([](Tensor x) { return where(truth, vec3, x); });
  both([](Tensor x) { return clamp(x, 0, 1); });
  both([](Tensor x) { return clamp(vec3, x, 1); });
  both([](Tensor x) { return convert(x, f32); });
  both([](Tensor x) { return bitcast(x, i64); });
  both([](Tensor x) { return sum(x); });
  both([](Tensor x) { return prod(x, 0); });
  both([](Tensor x) { return max(x); });
  both([](Tensor x) { return min(x, 0); });
  both([](Tensor x) { return max_or(x, 0.0); });
  both([](Tensor x) { return min_or(vec3, x); });
  both([](Tensor x) { return all_of(x); });
  both([](Tensor x) { return any_of(x); });
  both([](Tensor x) { return mean(x); });
  both([](Tensor x) { return variance(x); });
  both([](Tensor x) { return standard_deviation(x); });
  both([](Tensor x) { return norm(x); });
  both([](Tensor x) { return argmax(x, 0); });
  both([](Tensor x) { return argmin(x, 0); });
  both([](Tensor x) { return cumsum(x); });
  both([](Tensor x) { return cumprod(x); });
  both([](Tensor x) { return cummax(x); });
  both([](Tensor x) { return cummin(x); });
  both([](Tensor x) { return dot_general(x, vec3, {}); });
  both([](Tensor x) { return matmul(x, vec3); });
  both([](Tensor x) { return matmul(vec3, x); });
  both([](Tensor x) { return dot(x, vec3); });
  both([](Tensor x) { return outer(vec3, x); });
  both([](Tensor x) { return full({2}, x); });
  both([](Tensor x) { return zeros_like(x); });
  both([](Tensor x) { return ones_like(x); });
  both([](Tensor x) { return one_hot(x, 3); });
  both([](Tensor x) { return broadcast_in_dim(x, {2}, {}); });
  both([](Tensor x) { return broadcast_to(x, {2}); });
  both([](Tensor x) { return reshape(x, {2}); });
  both([](Tensor x) { return transpose(x); });
  both([](Tensor x) { return transpose(x, {0}); });
  both([](Tensor x) { return swap_axes(x, 0, 1); });
  both([](Tensor x) { return expand_dims(x, 0); });
  both([](Tensor x) { return squeeze(x); });
  both([](Tensor x) { return slice(x, {0}, {1}, {1}); });
  both([](Tensor x) { return flip(x, {0}); });
  both([](Tensor x) { return pad(x, 0, {1}, {1}); });
  both([](Tensor x) { return pad(vec3, x, {1}, {1}); });
  both([](Tensor x) { return concat({x, vec3}); });
  both([](Tensor x) { return concat(std::vector{vec3, x}); });
  both([](Tensor x) { return stack({x, vec3}); });
  both([](Tensor x) { return stack(std::vector{vec3, x}); });
  both([](Tensor x) { return split(x, 2)[0]; });
  both([](Tensor x) { return roll(x, 1, 0); });
  both([](Tensor x) { return tril(x); });
  both([](Tensor x) { return triu(x); });
  both([](Tensor x) { return diagonal(x); });
  both([](Tensor x) { return gather(x, whole, {0}); });
  both([](Tensor x) { return gather(vec3, x, {0}); });
  both([](Tensor x) { return scatter(x, whole, vec3, {0}, Combine::add); });
  both([](Tensor x) { return take(x, whole); });
  both([](Tensor x) { return take(vec3, x); });
  both([](Tensor x) { return take_along_axis(x, whole, 0); });
  both([](Tensor x) { return dynamic_slice(x, whole, {1}); });
  both([](Tensor x) { return dynamic_slice(vec3, x, {1}); });
  both([](Tensor x) { return dynamic_update_slice(x, vec3, whole); });
  both([](Tensor x) { return update_slice(vec3, x, {0}, {1}); });
  both([](Tensor x) { return segment_sum(x, whole, 2); });
  both([](Tensor x) { return segment_prod(vec3, x, 2); });
  both([](Tensor x) { return segment_max(x, whole, 2); });
  both([](Tensor x) { return segment_min(x, whole, 2); });
  both([](Tensor x) { return random_bits(Key{x}, {2}); });
  both([](Tensor x) { return uniform(Key{x}, {2}); });
  both([](Tensor x) { return split(Key{x})[0].words; });
  both([](Tensor x) { return relu(x); });
  both([](Tensor x) { return sigmoid(x); });
  both([](Tensor x) { return log_sigmoid(x); });
  both([](Tensor x) { return softplus(x); });
  both([](Tensor x) { return silu(x); });
  both([](Tensor x) { return gelu(x); });
  both([](Tensor x) { return hypot(x, vec3); });
  both([](Tensor x) { return sinc(x); });
  both([](Tensor x) { return square(x); });
  both([](Tensor x) { return logsumexp(x); });
  both([](Tensor x) { return logaddexp(vec3, x); });
  both([](Tensor x) { return logcumsumexp(x, 0); });
  both([](Tensor x) { return softmax(x); });
  both([](Tensor x) { return log_softmax(x); });
  both([](Tensor x) { return cross_entropy(x, whole); });
  both([](Tensor x) { return cross_entropy(matrix, x); });
  both([](Tensor x) { return mean_squared_error(vec3, x); });
  both([](Tensor x) { return layer_norm(x); });
  both([](Tensor x) { return batch_norm(x); });
  both([](Tensor x) { return attention(matrix, x, matrix); });
  both([](Tensor x) { return attention(matrix, matrix, matrix, x); });
}

TEST(Errors, shapes_that_do_not_broadcast_are_both_named) {
  const auto both = [](Tensor (*f)(List), const Location& at = Location::current()) {
    expect_error_of(f, three, {"f64[3]", "f64[4]", "3 ≠ 4", "hint: "}, at);
  };
  both([](List x) { return x[0] + x[1]; });
  both([](List x) { return x[0] - x[1]; });
  both([](List x) { return x[0] * x[1]; });
  both([](List x) { return x[0] / x[1]; });
  both([](List x) { return x[0] % x[1]; });
  both([](List x) { return x[0] == x[1]; });
  both([](List x) { return x[0] != x[1]; });
  both([](List x) { return x[0] < x[1]; });
  both([](List x) { return x[0] <= x[1]; });
  both([](List x) { return x[0] > x[1]; });
  both([](List x) { return x[0] >= x[1]; });
  both([](List x) { return pow(x[0], x[1]); });
  both([](List x) { return maximum(x[0], x[1]); });
  both([](List x) { return minimum(x[0], x[1]); });
  both([](List x) { return atan2(x[0], x[1]); });
  both([](List x) { return scale(x[0], x[1]); });
  both([](List x) { return where(x[2] > 0, x[0], x[1]); });
  both([](List x) { return clamp(x[0], x[1], 1); });
  both([](List x) { return logaddexp(x[0], x[1]); });
  both([](List x) { return hypot(x[0], x[1]); });
  both([](List x) { return mean_squared_error(x[0], x[1]); });
  both([](List x) { return stack({x[0], x[1]}); });
  both([](List x) { return matmul(x[0], x[1]); });
}

TEST(Errors, compound_assignment_names_the_line_and_keeps_the_operand) {
  Tensor x = vec3;
  expect_error([&] { x += vec4; }, {"add: ", "f64[3]", "f64[4]"});
  expect_error([&] { x -= vec4; }, {"sub: "});
  expect_error([&] { x *= vec4; }, {"mul: "});
  expect_error([&] { x /= vec4; }, {"div: "});
  EXPECT_TRUE(array_equal(x, vec3));
}

TEST(Errors, functions_on_floats_refuse_integers) {
  const auto both = [](Tensor (*f)(Tensor), const Location& at = Location::current()) {
    expect_error_of([&](List x) { return f(x[0]); }, {whole},
                    {"takes floats", "i64", "astype(f32)"}, at);
  };
  both([](Tensor x) { return round(x); });
  both([](Tensor x) { return floor(x); });
  both([](Tensor x) { return ceil(x); });
  both([](Tensor x) { return sqrt(x); });
  both([](Tensor x) { return rsqrt(x); });
  both([](Tensor x) { return exp(x); });
  both([](Tensor x) { return expm1(x); });
  both([](Tensor x) { return log(x); });
  both([](Tensor x) { return log1p(x); });
  both([](Tensor x) { return sin(x); });
  both([](Tensor x) { return cos(x); });
  both([](Tensor x) { return tan(x); });
  both([](Tensor x) { return asin(x); });
  both([](Tensor x) { return acos(x); });
  both([](Tensor x) { return atan(x); });
  both([](Tensor x) { return sinh(x); });
  both([](Tensor x) { return cosh(x); });
  both([](Tensor x) { return tanh(x); });
  both([](Tensor x) { return asinh(x); });
  both([](Tensor x) { return acosh(x); });
  both([](Tensor x) { return atanh(x); });
  both([](Tensor x) { return logistic(x); });
  both([](Tensor x) { return erf(x); });
  both([](Tensor x) { return is_finite(x); });
  both([](Tensor x) { return atan2(x, x); });
  both([](Tensor x) { return scale(x, x); });
  both([](Tensor x) { return mean(x); });
  both([](Tensor x) { return variance(x); });
  both([](Tensor x) { return standard_deviation(x); });
  both([](Tensor x) { return norm(x); });
  both([](Tensor x) { return sigmoid(x); });
  both([](Tensor x) { return silu(x); });
}

TEST(Errors, dtypes_that_do_not_fit_are_named) {
  expect_error_of([](List x) { return x[0] & x[1]; }, {vec3, vec3}, {"and: takes", "f64[3]"});
  expect_error_of([](List x) { return x[0] | x[1]; }, {vec3, vec3}, {"or: takes", "f64[3]"});
  expect_error_of([](List x) { return x[0] ^ x[1]; }, {vec3, vec3}, {"xor: takes", "f64[3]"});
  expect_error_of([](List x) { return x[0] << 1; }, {vec3},
                  {"shift_left: takes integers", "f64[3]"});
  expect_error_of([](List x) { return x[0] >> 1; }, {vec3},
                  {"shift_right: takes integers", "f64[3]"});
  expect_error_of([](List x) { return ~x[0]; }, {vec3}, {"not: takes", "f64[3]"});
  expect_error_of([](List x) { return x[0] && x[0]; }, {whole},
                  {"takes bool", "i64", "hint: compare"});
  expect_error_of([](List x) { return x[0] || x[0]; }, {vec3},
                  {"takes bool", "f64", "hint: compare"});
  expect_error_of([](List x) { return x[0] + x[0]; }, {truth}, {"add: takes numbers", "bool[3]"});
  expect_error_of([](List x) { return -x[0]; }, {truth}, {"neg: takes numbers", "bool[3]"});
  expect_error_of([](List x) { return abs(x[0]); }, {truth}, {"abs: takes numbers", "bool[3]"});
  expect_error_of([](List x) { return sum(x[0]); }, {truth}, {"sum: takes numbers", "bool[3]"});
  expect_error_of([](List x) { return all_of(x[0]); }, {vec3}, {"takes bool", "f64[3]"});
  expect_error_of([](List x) { return any_of(x[0]); }, {whole}, {"takes bool", "i64[3]"});
  expect_error_of([](List x) { return cumsum(x[0]); }, {truth}, {"cumsum: takes numbers"});
  expect_error_of([](List x) { return where(x[0], 1, 2); }, {vec3},
                  {"where: the condition is f64"});
  expect_error_of([](List x) { return bitcast(x[0], f32); }, {vec3}, {"bitcast: f64[3] to f32"});
  expect_error_of([](List x) { return matmul(x[0], x[0]); }, {truth}, {"takes numbers", "bool[3]"});
  expect_error_of([](List x) { return take(x[0], x[0]); }, {vec3},
                  {"indices are f64", "astype(i64)"});
  expect_error_of([](List x) { return gather(x[0], x[0], {0}); }, {vec3},
                  {"gather: indices are f64"});
  expect_error_of([](List x) { return one_hot(x[0], 3); }, {vec3}, {"one_hot: labels are f64"});
  expect_error_of([](List x) { return segment_sum(x[0], x[0], 3); }, {vec3}, {"indices are f64"});
  expect_error_of([](List x) { return dynamic_slice(x[0], x[0], {1}); }, {vec3},
                  {"indices are f64"});
  expect_error([] { uniform(key(1), {2}, 0, 1, i32); }, {"uniform: makes floats, not i32"});
  expect_error([] { random_bits(key(1), {2}, f32); }, {"random_bits: ", "not f32"});
  expect_error([] { random_bits(Key{vec3}, {2}); },
               {"random_bits: the key is f64[3]", "key(seed)"});
  expect_error([] { iota(bool_[{3}]); }, {"iota: "});
}

TEST(Errors, updates_do_not_narrow) {
  const Tensor small = zeros({3}, f32);
  const Tensor at = zeros({1, 1}, i64);
  expect_error([&] { scatter(small, at, ones({1}), {0}, Combine::add); },
               {"update of dtype f64", "f32"});
  expect_error([&] { update_slice(small, ones({1}), {0}, {1}); }, {"update of dtype f64", "f32"});
  expect_error([&] { dynamic_update_slice(small, vec3, whole); }, {"update of dtype f64", "f32"});
}

TEST(Errors, axes_outside_the_rank_are_named) {
  const auto both = [](Tensor (*f)(Tensor), const Location& at = Location::current()) {
    expect_error_of([&](List x) { return f(x[0]); }, {matrix}, {"axis", "rank 2"}, at);
  };
  both([](Tensor x) { return sum(x, 2); });
  both([](Tensor x) { return prod(x, -3); });
  both([](Tensor x) { return max(x, 2); });
  both([](Tensor x) { return min(x, {0, 5}); });
  both([](Tensor x) { return max_or(x, 0, 2); });
  both([](Tensor x) { return mean(x, 2); });
  both([](Tensor x) { return variance(x, 2); });
  both([](Tensor x) { return standard_deviation(x, 2); });
  both([](Tensor x) { return norm(x, 2); });
  both([](Tensor x) { return argmax(x, 2); });
  both([](Tensor x) { return argmin(x, -3); });
  both([](Tensor x) { return cumsum(x, 2); });
  both([](Tensor x) { return cumprod(x, 2); });
  both([](Tensor x) { return cummax(x, 2); });
  both([](Tensor x) { return softmax(x, 2); });
  both([](Tensor x) { return log_softmax(x, 2); });
  both([](Tensor x) { return logsumexp(x, 2); });
  both([](Tensor x) { return logcumsumexp(x, 2); });
  both([](Tensor x) { return layer_norm(x, 2); });
  both([](Tensor x) { return squeeze(x, {2}); });
  both([](Tensor x) { return swap_axes(x, 0, 2); });
  both([](Tensor x) { return transpose(x, {0, 2}); });
  both([](Tensor x) { return flip(x, {2}); });
  both([](Tensor x) { return roll(x, 1, 2); });
  both([](Tensor x) { return split(x, 1, 2)[0]; });
  both([](Tensor x) { return concat({x, x}, 2); });
  both([](Tensor x) { return take(x, whole, 2); });
  both([](Tensor x) { return take_along_axis(x, x.astype(i64), 2); });
  both([](Tensor x) { return gather(x, whole, {0, 1, 2}); });
  expect_error([] { static_cast<void>(matrix.extent(2)); }, {"extent: axis 2", "rank 2"});
  expect_error([] { sum(matrix, {0, -2}); }, {"sum: axes [0, -2] name an axis twice"});
  expect_error([] { transpose(matrix, {0, 0}); }, {"transpose", "[0, 0]"});
  expect_error([] { transpose(matrix, {0}); }, {"transpose", "[0]", "rank 2"});
}

TEST(Errors, shapes_that_do_not_fit_are_named) {
  const auto both = [](Tensor (*f)(Tensor), std::initializer_list<const char*> parts,
                       const Location& at = Location::current()) {
    expect_error_of([&](List x) { return f(x[0]); }, {matrix}, parts, at);
  };
  both([](Tensor x) { return reshape(x, {4}); }, {"reshape", "f64[2, 3]", "[4]"});
  both([](Tensor x) { return reshape(x, {4, -1}); }, {"reshape", "f64[2, 3]", "[4, -1]"});
  both([](Tensor x) { return reshape(x, {-1, -1}); }, {"reshape", "[-1, -1]"});
  both([](Tensor x) { return broadcast_to(x, {3}); }, {"broadcast_to", "f64[2, 3]", "[3]"});
  both([](Tensor x) { return broadcast_to(x, {4, 3}); }, {"broadcast_to", "f64[2, 3]", "[4, 3]"});
  both([](Tensor x) { return broadcast_in_dim(x, {3, 2}, {0, 1}); },
       {"broadcast_in_dim", "[3, 2]"});
  both([](Tensor x) { return squeeze(x, {0}); }, {"squeeze: axis 0", "extent 2"});
  both([](Tensor x) { return slice(x, {0}, {1}, {1}); }, {"slice: start [0]", "rank 2"});
  both([](Tensor x) { return slice(x, {0, 2}, {1, 2}, {1, 1}); }, {"slice", "axis 1", "f64[2, 3]"});
  both([](Tensor x) { return slice(x, {0, 0}, {1, 1}, {1, 0}); }, {"slice", "step 0"});
  both([](Tensor x) { return pad(x, 0, {1}, {1, 1}); }, {"pad: low [1]", "f64[2, 3]"});
  both([](Tensor x) { return pad(x, 0, {-1, 0}, {0, 0}); }, {"pad: low [-1, 0] is negative"});
  both([](Tensor x) { return pad(x, x, {0, 0}, {0, 0}); }, {"pad: the value is f64[2, 3]"});
  both([](Tensor x) { return split(x, 2, 1)[0]; }, {"split: axis 1 of [2, 3]", "2 equal parts"});
  both([](Tensor x) { return split(x, 0, 1)[0]; }, {"split: axis 1", "0 equal parts"});
  both([](Tensor x) { return concat({x, vec3}); }, {"concat", "f64[2, 3] and f64[3]"});
  both([](Tensor x) { return concat({x, zeros({2, 4})}); }, {"concat", "f64[2, 3] and f64[2, 4]"});
  both([](Tensor x) { return matmul(x, x); }, {"matmul: inner extents differ", "3 ≠ 2"});
  both([](Tensor x) { return matmul(x, Tensor(1.0)); }, {"matmul", "f64[]", "hint: multiply"});
  both([](Tensor x) { return dot(x, x); }, {"dot: takes two vectors", "f64[2, 3]"});
  both([](Tensor x) { return outer(x, vec3); }, {"outer: takes two vectors", "f64[2, 3]"});
  both([](Tensor x) { return dot_general(x, x, {{1}, {0}, {}, {}}); },
       {"dot_general", "contracted"});
  both([](Tensor x) { return tril(x(0)); }, {"tril", "rank 2 or more"});
  both([](Tensor x) { return diagonal(x(0)); }, {"diagonal", "rank 2 or more"});
  both([](Tensor x) { return cross_entropy(x, whole); }, {"cross_entropy", "f64[2, 3]", "i64[3]"});
  both([](Tensor x) { return cross_entropy(x, vec3); }, {"cross_entropy", "f64[2, 3]", "f64[3]"});
  both([](Tensor x) { return gather(x, whole, {0}); },
       {"gather", "i64[3]", "last axis of extent 1"});
  both([](Tensor x) { return take_along_axis(x, whole, 0); }, {"take_along_axis", "i64[3]"});
  both([](Tensor x) { return dynamic_slice(x, whole, {1, 1}); }, {"dynamic_slice", "i64[3]"});
  both([](Tensor x) { return dynamic_slice(x, arange(2), {3, 1}); },
       {"window [3, 1]", "f64[2, 3]"});
  both([](Tensor x) { return update_slice(x, x, {1, 0}, {1, 1}); }, {"update_slice", "leaves"});
  both([](Tensor x) { return segment_sum(x, whole, 2); }, {"segment", "f64[2, 3]", "i64[3]"});
  both([](Tensor x) { return attention(x, vec4, x); }, {"attention"});
  both([](Tensor x) { return attention(x, zeros({2, 4}), x); }, {"f64[2, 3]", "4"});
  expect_error([] { tensor({{1, 2}, {3}}); }, {"tensor", "2", "1", "same length"});
  expect_error([] { tensor(std::vector{1.0, 2.0}, {3}); }, {"2 values cannot fill shape [3]"});
  expect_error([] { zeros({2, -1}); }, {"[2, -1]", "negative extent"});
  expect_error([] { full({-3}, 1.0); }, {"[-3]", "negative extent"});
  expect_error([] { iota(i64[{3}], 1); }, {"iota: axis 1"});
  expect_error([] { arange(-1); }, {"[-1]", "negative extent"});
  expect_error([] { eye(-2); }, {"-2", "negative extent"});
  expect_error([] { concat(std::vector<Tensor>{}); }, {"concat: no parts"});
  expect_error([] { stack(std::vector<Tensor>{}); }, {"stack: no parts"});
  expect_error([] { split(key(1), -1); }, {"negative extent"});
}

TEST(Errors, indexing_names_the_axis_and_the_type) {
  expect_error([] { matrix(2); }, {"index: 2 is outside axis 0 of f64[2, 3]"});
  expect_error([] { matrix(0, -4); }, {"index: -4 is outside axis 1 of f64[2, 3]"});
  expect_error([] { matrix[2]; }, {"index: 2 is outside axis 0 of f64[2, 3]"});
  expect_error([] { matrix(0, 0, 0); }, {"3 indices", "f64[2, 3]", "rank 2"});
  expect_error([] { matrix(ellipsis, 0, ellipsis); }, {"more than one ellipsis"});
  expect_error([] { matrix(Range{0, 2, 0}); }, {"step 0"});
  expect_error([] { program([](Tensor x) { return x(5); }, f64[{3}]); }, {"5 is outside axis 0"});
}

TEST(Errors, positions_outside_are_named_at_run_time) {
  const Tensor far = tensor({0, 7});
  expect_error([&] { take(vec3, far); }, {"gather", "7", "axis 0", "3"});
  expect_error([&] { take(vec3, tensor({-1})); }, {"gather", "-1", "axis 0", "3"});
  expect_error([&] { gather(matrix, tensor({{0, 9}}), {0, 1}); }, {"gather", "9", "axis 1", "3"});
  expect_error([&] { take_along_axis(matrix, tensor({{3}, {0}}), 1); }, {"gather", "3", "axis 1"});
  expect_error([&] { dynamic_slice(vec3, tensor({2}), {2}); }, {"dynamic_slice", "2", "axis 0"});
  expect_error([&] { dynamic_update_slice(vec3, ones({2}), tensor({-1})); },
               {"dynamic_update_slice", "-1"});
  expect_error([&] { scatter(vec3, tensor({{5}}), ones({1}), {0}, Combine::add, Bounds::check); },
               {"scatter", "5"});
  expect_error([&] { cross_entropy(matrix, tensor({0, 3})); }, {"3", "axis 1"});
  expect_error([&] { pow(tensor({2, 3}), tensor({1, -1})); }, {"pow", "negative"});
}

TEST(Errors, a_gradient_names_the_line_of_the_read_that_fails) {
  const auto f = [](Tensor x, Tensor i) { return sum(take(x, i)); };
  const int line = __LINE__ - 1;
  const std::string got = complaint([&] { grad(f)(vec3, tensor({4})); });
  EXPECT_NE(got.find("error_test.cc:" + std::to_string(line)), std::string::npos) << got;
  EXPECT_NE(got.find("index 4"), std::string::npos) << got;
}

TEST(Errors, empty_axes_have_no_extreme) {
  expect_error_of([](List x) { return max(x[0], 0); }, {hollow}, {"axis 0 of f64[0, 3]", "max_or"});
  expect_error_of([](List x) { return min(x[0], 0); }, {hollow}, {"axis 0 of f64[0, 3]", "min_or"});
  expect_error_of([](List x) { return max(x[0]); }, {hollow}, {"axis 0 of f64[0, 3]"});
  expect_error_of([](List x) { return argmax(x[0], 0); }, {hollow},
                  {"argmax", "axis 0 of f64[0, 3]"});
  expect_error_of([](List x) { return argmin(x[0], 0); }, {hollow},
                  {"argmin", "axis 0 of f64[0, 3]"});
}

TEST(Errors, other_reductions_of_an_empty_axis_have_their_neutral_element) {
  EXPECT_TRUE(array_equal(sum(hollow, 0), zeros({3})));
  EXPECT_TRUE(array_equal(prod(hollow, 0), ones({3})));
  EXPECT_TRUE(array_equal(max_or(hollow, -5.0, 0), full({3}, -5.0)));
  EXPECT_TRUE(array_equal(min_or(hollow, 5.0, 0), full({3}, 5.0)));
  EXPECT_TRUE(array_equal(logsumexp(hollow, 0), full({3}, -infinity)));
  EXPECT_TRUE(array_equal(norm(hollow, 0), zeros({3})));
  EXPECT_TRUE(array_equal(all_of(hollow == 0, 0), zeros({3}) == 0));
  EXPECT_TRUE(array_equal(any_of(hollow == 0, 0), zeros({3}) == 1));
  EXPECT_TRUE(array_equal(max(hollow, 1), zeros({0})));
  EXPECT_TRUE(array_equal(argmax(hollow, 1), zeros({0}, i64)));
  EXPECT_EQ(cumsum(hollow).shape(), (Shape{0, 3}));
  EXPECT_EQ(grad([](Tensor x) { return sum(x * x); })(hollow).shape(), (Shape{0, 3}));
}

TEST(Errors, rank_zero_is_a_tensor_like_others) {
  const Tensor x(2.0);
  EXPECT_EQ(sum(x).item(), 2);
  EXPECT_EQ(max(x).item(), 2);
  EXPECT_EQ(reshape(x, {1, 1}).shape(), (Shape{1, 1}));
  EXPECT_EQ(transpose(x).item(), 2);
  EXPECT_EQ(x(ellipsis).item(), 2);
  EXPECT_EQ(norm(x).item(), 2);
  expect_error([&] { argmax(x, 0); }, {"argmax: axis 0", "rank 0"});
  expect_error([&] { cumsum(x); }, {"cumsum: axis 0", "rank 0"});
  expect_error([&] { x(0); }, {"1 indices", "f64[]", "rank 0"});
  expect_error([&] { concat({x, x}); }, {"concat: axis 0", "rank 0"});
  expect_error([&] { split(x, 1); }, {"split: axis 0", "rank 0"});
  expect_error([&] { softmax(x); }, {"axis -1", "rank 0"});
  expect_error([&] { cross_entropy(x, Tensor(0)); }, {"cross_entropy", "f64[]"});
}

TEST(Errors, weak_numbers_fit_or_say_so) {
  const Tensor bytes = zeros({3}, u8);
  expect_error_of([](List x) { return x[0] + 300; }, {bytes}, {"300", "u8", "astype"});
  expect_error_of([](List x) { return x[0] * -1; }, {bytes}, {"-1", "u8"});
  expect_error_of([](List x) { return where(x[0] > 0, x[0], 256); }, {bytes}, {"256", "u8"});
  expect_error_of([](List x) { return x[0] == 1000; }, {bytes}, {"1000", "u8"});
  expect_error_of([](List x) { return clamp(x[0], -1, 5); }, {bytes}, {"-1", "u8"});
  Tensor y = bytes;
  expect_error([&] { y += 300; }, {"300", "u8"});
  expect_error([&] { tensor({1}) + 4294967296; }, {"4294967296", "i32"});
  EXPECT_EQ((bytes + 255)(0).item(), 255);
}

TEST(Errors, values_of_symbols_are_refused_with_the_way_out) {
  const char* const way_out = "use where(condition, a, b) or cond(";
  expect_error([] { program([](Tensor x) { return x.item() > 0 ? x : -x; }, f64[{}]); }, {way_out});
  expect_error([] { program([](Tensor x) { return x + x.to_vector()[0]; }, f64[{1}]); }, {way_out});
  expect_error([] { program([](Tensor x) { return array_equal(x, x) ? x : -x; }, f64[{1}]); },
               {way_out});
  expect_error([] { program([](Tensor x) { return x + x.array().offset; }, f64[{1}]); }, {way_out});
}

TEST(Errors, one_element_is_asked_for) {
  expect_error([] { static_cast<void>(vec3.item()); },
               {"item: f64[3] has 3 elements", "to_vector()"});
  expect_error([] { static_cast<void>(hollow.item()); }, {"item: f64[0, 3] has 0 elements"});
  EXPECT_EQ(ones({1, 1}).item(), 1);
}

TEST(Errors, a_leaked_symbol_names_where_it_was_made) {
  Tensor kept;
  program([&](Tensor x) { return kept = sin(x); }, f64[{}]);
  const std::string made = "error_test.cc:" + std::to_string(__LINE__ - 1);
  expect_error([&] { kept + 1; }, {"after its capture has ended", made.c_str()});
  expect_error([&] { kept.shape(); }, {"after its capture has ended", made.c_str()});
  expect_error([&] { program([&](Tensor x) { return x * kept; }, f64[{}]); },
               {"after its capture has ended"});
  expect_error([&] { grad([&](Tensor x) { return x * kept; })(1.0); },
               {"after its capture has ended"});
}

TEST(Errors, a_leaked_input_names_the_line_of_the_capture) {
  Tensor kept;
  program([&](Tensor x) { return kept = x, x; }, f64[{}]);
  const std::string made = "error_test.cc:" + std::to_string(__LINE__ - 1);
  expect_error([&] { kept + 1; }, {"after its capture has ended", made.c_str()});
  grad([&](Tensor x) { return kept = x, x; })(1.0);
  const std::string made_by_grad = "error_test.cc:" + std::to_string(__LINE__ - 1);
  expect_error([&] { kept + 1; }, {"after its capture has ended", made_by_grad.c_str()});
}

TEST(Errors, a_symbol_of_another_thread_is_told_from_a_leaked_one) {
  std::string got;
  std::string place;
  const auto f = [&](Tensor x) {
    const auto use = [&] { cos(x); };
    place = "error_test.cc:" + std::to_string(__LINE__ - 1) + "\n  hint: ";
    std::thread([&] { got = complaint(use); }).join();
    return x;
  };
  program(f, f64[{}]);
  EXPECT_NE(got.find("used on another thread"), std::string::npos) << got;
  EXPECT_NE(got.find(place), std::string::npos) << got;
}

TEST(Errors, a_failed_capture_leaves_no_trace) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(complaint([] { program([](Tensor x) { return x + vec4; }, f64[{3}]); }),
              "(no error)");
    EXPECT_NE(complaint([] { named("f", [](Tensor x) { return x + vec4; })(vec3); }), "(no error)");
  }
  EXPECT_EQ(Capture::current(), nullptr);
  EXPECT_EQ(NameScope::current(), "");
  EXPECT_TRUE((vec3 + 1).is_concrete());
  EXPECT_EQ(complaint([] { vec3 + vec4; }).find(", in `"), std::string::npos);
}

TEST(Errors, derivatives_say_what_they_cannot_do) {
  const auto three_by_four = [](Tensor x) { return x * ones({3, 4}); };
  expect_error([&] { grad(three_by_four)(1.0); }, {"f64[3, 4]", "rank 0", "sum or mean"});
  expect_error([&] { grad([](Tensor x) { return std::pair{x, x}; })(1.0); }, {"(f64[], f64[])"});
  expect_error([&] { grad([](Tensor x) { return x; })(3); }, {"i32[]", "astype"});
  expect_error([&] { grad([](Tensor x) { return sum(x); })(whole); }, {"i64[3]", "astype"});
  expect_error([&] { grad([](Tensor x) { return sum(x > 0); })(vec3); }, {"bool"});
  expect_error([&] { grad([](Tensor x) { return sum(x.astype(i32)); })(vec3); },
               {"i32[]", "floats"});
  const auto constant = [](std::vector<Tensor>) { return Tensor(1.0); };
  expect_error([&] { grad(constant)(std::vector<Tensor>{}); }, {"no tensors"});
  expect_error([&] { vjp([](Tensor x) { return x; })(whole); }, {"i64[3]"});
  expect_error([&] { jacobian([](Tensor x) { return x > 0; })(vec3); }, {"bool[3]"});
  expect_error([&] { jvp([](Tensor x) { return x; })(vec3, vec4); },
               {"tangent", "f64[4]", "f64[3]"});
  expect_error([&] { vjp([](Tensor x) { return x; })(vec3).second(vec4); },
               {"cotangent", "f64[4]", "f64[3]"});
  expect_error([&] { jvp([](Tensor x) { return x; })(vec3, none); },
               {"tangent", "is empty", "zeros"});
  expect_error([&] { linearize([](Tensor x) { return x; })(vec3).second(vec4); },
               {"tangent", "f64[4]"});
}

TEST(Errors, transpose_names_the_line_that_is_not_linear) {
  const auto transposed = [](auto f) { return [f] { transpose(f, f64[{3}])(vec3); }; };
  expect_error(transposed([](Tensor x) { return x + 1; }), {"add is not linear", "affine"});
  expect_error(transposed([](Tensor x) { return 1 - x; }), {"sub is not linear", "affine"});
  expect_error(transposed([](Tensor x) { return x * x; }), {"mul is not linear", "both factors"});
  expect_error(transposed([](Tensor x) { return 1 / x; }), {"div is not linear", "divisor"});
  expect_error(transposed([](Tensor x) { return sin(x); }), {"sin is not linear"});
  expect_error(transposed([](Tensor x) { return where(x > 0, x, 0); }), {"select is not linear"});
  expect_error(transposed([](Tensor x) { return maximum(x, 0); }), {"max is not linear"});
  expect_error(transposed([](Tensor x) { return concat({x, ones({1})}); }),
               {"concat is not linear"});
  expect_error(transposed([](Tensor) { return ones({3}); }), {"constant"});
  expect_error(transposed([](Tensor x) { return dot(x, x); }), {"dot_general is not linear"});
}

TEST(Errors, cond_says_what_differs) {
  const auto id = [](Tensor x) { return x; };
  const auto wide = [](Tensor x) { return x * ones({2}); };
  const auto in = [](const std::function<void(Tensor)>& f) {
    program([&](Tensor x) { return f(x), x; }, f64[{}]);
  };
  expect_error([&] { in([&](Tensor x) { cond(x > 0, id, wide, x); }); },
               {"branches differ", "f64[]", "f64[2]"});
  expect_error([&] { in([&](Tensor x) { cond(vec3 > 0, id, id, x); }); },
               {"predicate is bool[3]", "where("});
  expect_error([&] { in([&](Tensor x) { cond(x, id, id, x); }); },
               {"predicate is f64[]", "bool[]"});
  expect_error([&] { cond(vec3 > 0, id, id, vec3); }, {"predicate is bool[3]", "where("});
  expect_error([&] { cond(Tensor(1.0), id, id, vec3); }, {"predicate is f64[]"});
}

TEST(Errors, products_of_other_structure_are_refused_by_path) {
  const auto add = [](Tensor x, Tensor y) { return x + y; };
  const std::vector<Tensor> two{vec3, vec3};
  const std::vector<Tensor> one{vec3};
  expect_error([&] { tree_map(add, two, one); }, {"tree[1]", "differ"});
  using Map = std::map<std::string, Tensor>;
  expect_error([&] { tree_map(add, Map{{"a", vec3}}, Map{{"b", vec3}}); }, {"tree.a", "tree.b"});
  expect_error([&] { jvp([](std::vector<Tensor> x) { return x[0]; })(two, one); },
               {"[1]", "differ"});
}

TEST(Errors, errors_inside_a_named_function_say_so) {
  const auto forward = named("forward", [](Tensor x) { return x + vec4; });
  const std::string place = "error_test.cc:" + std::to_string(__LINE__ - 1) + ", in `forward`";
  const auto loss = [&](Tensor x) { return sum(forward(x)); };
  const std::string eager = complaint([&] { forward(vec3); });
  const std::string captured = complaint([&] { program(forward, f64[{3}]); });
  const std::string differentiated = complaint([&] { grad(loss)(vec3); });
  for (const std::string& text : {eager, captured, differentiated}) {
    EXPECT_NE(text.find(place), std::string::npos) << text;
  }
}

TEST(Errors, run_time_errors_of_a_captured_function_name_it_too) {
  const auto forward = named("forward", [](Tensor x, Tensor i) { return sum(take(x, i)); });
  const int line = __LINE__ - 1;
  const std::string place = "error_test.cc:" + std::to_string(line) + ", in `forward`";
  const std::string eager = complaint([&] { forward(vec3, tensor({9})); });
  const std::string in_grad = complaint(
      [&] { grad([&](Tensor x, Tensor i) { return forward(x, i); })(vec3, tensor({9})); });
  const Program captured =
      program([&](Tensor x, Tensor i) { return forward(x, i); }, f64[{3}], i32[{1}]);
  const std::string evaluated = complaint([&] { evaluate(captured, {vec3, tensor({9})}); });
  for (const std::string& text : {eager, in_grad, evaluated}) {
    EXPECT_NE(text.find(place), std::string::npos) << text;
    EXPECT_NE(text.find("gather"), std::string::npos) << text;
  }
}

TEST(Errors, evaluate_names_the_input_that_does_not_fit) {
  const Program p = program([](Tensor x, Tensor y) { return x + y; }, f64[{3}], f64[{3}]);
  expect_error([&] { evaluate(p, {vec3}); }, {"2 inputs", "1"});
  expect_error([&] { evaluate(p, {vec3, vec4}); }, {"`y`", "f64[4]", "f64[3]"});
  expect_error([&] { evaluate(p, {vec3, none}); }, {empty_text});
}

TEST(Errors, primitives_are_declared_once_and_found_by_name) {
  PrimitiveTable table;
  table.add({.name = "mine"});
  EXPECT_NE(complaint([&] { table.add({.name = "mine"}); }).find("`mine` is declared twice"),
            std::string::npos);
  EXPECT_NE(complaint([&] { table.find("mime"); }).find("did you mean `mine`?"), std::string::npos);
  EXPECT_NE(complaint([] { standard_primitives().find("sine"); }).find("did you mean `sin`?"),
            std::string::npos);
  EXPECT_NE(complaint([] { PrimitiveTable().find("sine"); }).find("unknown primitive `sine`"),
            std::string::npos);
}

TEST(Errors, bugs_are_told_apart_from_mistakes) {
  EXPECT_THROW(ensure(false, "never"), Bug);
  EXPECT_NO_THROW(ensure(true, "always"));
  try {
    ensure(false, "a promise is kept");
  } catch (const std::logic_error& bug) {
    EXPECT_STREQ(
        bug.what(),
        "hom has a bug: a promise is kept\n  please report it, with the program that shows it");
  }
  static_assert(!std::is_base_of_v<Error, Bug> && !std::is_base_of_v<Bug, Error>);
}

TEST(Errors, the_text_of_a_complaint_costs_nothing_where_all_is_well) {
  bool evaluated = false;
  require(true, Location::current(), [&] { return evaluated = true, Complaint{"never"}; });
  EXPECT_FALSE(evaluated);
}

TEST(Errors, a_message_has_three_lines) {
  const std::string got = complaint([] { matmul(zeros({64, 784}, f32), zeros({128, 10}, f32)); });
  const std::string line = std::to_string(Location::current().line() - 1);
  EXPECT_EQ(got,
            "matmul: inner extents differ: lhs f32[64, 784] · rhs f32[128, 10] (784 ≠ 128)\n  at " +
                std::string(Location::current().file_name()) + ":" + line +
                "\n  hint: the weight of an affine layer is [inputs, outputs]");
}

TEST(Errors, nan_and_infinity_are_values_not_errors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan((Tensor(infinity) - infinity).item()));
  EXPECT_TRUE(std::isnan(sqrt(Tensor(-1.0)).item()));
  EXPECT_EQ((1 / Tensor(0.0)).item(), infinity);
  EXPECT_EQ(log(Tensor(0.0)).item(), -infinity);
  EXPECT_EQ(Tensor(nan).astype(i32).item<int>(), 0);
  EXPECT_EQ(Tensor(infinity).astype(i32).item<int>(), std::numeric_limits<int>::max());
  EXPECT_TRUE(std::isnan(max(tensor({1.0, nan, 2.0})).item()));
  EXPECT_EQ(argmax(tensor({1.0, nan, 2.0}), 0).item<int>(), 1);
  EXPECT_FALSE(is_finite(Tensor(nan)).item<bool>());
  EXPECT_FALSE(array_equal(Tensor(nan), Tensor(nan)));
  EXPECT_TRUE(array_equal(Tensor(nan), Tensor(nan), true));
}

}  // namespace
