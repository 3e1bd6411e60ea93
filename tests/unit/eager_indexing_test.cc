// tests/unit/eager_indexing_test.cc -- computed positions against loops over indices
#include <algorithm>

#include "eager_support.h"

namespace hom::testing {
namespace {

/// Index tensors of some integer dtype: coordinates in range, or up to two out of it on either
/// side.
Tensor random_indices(Random& random, Shape shape, const Shape& extents, bool in_range) {
  const auto k = static_cast<std::int64_t>(extents.size());
  shape.push_back(k);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const std::int64_t extent = extents[static_cast<std::size_t>(i % k)];
    values.push_back(in_range ? uniform(random, 0, extent - 1) : uniform(random, -2, extent + 1));
  }
  const Tensor indices = tensor(values, shape);
  const Dtype dtypes[] = {i8, i32, i64};
  return run("convert", {{"dtype", {dtypes[uniform(random, 0, 2)]}}}, indices);
}

/// A random case of gather and scatter, and the coordinates that each element of the gathered shape
/// means.
struct Lookup {
  Shape x_shape, axes, outer;
  Tensor indices;
  std::string mode;

  explicit Lookup(Random& random) {
    x_shape = random_shape(random);
    Shape extents;
    for (std::size_t axis = 0; axis < x_shape.size(); ++axis) {
      if (x_shape[axis] > 0 && uniform(random, 0, 1))
        axes.push_back(static_cast<std::int64_t>(axis));
    }
    std::shuffle(axes.begin(), axes.end(), random);
    for (std::int64_t axis : axes) extents.push_back(x_shape[static_cast<std::size_t>(axis)]);
    for (std::int64_t n = uniform(random, 0, 2); n > 0; --n) outer.push_back(uniform(random, 0, 4));
    const char* modes[] = {"check", "clip", "drop"};
    mode = modes[uniform(random, 0, 2)];
    indices = random_indices(random, outer, extents, mode == "check");
  }
  Shape gathered() const {
    Shape shape = outer;
    for (std::size_t axis = 0; axis < x_shape.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) == axes.end())
        shape.push_back(x_shape[axis]);
    }
    return shape;
  }
  /// False where the index is dropped.
  bool source(const Shape& index, Shape& coordinates) const {
    coordinates.assign(x_shape.size(), -1);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      Shape where(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(outer.size()));
      where.push_back(static_cast<std::int64_t>(i));
      std::int64_t value = visit(indices.dtype(), [&]<class I>() {
        return static_cast<std::int64_t>(element<I>(indices, where));
      });
      const std::int64_t extent = x_shape[static_cast<std::size_t>(axes[i])];
      if (mode == "drop" && (value < 0 || value >= extent)) return false;
      if (mode == "clip") value = std::clamp<std::int64_t>(value, 0, extent - 1);
      coordinates[static_cast<std::size_t>(axes[i])] = value;
    }
    std::size_t next = outer.size();
    for (std::int64_t& coordinate : coordinates) {
      if (coordinate < 0) coordinate = index[next++];
    }
    return true;
  }
};

TEST(EagerIndexing, GatherMatchesLoops) {
  Random random(15);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 100; ++round) {
      const Lookup lookup(random);
      const Tensor x = random_tensor<T>(random, lookup.x_shape);
      std::vector<T> want;
      Shape coordinates;
      for (const Shape& index : indices_of(lookup.gathered())) {
        want.push_back(lookup.source(index, coordinates) ? element<T>(x, coordinates) : T{});
      }
      expect_elements<T>(
          run("gather", {{"axes", {lookup.axes}}, {"mode", {lookup.mode}}}, x, lookup.indices),
          want, 0, "gather");
    }
  });
}

TEST(EagerIndexing, ScatterMatchesLoopsInRowMajorOrder) {
  Random random(16);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (const char* combine : {"set", "add", "mul", "min", "max"}) {
      if (std::same_as<T, bool> && combine != std::string("set")) continue;
      for (int round = 0; round < 40; ++round) {
        const Lookup lookup(random);
        const Tensor x = random_tensor<T>(random, lookup.x_shape, tame_element<T>);
        const Tensor updates = random_tensor<T>(random, lookup.gathered(), tame_element<T>);
        Grid<T> want(x);
        Shape coordinates;
        for (const Shape& index : indices_of(lookup.gathered())) {
          if (!lookup.source(index, coordinates)) continue;
          want.at(coordinates) =
              combined<T>(combine, want.at(coordinates), element<T>(updates, index));
        }
        const Attributes attributes{
            {"axes", {lookup.axes}}, {"combine", {std::string(combine)}}, {"mode", {lookup.mode}}};
        expect_elements<T>(run("scatter", attributes, x, lookup.indices, updates), want.values, 4,
                           combine);
      }
    }
  });
}

