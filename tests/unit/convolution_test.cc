// tests/unit/convolution_test.cc -- convolutions against loops over indices, their transposes and
// derivatives
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hom/hom.h>

namespace hom {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  /// Small integers, so that every dtype holds the sums exactly.
  Tensor tensor_of(const TensorType& type) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < type.size(); ++i)
      values.push_back(static_cast<double>(below(4)) - (type.dtype.is_unsigned_integer() ? 0 : 1));
    return tensor(values, type.shape).astype(type.dtype);
  }

 private:
  std::mt19937 engine_;
};

/// Calls f(index) for every index of the shape, in row-major order.
void for_each_index(const Shape& shape, const std::function<void(const Shape&)>& f) {
  if (element_count(shape) == 0) return;
  Shape index(shape.size(), 0);
  for (;;) {
    f(index);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::size_t flat(const Shape& index, const Shape& shape) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) place = place * shape[i] + index[i];
  return static_cast<std::size_t>(place);
}

struct Example {
  Convolution c;
  Tensor x;
  Tensor kernel;

  std::string text() const {
    return "x " + to_string(x.type()) + " kernel " + to_string(kernel.type()) + " stride " +
           to_string(c.stride) + " low " + to_string(c.low) + " high " + to_string(c.high) +
           " lhs dilation " + to_string(c.lhs_dilation) + " rhs dilation " +
           to_string(c.rhs_dilation) + " groups " + std::to_string(c.groups);
  }
};

struct Result {
  Shape shape;
  std::vector<double> values;
};

/// By the definition: x with zeros between and around (or cut off), then every window of it.
Result by_loops(const Example& e) {
  const Shape x = e.x.shape();
  const Shape w = e.kernel.shape();
  const std::vector<double> values = e.x.to_vector();
  const std::vector<double> weights = e.kernel.to_vector();
  const std::size_t spatial = x.size() - 2;
  Result y;
  y.shape.push_back(x[0]);
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t places =
        x[i + 1] == 0 ? 0 : x[i + 1] + (x[i + 1] - 1) * (e.c.lhs_dilation[i] - 1);
    const std::int64_t all = places + e.c.low[i] + e.c.high[i];
    const std::int64_t reach = w[i] + (w[i] - 1) * (e.c.rhs_dilation[i] - 1);
    std::int64_t count = 0;
    while (count * e.c.stride[i] + reach <= all) ++count;
    y.shape.push_back(count);
  }
  y.shape.push_back(w.back());
  const std::int64_t in = w[spatial];
  const std::int64_t out = w.back() / e.c.groups;
  Shape places(w.begin(), w.end() - 2);
  for_each_index(y.shape, [&](const Shape& o) {
    double sum = 0;
    for_each_index(places, [&](const Shape& k) {
      for (std::int64_t channel = 0; channel < in; ++channel) {
        Shape p = x;
        Shape q = w;
        p[0] = o[0];
        for (std::size_t i = 0; i < spatial; ++i) {
          const std::int64_t place =
              o[i + 1] * e.c.stride[i] + k[i] * e.c.rhs_dilation[i] - e.c.low[i];
          if (place < 0 || place % e.c.lhs_dilation[i] != 0) return;
          p[i + 1] = place / e.c.lhs_dilation[i];
          if (p[i + 1] >= x[i + 1]) return;
          q[i] = k[i];
        }
        p[spatial + 1] = o.back() / out * in + channel;
        q[spatial] = channel;
        q[spatial + 1] = o.back();
        sum += values[flat(p, x)] * weights[flat(q, w)];
      }
    });
    y.values.push_back(sum);
  });
  return y;
}

