// tests/unit/einsum_test.cc -- einsum against loops over all subscripts, and its derivatives
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/categories/cost.h>
#include <hom/hom.h>

namespace hom {
namespace {

/// Subscripts with their operands; letters only, the result named.
struct Case {
  std::vector<std::string> inputs;
  std::string result;
  std::vector<Tensor> operands;
  std::map<char, std::int64_t> extents;
};

std::string joined(const Case& c) {
  std::string text;
  for (std::size_t i = 0; i < c.inputs.size(); ++i) text += (i ? "," : "") + c.inputs[i];
  return text + "->" + c.result;
}

/// Σ over every assignment of the letters of the product of elements, in f64.
std::vector<double> by_loops(const Case& c) {
  std::vector<std::pair<char, std::int64_t>> letters(c.extents.begin(), c.extents.end());
  std::vector<std::vector<double>> data;
  for (const Tensor& x : c.operands) data.push_back(x.to_vector());
  std::int64_t size = 1;
  for (char letter : c.result) size *= c.extents.at(letter);
  std::vector<double> sums(static_cast<std::size_t>(size), 0.0);
  std::map<char, std::int64_t> index;
  const auto offset = [&](const std::string& part) {
    std::int64_t flat = 0;
    for (char letter : part) flat = flat * c.extents.at(letter) + index[letter];
    return static_cast<std::size_t>(flat);
  };
  const std::function<void(std::size_t)> visit = [&](std::size_t depth) {
    if (depth < letters.size()) {
      for (std::int64_t k = 0; k < letters[depth].second; ++k) {
        index[letters[depth].first] = k;
        visit(depth + 1);
      }
      return;
    }
    double product = 1;
    for (std::size_t i = 0; i < data.size(); ++i) product *= data[i][offset(c.inputs[i])];
    sums[offset(c.result)] += product;
  };
  visit(0);
  return sums;
}

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  /// Small integers, so that every dtype holds the sums exactly.
  Tensor tensor_of(const TensorType& type) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < type.size(); ++i)
      values.push_back(static_cast<double>(below(type.dtype.is_unsigned_integer() ? 3 : 5)) -
                       (type.dtype.is_unsigned_integer() ? 0 : 2));
    return tensor(values, type.shape).astype(type.dtype);
  }

 private:
  std::mt19937 engine_;
};

Case random_case(Random& random, Dtype dtype, std::int64_t most_operands) {
  Case c;
  const std::string alphabet = "ijkaB";
  for (char letter : alphabet) {
    const std::int64_t n = random.below(12) == 0 ? 0 : 1 + random.below(3);
    c.extents[letter] = n;
  }
  std::string used;
  for (std::int64_t i = 1 + random.below(most_operands); i > 0; --i) {
    std::string part;
    Shape shape;
    for (std::int64_t rank = random.below(4); rank > 0; --rank) {
      part += alphabet[static_cast<std::size_t>(random.below(5))];
      shape.push_back(c.extents[part.back()]);
    }
    used += part;
    c.inputs.push_back(part);
    c.operands.push_back(random.tensor_of(dtype[shape]));
  }
  for (char letter : alphabet) {
    if (used.find(letter) == std::string::npos) {
      c.extents.erase(letter);
    } else if (random.below(2) == 0) {
      c.result.insert(
          static_cast<std::size_t>(random.below(static_cast<std::int64_t>(c.result.size()) + 1)), 1,
          letter);
    }
  }
  return c;
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  const std::vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0, std::abs(want[i])))
        << what << ", element " << i;
  }
}