TEST(EagerIndexing, DynamicSliceAndItsUpdateMatchLoops) {
  Random random(17);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 80; ++round) {
      const Tensor x = random_tensor<T>(random, random_shape(random));
      const bool clips = uniform(random, 0, 1);
      Shape size;
      std::vector<std::int64_t> start, inside;
      for (std::int64_t extent : x.shape()) {
        size.push_back(uniform(random, 0, extent));
        const std::int64_t last = extent - size.back();
        start.push_back(clips ? uniform(random, -2, last + 2) : uniform(random, 0, last));
        inside.push_back(std::clamp<std::int64_t>(start.back(), 0, last));
      }
      const auto at = [&](const Shape& index) {
        Shape source;
        for (std::size_t i = 0; i < index.size(); ++i) source.push_back(inside[i] + index[i]);
        return source;
      };
      const Tensor where = row_of(start);
      const std::string mode = clips ? "clip" : "check";
      expect_elements<T>(run("dynamic_slice", {{"size", {size}}, {"mode", {mode}}}, x, where),
                         picked<T>(x, size, at), 0, "dynamic_slice");
      for (const char* combine : combines<T>()) {
        const Tensor update = random_tensor<T>(random, size);
        Grid<T> want(x);
        for (const Shape& index : indices_of(size))
          want.at(at(index)) = combined<T>(combine, want.at(at(index)), element<T>(update, index));
        expect_elements<T>(
            run("dynamic_update_slice", {{"combine", {std::string(combine)}}, {"mode", {mode}}}, x,
                update, where),
            want.values, 1, "dynamic_update_slice");
      }
    }
  });
}

void expect_error(const std::string& text, const std::function<void()>& mistake) {
  try {
    mistake();
    ADD_FAILURE() << "no error: " << text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

TEST(EagerIndexing, CheckedIndicesOutOfRangeAreErrorsThatNameIndexAxisAndType) {
  const Tensor x = row_of<float>({1, 2, 3});
  const auto indices = [](std::int64_t i) { return tensor<std::int64_t>({i}, Shape{1, 1}); };
  const Attributes gathering{{"axes", {Shape{0}}}, {"mode", {std::string("check")}}};
  expect_error("gather: index 3 is out of range on axis 0 of f32[3]",
               [&] { run("gather", gathering, x, indices(3)); });
  expect_error("gather: index -1 is out of range on axis 0",
               [&] { run("gather", gathering, x, indices(-1)); });
  const Tensor huge = tensor<std::uint64_t>({UINT64_MAX}, Shape{1, 1});
  expect_error("gather: index 9223372036854775807 is out of range",
               [&] { run("gather", gathering, x, huge); });
  const Attributes scattering{
      {"axes", {Shape{0}}}, {"combine", {std::string("set")}}, {"mode", {std::string("check")}}};
  expect_error("scatter: index 4 is out of range on axis 0 of f32[3]",
               [&] { run("scatter", scattering, x, indices(4), row_of<float>({9})); });
  const Tensor two = row_of<std::int64_t>({2});
  expect_error(
      "dynamic_slice: a window of 2 that starts at index 2 is out of range on axis 0, whose extent "
      "is 3",
      [&] {
        run("dynamic_slice", {{"size", {Shape{2}}}, {"mode", {std::string("check")}}}, x, two);
      });
  expect_error("dynamic_update_slice: a window of 2", [&] {
    run("dynamic_update_slice",
        {{"combine", {std::string("set")}}, {"mode", {std::string("check")}}}, x,
        row_of<float>({1, 2}), two);
  });
}

TEST(EagerIndexing, AnEmptyAxisHasNothingToClampTo) {
  const Tensor empty = tensor(std::vector<float>{}, Shape{0, 2});
  const Tensor indices = tensor<std::int64_t>({0, 5}, Shape{2, 1});
  const Tensor read =
      run("gather", {{"axes", {Shape{0}}}, {"mode", {std::string("clip")}}}, empty, indices);
  EXPECT_EQ(elements<float>(read), (std::vector<float>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace hom::testing