Example random_example(Dtype dtype, Random& random) {
  Example e;
  const std::int64_t spatial = random.below(4);
  const auto extent = [&](std::int64_t most) {
    return random.below(15) == 0 ? 0 : random.between(1, most);
  };
  e.c.groups = random.below(2) ? 1 : random.between(1, 3);
  Shape x{extent(3)};
  Shape w;
  for (std::int64_t i = 0; i < spatial; ++i) {
    x.push_back(extent(spatial == 1 ? 12 : 6));
    w.push_back(random.between(1, 3));
    e.c.stride.push_back(random.between(1, 3));
    e.c.low.push_back(random.between(-2, 3));
    e.c.high.push_back(random.between(-2, 3));
    e.c.lhs_dilation.push_back(random.below(2) ? 1 : random.between(1, 3));
    e.c.rhs_dilation.push_back(random.below(2) ? 1 : random.between(1, 3));
  }
  const std::int64_t in = random.below(2) ? 1 : extent(3);
  x.push_back(e.c.groups * in);
  w.push_back(in);
  w.push_back(e.c.groups * (random.below(2) ? 1 : extent(3)));
  e.x = random.tensor_of(dtype[x]);
  e.kernel = random.tensor_of(dtype[w]);
  return e;
}

void expect_elements(const Tensor& got, const std::vector<double>& want, double tolerance,
                     const std::string& what) {
  const std::vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(values[i], want[i], tolerance * std::max(1.0, std::abs(want[i])))
        << what << ", element " << i;
  }
}