TEST(Einsum, equals_loops_over_all_subscripts) {
  Random random(1);
  for (int round = 0; round < 1500; ++round) {
    const Dtype dtypes[] = {f64, f32, f16, bf16, i64, i32, u64, u32};
    const Dtype dtype = dtypes[round % 8];
    const Case c = random_case(random, dtype, 4);
    const Tensor y = einsum(joined(c), c.operands);
    EXPECT_EQ(y.dtype(), dtype);
    Shape shape;
    for (char letter : c.result) shape.push_back(c.extents.at(letter));
    EXPECT_EQ(y.shape(), shape) << joined(c);
    // Sums are small integers: exact but where they pass 256 in bf16, or 2048 in f16.
    const double tolerance = dtype == bf16 ? 0x1p-8 : dtype == f16 ? 0x1p-11 : 0;
    expect_near(y, by_loops(c), tolerance, joined(c));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Einsum, bytes_wrap) {
  const Tensor x = tensor({100, 100, 7}).astype(i8);
  EXPECT_EQ(einsum("i,i->", x, x).item<int>(), static_cast<std::int8_t>(20049 % 256));
  EXPECT_EQ(einsum("i,j->", x.astype(u8), x.astype(u8)).item<int>(), 207 * 207 % 256);
}

TEST(Einsum, well_known_names) {
  const Tensor a = arange(6, f64);
  const Tensor m = reshape(a, {2, 3});
  const Tensor square = reshape(arange(9, f64), {3, 3});
  EXPECT_TRUE(array_equal(einsum("ij,jk->ik", m, square), matmul(m, square)));
  EXPECT_TRUE(array_equal(einsum("ij->ji", m), transpose(m)));
  EXPECT_TRUE(array_equal(einsum("ji", m), transpose(m)));
  EXPECT_TRUE(array_equal(einsum("ii->i", square), diagonal(square)));
  EXPECT_EQ(einsum("ii", square).item(), 12);
  EXPECT_EQ(einsum("ij->", m).item(), 15);
  EXPECT_TRUE(array_equal(einsum("i,j", a, a), outer(a, a)));
  EXPECT_TRUE(array_equal(einsum("i,i->i", a, a), a * a));
  EXPECT_TRUE(array_equal(einsum(",ij->ij", 2.0, m), 2.0 * m));
  EXPECT_EQ(einsum("", 3.0).item(), 3);
  EXPECT_EQ(einsum(",->", 3.0, 4.0).item(), 12);
  EXPECT_TRUE(array_equal(einsum(" i j , j k -> i k ", m, square), matmul(m, square)));
  EXPECT_TRUE(array_equal(einsum("ij", m), m));
  // Implicit results are in the order of ASCII: capitals first.
  EXPECT_EQ(einsum("aB,c", m, a).shape(), (Shape{3, 2, 6}));
  const Tensor cube = reshape(arange(27, i64), {3, 3, 3});
  EXPECT_EQ(einsum("iii->i", cube).to_vector(), (std::vector<double>{0, 13, 26}));
  EXPECT_EQ(einsum("iji->ji", cube).to_vector(),
            (std::vector<double>{0, 10, 20, 3, 13, 23, 6, 16, 26}));
}

TEST(Einsum, equals_numpy) {
  // By tests/oracles/convolution.py.
  const auto waves = [](const Shape& shape, Tensor (*function)(const Operand&)) {
    return function(reshape(arange(element_count(shape), f64), shape));
  };
  const Tensor q = waves({2, 2, 3}, sin);
  const Tensor k = waves({2, 2, 3}, cos);
  expect_near(
      einsum("bqd,bkd,bke->bqe", q, k, waves({2, 2, 2}, sin)),
      {-0.26559563610141845, 0.02294044979498932, 0.07543605903267867, 0.12216831896584873,
       0.018807874127101623, -0.2716882903815553, -0.12057959580255048, -0.07538572749216915},
      1e-14, "three");
  const Tensor x = waves({3, 2, 3}, sin);
  expect_near(einsum("iji->ji", x),
              {0.0, 0.6569865987187891, 0.9906073556948704, 0.1411200080598672, -0.5440211108893698,
               -0.9613974918795568},
              1e-15, "diagonal");
  const auto trace = [](Tensor t) { return einsum("iji->", t); };
  expect_near(
      grad(trace)(x),
      {1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0}, 0,
      "its gradient");
  expect_near(einsum("...i,ji->j...", q, x(all, 0)),
              {1.5348952287053772, -1.5087747165037109, 1.452456068092899, -1.3670665016038006,
               1.452456068092899, -1.485359853677453, 1.4885341516915294, -1.4619154285387936,
               1.2543150897902677, -1.343622076465141, 1.4060364581441314, -1.440309010553572},
              1e-14, "ellipsis");
}

TEST(Einsum, the_ellipsis_broadcasts) {
  const Tensor a = reshape(arange(24, f64), {2, 1, 3, 4});
  const Tensor b = reshape(arange(60, f64), {5, 4, 3});
  const Tensor y = einsum("...ij,...jk->...ik", a, b);
  EXPECT_TRUE(array_equal(y, matmul(a, b)));
  EXPECT_TRUE(array_equal(einsum("...ij,...jk", a, b), matmul(a, b)));
  EXPECT_TRUE(array_equal(einsum("i...->...i", b), move_axis(b, 0, -1)));
  EXPECT_EQ(einsum("...i->i...", a).shape(), (Shape{4, 2, 1, 3}));
  EXPECT_TRUE(array_equal(einsum("...,...->...", a, ones({3, 4})), a));
  EXPECT_EQ(einsum("...,...", ones({1, 0}), ones({4, 1})).shape(), (Shape{4, 0}));
  EXPECT_EQ(einsum("i->...i", arange(3)).shape(), (Shape{3}));
  EXPECT_EQ(einsum("...ii->...", ones({2, 3, 3})).to_vector(), (std::vector<double>{3, 3}));
}

TEST(Einsum, dtypes_promote_and_numbers_are_weak) {
  const Tensor x = ones({3}, f32);
  EXPECT_EQ(einsum("i,i->", x, ones({3}, i64)).dtype(), f32);
  EXPECT_EQ(einsum(",i->i", 0.5, x).dtype(), f32);
  EXPECT_EQ(einsum("i,i->i", ones({3}, f16), ones({3}, bf16)).dtype(), f32);
  EXPECT_EQ(einsum("i,i->i", ones({3}, i8), ones({3}, i32)).dtype(), i32);
  EXPECT_EQ(einsum("ij->ji", full({1, 2}, true)).dtype(), bool_);
}

TEST(Einsum, sixteen_bits_are_rounded_once) {
  // 1/3 · 3 summed 300 times; every partial result in f16 would be off by a unit.
  const Tensor third = full({300}, 1.0 / 3, f16);
  const Tensor three = full({}, 3.0, f16);
  const double exact = 300 * third(0).item() * 3;
  EXPECT_EQ(einsum("i,,->", third, three, full({}, 1.0, f16)).item(),
            full({}, exact, f64).astype(f16).item());
}

TEST(Einsum, gradients_equal_finite_differences) {
  const Tensor a = reshape(sin(arange(12, f64)), {3, 4});
  const Tensor b = reshape(cos(arange(20, f64)), {4, 5});
  const Tensor c = sin(2.0 + arange(5, f64));
  const auto f = [](Tensor x, Tensor y, Tensor z) {
    return sum(sin(einsum("ij,jk,k->ik", x, y, z)));
  };
  EXPECT_NO_THROW(check_derivatives(f, a, b, c));
  const auto g = [](Tensor x, Tensor z) { return sum(square(einsum("ij,k->jik", x, z))); };
  EXPECT_NO_THROW(check_derivatives(grad(g, wrt<0, 1>), a, c));
  const auto h = [](Tensor x) { return sum(cos(einsum("iji,...->...j", x, sum(x, Axes{0, 2})))); };
  EXPECT_NO_THROW(check_derivatives(h, reshape(sin(arange(18, f64)), {3, 2, 3})));
}

TEST(Einsum, the_pullback_is_einsum_again) {
  Random random(2);
  int checked = 0;
  for (int round = 0; round < 400; ++round) {
    const Case c = random_case(random, f64, 3);
    bool repeats = false;
    for (const std::string& part : c.inputs) {
      for (std::size_t i = 0; i < part.size(); ++i)
        repeats = repeats || part.find(part[i], i + 1) != std::string::npos;
    }
    if (repeats) continue;
    const auto f = [&](Tensor x) {
      std::vector<Tensor> operands = c.operands;
      operands[0] = x;
      return einsum(joined(c), operands);
    };
    const Tensor y = f(c.operands[0]);
    const Tensor ct = random.tensor_of(y.type());
    const Tensor pulled = vjp(f)(c.operands[0]).second(ct);
    // ⟨ȳ, f(x)⟩ is linear in x: its gradient at each unit vector.
    Case other = c;
    other.inputs[0] = c.result;
    other.operands[0] = ct;
    other.result = c.inputs[0];
    // Letters that only the first operand has are summed: their gradient repeats.
    for (char letter : c.inputs[0]) {
      std::string rest = c.result;
      for (std::size_t i = 1; i < c.inputs.size(); ++i) rest += c.inputs[i];
      if (rest.find(letter) == std::string::npos) {
        other.inputs.push_back(std::string(1, letter));
        other.operands.push_back(ones({c.extents.at(letter)}));
      }
    }
    expect_near(pulled, by_loops(other), 0, joined(c));
    ++checked;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, 100);
}

TEST(Einsum, lanes_equal_the_loop) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const Case c = random_case(random, f64, 3);
    if (c.operands.size() < 2) continue;
    const auto f = [&](Tensor x, Tensor y) {
      std::vector<Tensor> operands = c.operands;
      operands[0] = x;
      operands[1] = y;
      return einsum(joined(c), operands);
    };
    const auto lanes = [&](const Tensor& x) {
      std::vector<Tensor> parts;
      for (int lane = 0; lane < 3; ++lane) parts.push_back(random.tensor_of(x.type()));
      return stack(parts);
    };
    const Tensor x = lanes(c.operands[0]);
    const Tensor y = lanes(c.operands[1]);
    const Tensor both = vmap(f)(x, y);
    for (int lane = 0; lane < 3; ++lane)
      EXPECT_TRUE(array_equal(both(lane), f(x(lane), y(lane)))) << joined(c);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Einsum, views_of_operands_give_the_same) {
  const Tensor m = reshape(arange(12, f64), {3, 4});
  const Tensor reversed = flip(transpose(m), {0});
  EXPECT_TRUE(array_equal(einsum("ij,jk->ik", reversed, m), einsum("ij,jk", copy(reversed), m)));
  EXPECT_TRUE(
      array_equal(einsum("ii->i", matmul(m, transpose(m))(all, Range{0, 3})), sum(m * m, 1)));
}