TEST(Convolution, equals_loops_for_every_dtype) {
  Random random(1);
  int with_values = 0;
  for (int round = 0; round < 2500; ++round) {
    const Dtype dtypes[] = {f64, f32, f16, bf16, i64, i32, u64, u32};
    const Dtype dtype = dtypes[round % 8];
    const Example e = random_example(dtype, random);
    const Result want = by_loops(e);
    const Tensor y = conv_general(e.x, e.kernel, e.c);
    ASSERT_EQ(y.type(), dtype[want.shape]) << e.text();
    expect_elements(y, want.values, 0, e.text());
    with_values += !want.values.empty();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(with_values, 1000);
}

// Numbers of tests/oracles/convolution.py, by NumPy and JAX.

Tensor waves(const Shape& shape, Tensor (*function)(const Operand&)) {
  return function(reshape(arange(element_count(shape), f64), shape));
}

TEST(Convolution, equals_jax_in_value_and_pullback) {
  const ConvOptions options{
      .stride = {2, 1}, .padding = Padding::sides({1, 0}, {0, 2}), .dilation = {2, 1}, .groups = 2};
  const auto f = [&](Tensor x, Tensor w) { return conv(x, w, options); };
  const Tensor x = waves({1, 5, 4, 4}, sin);
  const Tensor w = waves({2, 3, 2, 2}, cos);
  const auto [y, pullback] = vjp(f, wrt<0, 1>)(x, w);
  expect_elements(
      y,
      {-0.9334438690338845, -2.556831580853246, 2.4387957400712557, 2.1270349184103092,
       -1.4799173342053338, -0.16216982746891956, 0.13786147067140103, -0.5896436017622055,
       -1.549524253621997, -4.350234109673122, 4.0629130687955834, 3.593202302770806,
       -2.3912898242553924, -0.33354730244657504, 0.1577550242356696, -0.9317467743065868},
      1e-14, "value");
  const auto [of_x, of_w] = pullback(cos(2 * reshape(arange(y.size(), f64), y.shape())));
  expect_elements(of_x,
                  {0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   -0.11380552159089252,
                   0.5352641814337905,
                   -0.020860467367849037,
                   -0.3375668648422452,
                   -0.4751891653030496,
                   -0.5183989389829293,
                   0.6328375292084771,
                   0.34689190975842826,
                   1.2080475501692192,
                   -0.4326155776354328,
                   -1.3334342278501132,
                   0.41709843718182993,
                   -0.7145549684146947,
                   1.1383875803827133,
                   1.006993643050818,
                   -1.114501308681715,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   -0.8081247435885893,
                   -0.13094769332977918,
                   0.5992022716338787,
                   -0.5016346219117526,
                   1.2614733436022036,
                   -0.5765585497329935,
                   -1.0891061830997755,
                   1.4125163320510656,
                   -0.4236621759384729,
                   1.285086426584328,
                   0.5005226336963944,
                   -1.831961222860324,
                   -1.0519868495443918,
                   -0.25959763832699834,
                   0.5096743052468714,
                   1.055241306902906,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0,
                   0.0},
                  1e-14, "in x");
  expect_elements(
      of_w,
      {0.0033670891552303388, -0.14612997869971678, 1.8447926165112487,   1.5015283552910732,
       -1.128928411110501,    -1.4075499944275074,  -1.136741141315231,   -1.7764916951528857,
       0.9777874962012228,    1.4915230051963313,   -0.14406917554033383, 1.035532822599733,
       0.6862553355624817,    0.4428858878353361,   0.14091777818843254,  0.1474111009950292,
       0.17847082686404903,   -0.2751031584298637,  0.40874793067610804,  0.4208497056963232,
       -0.7075736874904113,   0.1287472443908379,   -0.5105243394786156,  -0.5328381583713934},
      1e-14, "in the kernel");
}

TEST(Convolution, the_transpose_equals_jax) {
  const Tensor x = conv_transpose(waves({1, 3, 2}, sin), waves({3, 1, 2}, cos), {.stride = {2}});
  expect_elements(x,
                  {0.4546487134128409, -0.833049961066805, 1.2242383911390595, -0.5181089967534271,
                   -1.829237544674809, 1.2642688010379097, 0.222668567867006},
                  1e-14, "transpose");
}

TEST(Convolution, bytes_wrap) {
  const Tensor x = full({1, 3, 1}, 100, i8);
  const Tensor w = full({2, 1, 1}, 3, i8);
  EXPECT_EQ(conv(x, w).to_vector(), (std::vector<double>{88, 88}));
  EXPECT_EQ(conv(x.astype(u8), w.astype(u8)).to_vector(), (std::vector<double>{88, 88}));
}

TEST(Convolution, pullbacks_are_adjoint) {
  Random random(2);
  for (int round = 0; round < 1200; ++round) {
    const Example e = random_example(f64, random);
    const auto f = [&](Tensor x, Tensor w) { return conv_general(x, w, e.c); };
    const Tensor dx = random.tensor_of(e.x.type());
    const Tensor dw = random.tensor_of(e.kernel.type());
    const Tensor y = f(e.x, e.kernel);
    const Tensor ct = random.tensor_of(y.type());
    const auto [of_x, of_w] = vjp(f, wrt<0, 1>)(e.x, e.kernel).second(ct);
    ASSERT_EQ(of_x.type(), e.x.type()) << e.text();
    ASSERT_EQ(of_w.type(), e.kernel.type()) << e.text();
    // ⟨ȳ, conv(dx, w)⟩ = ⟨x̄, dx⟩ for the values that the loops give, which are whole numbers.
    const auto inner = [](const std::vector<double>& a, const std::vector<double>& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    const Result along_x = by_loops({e.c, dx, e.kernel});
    const Result along_w = by_loops({e.c, e.x, dw});
    ASSERT_EQ(inner(ct.to_vector(), along_x.values), inner(of_x.to_vector(), dx.to_vector()))
        << e.text();
    ASSERT_EQ(inner(ct.to_vector(), along_w.values), inner(of_w.to_vector(), dw.to_vector()))
        << e.text();
    const Tensor tangent = jvp(f, wrt<0, 1>)(e.x, e.kernel, dx, dw).second;
    std::vector<double> both = along_x.values;
    for (std::size_t i = 0; i < both.size(); ++i) both[i] += along_w.values[i];
    expect_elements(tangent, both, 0, e.text());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Convolution, lanes_equal_the_loop) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const Example e = random_example(f64, random);
    const auto f = [&](Tensor x, Tensor w) { return conv_general(x, w, e.c); };
    const auto lanes = [&](const Tensor& like) {
      std::vector<Tensor> parts;
      for (int lane = 0; lane < 3; ++lane) parts.push_back(random.tensor_of(like.type()));
      return stack(parts);
    };
    const Tensor xs = lanes(e.x);
    const Tensor ws = lanes(e.kernel);
    const Tensor of_both = vmap(f)(xs, ws);
    const Tensor of_x = vmap(f, {0, unmapped})(xs, e.kernel);
    const Tensor of_w = vmap(f, {unmapped, 0})(e.x, ws);
    for (int lane = 0; lane < 3; ++lane) {
      ASSERT_TRUE(array_equal(of_both(lane), f(xs(lane), ws(lane)))) << e.text();
      ASSERT_TRUE(array_equal(of_x(lane), f(xs(lane), e.kernel))) << e.text();
      ASSERT_TRUE(array_equal(of_w(lane), f(e.x, ws(lane)))) << e.text();
    }
    EXPECT_EQ(vmap(f)(xs(Range{0, 0}), ws(Range{0, 0})).extent(0), 0);
  }
}

TEST(Convolution, views_give_the_same_bits) {
  const Tensor x = reshape(sin(arange(120, f64)), {2, 5, 4, 3});
  const Tensor w = reshape(cos(arange(72, f64)), {3, 2, 3, 4});
  for (const Tensor& view : {flip(x, {1, 2}), transpose(reshape(x, {5, 2, 4, 3}), {1, 0, 2, 3}),
                             broadcast_to(x(0), {2, 5, 4, 3})}) {
    EXPECT_TRUE(array_equal(conv(view, w), conv(copy(view), w)));
  }
  const Tensor turned = transpose(reshape(w, {2, 3, 3, 4}), {1, 0, 2, 3});
  EXPECT_TRUE(array_equal(conv(x, turned), conv(x, copy(turned))));
}

TEST(Convolution, each_output_has_the_bits_of_a_product_of_its_patch) {
  // Whatever the block, the group and the layout: also beyond 64 terms, where lanes come in.
  for (const Dtype dtype : {f32, f64}) {
    const Tensor x = sin(reshape(arange(2 * 9 * 8 * 12, f64), {2, 9, 8, 12})).astype(dtype);
    const Tensor w = cos(reshape(arange(3 * 3 * 12 * 5, f64), {3, 3, 12, 5})).astype(dtype);
    const Tensor y = conv(x, w, {.stride = {2, 1}});
    for (std::int64_t i = 0; i < y.extent(1); ++i) {
      for (std::int64_t j = 0; j < y.extent(2); ++j) {
        const Tensor patch = x(1, Range{2 * i, 2 * i + 3}, Range{j, j + 3});
        const Tensor product = matmul(reshape(patch, {1, 108}), reshape(w, {108, 5}));
        ASSERT_TRUE(array_equal(y(1, i, j), product(0)));
      }
    }
    // Depthwise with many places: chunks and lanes.
    const Tensor long_signal = sin(reshape(arange(700 * 3, f64), {700, 3})).astype(dtype);
    const Tensor long_kernel = cos(reshape(arange(600 * 3, f64), {600, 1, 3})).astype(dtype);
    const Tensor sums = conv(long_signal, long_kernel, {.groups = 3});
    for (std::int64_t c = 0; c < 3; ++c) {
      const Range one{c, c + 1};
      ASSERT_TRUE(
          array_equal(sums(all, one), conv(long_signal(all, one), long_kernel(all, all, one))));
    }
    // Depthwise: each channel alone.
    const Tensor kernel = cos(reshape(arange(3 * 2 * 12, f64), {3, 2, 1, 12})).astype(dtype);
    const Tensor each = conv(x, kernel, {.padding = Padding::same(), .groups = 12});
    for (std::int64_t c = 0; c < 12; ++c) {
      const Range one{c, c + 1};
      ASSERT_TRUE(array_equal(each(ellipsis, one), conv(x(ellipsis, one), kernel(ellipsis, one),
                                                        {.padding = Padding::same()})));
    }
  }
}

TEST(Convolution, sixteen_bits_accumulate_in_32) {
  for (const Dtype dtype : {f16, bf16}) {
    const Tensor x = full({1, 1000, 1}, 1.0, dtype);
    const Tensor w = full({1000, 1, 1}, 1.0, dtype);
    EXPECT_EQ(conv(x, w).item(), 1000);
    const Tensor wide = full({1, 4, 600}, 1.0, dtype);
    EXPECT_EQ(conv(wide, full({2, 600, 1}, 1.0, dtype))(0, 0, 0).item(), 1200);
  }
}

TEST(Convolution, options_of_images) {
  Random random(4);
  const Tensor x = random.tensor_of(f64[{2, 3, 7, 6, 4}]);
  const Tensor w = random.tensor_of(f64[{3, 2, 2, 6}]);
  const ConvOptions options{
      .stride = {2, 1}, .padding = Padding::sides({1, 0}, {2, 1}), .dilation = {2, 3}, .groups = 2};
  const Tensor y = conv(x, w, options);
  const Example e{{{2, 1}, {1, 0}, {2, 1}, {1, 1}, {2, 3}, 2}, reshape(x, {6, 7, 6, 4}), w};
  expect_elements(y, by_loops(e).values, 0, "groups and all");
  EXPECT_EQ(y.shape(), (Shape{2, 3, 3, 4, 6}));
  EXPECT_TRUE(array_equal(conv(x(1, 2), w, options), y(1, 2)));
  ConvOptions first = options;
  first.channels = Channels::first;
  EXPECT_TRUE(array_equal(conv(move_axis(x, -1, 2), transpose(w, {3, 2, 0, 1}), first),
                          move_axis(y, -1, 2)));
}

TEST(Convolution, same_padding_keeps_the_extents) {
  for (std::int64_t n = 1; n < 8; ++n) {
    for (std::int64_t k = 1; k < 5; ++k) {
      for (std::int64_t s = 1; s < 4; ++s) {
        const Tensor x = reshape(arange(n, f64), {n, 1});
        const Tensor w = ones({k, 1, 1});
        const Tensor y = conv(x, w, {.stride = {s}, .padding = Padding::same()});
        ASSERT_EQ(y.extent(0), (n + s - 1) / s);
      }
    }
  }
}

TEST(Convolution, the_transpose_is_adjoint) {
  Random random(5);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t spatial = random.between(1, 3);
    const std::int64_t groups = random.between(1, 2);
    Shape x{random.between(1, 2)};
    Shape w;
    ConvOptions options{.groups = groups};
    Shape low, high;
    for (std::int64_t i = 0; i < spatial; ++i) {
      x.push_back(random.between(4, 7));
      w.push_back(random.between(1, 3));
      options.stride.push_back(random.between(1, 3));
      options.dilation.push_back(w.back() == 3 ? 1 : random.between(1, 2));
      low.push_back(random.below(3));
      high.push_back(random.below(3));
    }
    const std::int64_t rule = random.below(3);
    options.padding = rule == 0   ? Padding::valid()
                      : rule == 1 ? Padding::same()
                                  : Padding::sides(low, high);
    const std::int64_t in = random.between(1, 2);
    x.push_back(in * groups);
    w.push_back(in);
    w.push_back(groups * random.between(1, 2));
    options.channels = random.below(2) ? Channels::last : Channels::first;
    const Tensor a = random.tensor_of(f64[x]);
    const Tensor kernel = random.tensor_of(f64[w]);
    const bool first = options.channels == Channels::first;
    const auto laid = [&](const Tensor& t) { return first ? move_axis(t, -1, 1) : t; };
    const Tensor weights = first ? move_axis(move_axis(kernel, -1, 0), -1, 1) : kernel;
    const Tensor y = conv(laid(a), weights, options);
    const Tensor ct = random.tensor_of(y.type());
    const ConvTransposeOptions back{options.stride,   options.padding,
                                    options.dilation, groups,
                                    options.channels, Shape(x.begin() + 1, x.end() - 1)};
    const Tensor pulled = conv_transpose(ct, weights, back);
    ASSERT_EQ(pulled.shape(), laid(a).shape());
    ASSERT_EQ(sum(y * ct).item(), sum(laid(a) * pulled).item());
    ASSERT_TRUE(array_equal(
        pulled, vjp([&](Tensor t) { return conv(t, weights, options); })(laid(a)).second(ct)));
    // The smallest extents, where none are given.
    ConvTransposeOptions smallest = back;
    smallest.extents = {};
    const Tensor small = conv_transpose(ct, weights, smallest);
    ASSERT_EQ(conv(small, weights, options).shape(), y.shape());
  }
}

TEST(Convolution, gradients_equal_finite_differences) {
  const Tensor x = reshape(sin(arange(40, f64)), {2, 5, 2, 2});
  const Tensor w = reshape(cos(arange(36, f64)), {3, 2, 2, 3});
  const auto f = [](Tensor a, Tensor b) {
    return sum(sin(conv(a, b, {.stride = {2, 1}, .padding = Padding::same()})));
  };
  EXPECT_NO_THROW(check_derivatives(f, x, w));
  EXPECT_NO_THROW(check_derivatives(grad(f, wrt<0, 1>), x, w));
  const auto g = [](Tensor a, Tensor b) {
    return sum(exp(0.1 * conv_transpose(a, b, {.stride = {2, 1}, .groups = 2})));
  };
  EXPECT_NO_THROW(check_derivatives(g, reshape(x, {2, 2, 5, 2}), reshape(w, {3, 3, 2, 2})));
}

TEST(Convolution, padding_is_zero_and_an_infinite_weight_on_it_gives_nan) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = ones({1, 3, 1});
  const Tensor w = reshape(tensor({inf, 1.0, 0.0}), {3, 1, 1});
  const std::vector<double> y = conv(x, w, {.padding = {1}}).to_vector();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], inf);
  // The gaps of a dilation are no terms at all.
  const Tensor z = conv_general(x, w, {{1}, {0}, {0}, {2}, {1}, 1});
  EXPECT_EQ(z.to_vector(), (std::vector<double>{inf, 1, inf}));
}