std::int64_t work_of(const Program& program, const std::string& name) {
  const auto all = cost(program).by_primitive;
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

TEST(Einsum, a_pair_is_one_dot_general_and_views) {
  const Program p = program([](Tensor x, Tensor y) { return einsum("bij,bjk->bik", x, y); },
                            f64[{2, 3, 4}], f64[{2, 4, 5}]);
  EXPECT_EQ(p.step_count(), 1u);
  EXPECT_EQ(p.step(0).primitive.name, "dot_general");
}

TEST(Einsum, more_operands_meet_in_the_cheapest_order) {
  const auto chain = [](Tensor a, Tensor b, Tensor c, Tensor d) {
    return einsum("ab,bc,cd,de->ae", a, b, c, d);
  };
  const Program p = program(chain, f64[{100, 2}], f64[{2, 100}], f64[{100, 100}], f64[{100, 3}]);
  // b·c is 2·100·100 products, (b·c)·d 2·100·3, a·(b·c·d) 100·2·3; from the left it would be 50
  // times as many, from the right half as many again. Each step reads two matrices and writes one.
  EXPECT_EQ(
      work_of(p, "dot_general"),
      (2 * 100 + 100 * 100 + 2 * 100) + (2 * 100 + 100 * 3 + 2 * 3) + (100 * 2 + 2 * 3 + 100 * 3));
  // Nine operands: pair by pair.
  std::vector<Tensor> many(9, ones({2, 2}));
  EXPECT_EQ(einsum("ab,bc,cd,de,ef,fg,gh,hi,ij->aj", many).to_vector(),
            std::vector<double>(4, 256.0));
}

// ---- mistakes ----

void expect_error(const std::function<void()>& f, const std::vector<std::string>& parts) {
  try {
    f();
    ADD_FAILURE() << "no error: " << parts[0];
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const std::string& part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
    EXPECT_NE(text.find("einsum_test.cc"), std::string::npos) << text;
  }
}

TEST(Einsum, mistakes_name_the_subscript_and_the_operands) {
  const Tensor m = ones({2, 3});
  const Tensor v = ones({4});
  expect_error([&] { einsum("ij,j->i", m, v); },
               {"`j` is 3 in operand 0, f64[2, 3], and 4 in operand 1, f64[4]"});
  expect_error([&] { einsum("ii->i", m); }, {"`i` is 2 in operand 0", "and 3 in operand 0"});
  expect_error([&] { einsum("ij,i->j", m, ones({1})); }, {"`i` is 2", "only those of `...`"});
  expect_error([&] { einsum("ijk->i", m); }, {"names 3 axes of operand 0, which is f64[2, 3]"});
  expect_error([&] { einsum("...ijk->i", m); }, {"names 3 axes and more of operand 0"});
  expect_error([&] { einsum("ij->k", m); }, {"the result names `k`, which no operand has"});
  expect_error([&] { einsum("i->ii", v); }, {"names `i` twice", "eye(n)"});
  expect_error([&] { einsum("ij,j->i", m); }, {"has subscripts for 2 operands, got 1"});
  expect_error([&] { einsum("ij", {m, v}); }, {"has subscripts for 1 operands, got 2"});
  expect_error([&] { einsum("i1->i", m); }, {"`1` does not begin with a subscript"});
  expect_error([&] { einsum("i->i->i", v); }, {"two arrows"});
  expect_error([&] { einsum("i->i,i", v); }, {"one result"});
  expect_error([&] { einsum("......", v); }, {"two ellipses"});
  expect_error([&] { einsum("..i", v); }, {"`..i` does not begin with a subscript"});
  expect_error([&] { einsum("...i->i", m); }, {"no place for the axes of the ellipsis"});
  expect_error([&] { einsum("...i,...i->...i", m, ones({5, 3})); },
               {"axis -1 of the ellipsis is 2 in operand 0", "and 5 in operand 1"});
  expect_error([&] { einsum("i->", full({2}, true)); }, {"adds or multiplies bool", "astype"});
  expect_error([&] { einsum("->", std::vector<Tensor>{}); }, {"no operands"});
}

}  // namespace
}  // namespace hom