TEST(Convolution, empty_tensors) {
  EXPECT_EQ(conv(ones({0, 5, 5, 3}), ones({3, 3, 3, 4})).shape(), (Shape{0, 3, 3, 4}));
  EXPECT_EQ(conv(ones({2, 5, 5, 3}), ones({3, 3, 3, 0})).shape(), (Shape{2, 3, 3, 0}));
  EXPECT_EQ(sum(abs(conv(ones({2, 5, 5, 0}), ones({3, 3, 0, 4})))).item(), 0);
  EXPECT_EQ(conv(ones({2, 0, 5, 3}), ones({3, 3, 3, 4})).shape(), (Shape{2, 0, 3, 4}));
  const auto f = [](Tensor w) { return sum(conv(ones({2, 0, 5, 3}), w)); };
  EXPECT_EQ(sum(abs(grad(f)(ones({3, 3, 3, 4})))).item(), 0);
  EXPECT_EQ(conv_transpose(ones({2, 0, 3}), ones({2, 1, 3}), {.stride = {2}}).shape(),
            (Shape{2, 0, 1}));
}

TEST(Convolution, dtypes_promote) {
  EXPECT_EQ(conv(ones({1, 3, 1}, f32), ones({2, 1, 1}, i64)).dtype(), f32);
  EXPECT_EQ(conv(ones({1, 3, 1}, f16), ones({2, 1, 1}, bf16)).dtype(), f32);
}

// ---- which elements results depend on ----

TEST(Convolution, patterns_are_exactly_those_of_the_jacobian) {
  Random random(6);
  for (int round = 0; round < 60; ++round) {
    Example e = random_example(f64, random);
    if (e.x.size() > 60 || e.x.size() == 0 || e.kernel.size() == 0) continue;
    const auto f = [&](Tensor x) { return conv_general(x, e.kernel, e.c); };
    const SparsityPattern pattern = sparsity(f)(e.x);
    // Known weights that are 0 count, so the pattern is that of the numbers.
    const Tensor dense = jacobian(f)(e.x);
    const std::vector<double> entries = dense.to_vector();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % e.x.size();
      const auto row = static_cast<std::int64_t>(i) / e.x.size();
      ASSERT_EQ(pattern.contains(row, column), entries[i] != 0) << e.text();
    }
  }
}

TEST(Convolution, patterns_of_windows) {
  const auto f = [](Tensor x) { return window_max(x, {.window = {3}, .stride = {2}}); };
  EXPECT_EQ(to_string(sparsity(f)(f64[{5}])), "x x x . .\n. . x x x\n");
  const auto g = [&](Tensor x) { return vjp(f)(x).second(ones({1})); };
  // Which element wins does not vary.
  EXPECT_EQ(to_string(sparsity(g)(f64[{3}])), ". . .\n. . .\n. . .\n");
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
    EXPECT_NE(text.find("convolution_test.cc"), std::string::npos) << text;
  }
}

TEST(Convolution, mistakes_name_shapes) {
  const Tensor x = ones({2, 8, 8, 3});
  const Tensor w = ones({3, 3, 3, 4});
  expect_error([&] { conv(x, ones({3, 3, 1, 4})); },
               {"conv: x f64[2, 8, 8, 3] has 3 channels, and a kernel f64[3, 3, 1, 4] takes 1"});
  expect_error([&] { conv(x, w, {.groups = 3}); }, {"takes 3 for each of 3 groups"});
  expect_error([&] { conv(x, ones({3, 3, 1, 4}), {.groups = 3}); },
               {"3 groups do not divide the 4 channels"});
  expect_error([&] { conv(x, w, {.groups = 0}); }, {"conv: 0 groups"});
  expect_error([&] { conv(x, ones({9, 3, 3, 4})); },
               {"conv: a window of 9 does not fit axis 1 of f64[2, 8, 8, 3]"});
  expect_error([&] { conv(x, w, {.stride = {2}}); }, {"stride [2] has 1 entries for 2"});
  expect_error([&] { conv(x, w, {.dilation = {0, 1}}); }, {"dilation [0, 1]"});
  expect_error([&] { conv(ones({3}), w); }, {"a kernel f64[3, 3, 3, 4] does not fit x f64[3]"});
  expect_error([&] { conv(x, ones({3, 4})); }, {"a kernel f64[3, 4] does not fit x"});
  expect_error([&] { conv(x, ones({0, 3, 3, 4})); }, {"the window [0, 3] has an entry outside 1"});
  expect_error([&] { conv(full({1, 3, 1}, true), full({1, 1, 1}, true)); }, {"takes numbers"});
  const Tensor y = ones({2, 4, 4, 4});
  expect_error([&] { conv_transpose(y, ones({3, 3, 4, 3})); },
               {"conv_transpose: y f64[2, 4, 4, 4] has 4 channels, and a kernel", "made 3"});
  expect_error([&] { conv_transpose(y, w, {.stride = {2, 2}, .extents = {20, 9}}); },
               {"a convolution of extent 20 makes 9 along axis 0 of the spatial ones, not 4"});
  expect_error([&] { conv_general(x, w, {{1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}, 1}); },
               {"conv_general: stride [1] needs one entry for each of 2 spatial axes"});
}

}  // namespace
}  // namespace hom
