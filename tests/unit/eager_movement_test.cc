// tests/unit/eager_movement_test.cc -- views and rearrangements against loops over indices
#include <algorithm>

#include "eager_support.h"

namespace hom::testing {
namespace {

TEST(EagerViews, ConstantIsOneElementSeenEverywhere) {
  for_each_dtype(every_dtype, [&]<class T>() {
    const Tensor x =
        run("constant", {{"value", {1.0}}, {"dtype", {dtype_of<T>()}}, {"shape", {Shape{2, 3}}}});
    expect_elements<T>(x, std::vector<T>(6, narrow<T>(1)), 0, "constant");
    EXPECT_EQ(x.array().strides, (Shape{0, 0}));
    EXPECT_EQ(x.array().buffer->bytes(), sizeof(T));
  });
  EXPECT_EQ(run("constant", {{"value", {1.0}}, {"dtype", {f32}}, {"shape", {Shape{0, 3}}}}).size(),
            0);
  EXPECT_EQ(run("constant", {{"value", {UINT64_MAX}}, {"dtype", {u64}}, {"shape", {Shape{}}}})
                .item<std::uint64_t>(),
            UINT64_MAX);
}

TEST(EagerViews, IotaCountsAlongItsAxis) {
  for_each_dtype(numbers, [&]<class T>() {
    for (const Shape& shape :
         {Shape{4}, Shape{2, 3}, Shape{2, 3, 4}, Shape{0, 2}, Shape{2, 0}, Shape{1, 1}}) {
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        std::vector<T> want;
        for (const Shape& index : indices_of(shape)) want.push_back(narrow<T>(index[axis]));
        expect_elements<T>(run("iota", {{"dtype", {dtype_of<T>()}},
                                        {"shape", {shape}},
                                        {"axis", {static_cast<std::int64_t>(axis)}}}),
                           want, 0, "iota");
      }
    }
  });
}

TEST(EagerViews, BroadcastTransposeSliceAndReshapeMatchLoops) {
  Random random(11);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 60; ++round) {
      const Tensor x = random_tensor<T>(random, random_shape(random));
      const Shape shape = x.shape();
      const std::size_t rank = shape.size();

      Shape permutation;
      for (std::size_t i = 0; i < rank; ++i) permutation.push_back(static_cast<std::int64_t>(i));
      std::shuffle(permutation.begin(), permutation.end(), random);
      Shape permuted;
      for (std::int64_t axis : permutation)
        permuted.push_back(shape[static_cast<std::size_t>(axis)]);
      const Tensor transposed = run("transpose", {{"permutation", {permutation}}}, x);
      EXPECT_EQ(transposed.array().buffer, x.array().buffer);
      expect_elements<T>(transposed,
                         picked<T>(x, permuted,
                                   [&](const Shape& index) {
                                     Shape source(rank, 0);
                                     for (std::size_t i = 0; i < rank; ++i)
                                       source[static_cast<std::size_t>(permutation[i])] = index[i];
                                     return source;
                                   }),
                         0, "transpose");

      Shape wide_shape, axes;
      for (std::size_t i = 0; i < rank; ++i) {
        if (uniform(random, 0, 2) == 0) wide_shape.push_back(uniform(random, 0, 3));
        axes.push_back(static_cast<std::int64_t>(wide_shape.size()));
        wide_shape.push_back(shape[i] == 1 ? uniform(random, 0, 3) : shape[i]);
      }
      const Tensor broadcast =
          run("broadcast_in_dim", {{"shape", {wide_shape}}, {"axes", {axes}}}, x);
      EXPECT_EQ(broadcast.array().buffer, x.array().buffer);
      expect_elements<T>(
          broadcast,
          picked<T>(x, wide_shape,
                    [&](const Shape& index) {
                      Shape source;
                      for (std::size_t i = 0; i < rank; ++i) {
                        source.push_back(shape[i] == 1 ? 0
                                                       : index[static_cast<std::size_t>(axes[i])]);
                      }
                      return source;
                    }),
          0, "broadcast_in_dim");

      Shape start, size, step;
      for (std::size_t i = 0; i < rank; ++i) {
        step.push_back(uniform(random, 0, 1) ? uniform(random, 1, 3) : -uniform(random, 1, 3));
        if (shape[i] == 0 || uniform(random, 0, 9) == 0) {
          start.push_back(uniform(random, 0, shape[i]));
          size.push_back(0);
          continue;
        }
        start.push_back(uniform(random, 0, shape[i] - 1));
        const std::int64_t room =
            step[i] > 0 ? (shape[i] - 1 - start[i]) / step[i] : start[i] / -step[i];
        size.push_back(uniform(random, 1, room + 1));
      }
      const Tensor sliced =
          run("slice", {{"start", {start}}, {"size", {size}}, {"step", {step}}}, x);
      // A few elements are copied, so that they do not stand in the way of an update of x.
      if (sliced.size() * static_cast<std::int64_t>(sizeof(T)) > 16) {
        EXPECT_EQ(sliced.array().buffer, x.array().buffer);
      }
      expect_elements<T>(sliced,
                         picked<T>(x, size,
                                   [&](const Shape& index) {
                                     Shape source;
                                     for (std::size_t i = 0; i < rank; ++i)
                                       source.push_back(start[i] + index[i] * step[i]);
                                     return source;
                                   }),
                         0, "slice");

      // A random factorisation of the number of elements.
      Shape reshaped;
      for (std::int64_t left = x.size(); left > 1 || uniform(random, 0, 3) == 0;) {
        std::int64_t factor = uniform(random, 1, 4);
        if (left == 0 || left % factor != 0)
          factor = left <= 1 || uniform(random, 0, 2) == 0 ? left : 1;
        reshaped.insert(uniform(random, 0, 1) ? reshaped.begin() : reshaped.end(), factor);
        left = left == 0 ? 1 : left / factor;
      }
      if (x.size() == 0 && element_count(reshaped) != 0) reshaped.push_back(0);
      expect_elements<T>(run("reshape", {{"shape", {reshaped}}}, x), elements<T>(x), 0, "reshape");
    }
  });
}

TEST(EagerViews, ReshapeSharesTheBufferWhereStridesAllow) {
  const Tensor x =
      run("iota", {{"dtype", {f32}}, {"shape", {Shape{4, 6}}}, {"axis", {std::int64_t{1}}}});
  EXPECT_EQ(run("reshape", {{"shape", {Shape{2, 2, 3, 2}}}}, x).array().buffer, x.array().buffer);
  const Tensor columns =
      run("slice", {{"start", {Shape{0, 1}}}, {"size", {Shape{4, 4}}}, {"step", {Shape{1, 1}}}}, x);
  EXPECT_EQ(run("reshape", {{"shape", {Shape{2, 2, 2, 2}}}}, columns).array().buffer,
            x.array().buffer);
  EXPECT_NE(run("reshape", {{"shape", {Shape{16}}}}, columns).array().buffer, x.array().buffer);
}

TEST(EagerViews, IdentitiesReturnTheirOperands) {
  const Tensor x = row_of<float>({1, 2});
  EXPECT_EQ(run("stop_gradient", {}, x).array_pointer(), x.array_pointer());
  const Tensor y(3.0);
  TensorList list;
  list.push_back(x);
  list.push_back(y);
  const TensorList both = compute("barrier", {}, std::move(list));
  EXPECT_EQ(both[0].array_pointer(), x.array_pointer());
  EXPECT_EQ(both[1].array_pointer(), y.array_pointer());
}

TEST(EagerMovement, PadAndConcatMatchLoops) {
  Random random(12);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (int round = 0; round < 40; ++round) {
      const Tensor x = random_tensor<T>(random, random_shape(random, 1));
      const std::size_t rank = x.shape().size();
      Shape low, high, interior, shape;
      for (std::size_t i = 0; i < rank; ++i) {
        low.push_back(uniform(random, 0, 2));
        high.push_back(uniform(random, 0, 2));
        interior.push_back(uniform(random, 0, 2));
        shape.push_back(low[i] + x.shape()[i] +
                        std::max<std::int64_t>(x.shape()[i] - 1, 0) * interior[i] + high[i]);
      }
      const Tensor value = random_tensor<T>(random, {});
      Grid<T> padded(shape, element<T>(value, {}));
      for (const Shape& index : indices_of(x.shape())) {
        Shape target;
        for (std::size_t i = 0; i < rank; ++i)
          target.push_back(low[i] + index[i] * (interior[i] + 1));
        padded.at(target) = element<T>(x, index);
      }
      expect_elements<T>(
          run("pad", {{"low", {low}}, {"high", {high}}, {"interior", {interior}}}, x, value),
          padded.values, 0, "pad");

      const std::int64_t axis = uniform(random, 0, static_cast<std::int64_t>(rank) - 1);
      const auto joined = static_cast<std::size_t>(axis);
      TensorList parts;
      Shape total = x.shape();
      total[joined] = 0;
      for (std::int64_t count = uniform(random, 1, 6); count > 0; --count) {
        Shape part = x.shape();
        part[joined] = uniform(random, 0, 3);
        total[joined] += part[joined];
        parts.push_back(random_tensor<T>(random, part));
      }
      Grid<T> whole(total, T{});
      std::int64_t begin = 0;
      for (const Tensor& part : parts) {
        for (Shape index : indices_of(part.shape())) {
          const T moved = element<T>(part, index);
          index[joined] += begin;
          whole.at(index) = moved;
        }
        begin += part.shape()[joined];
      }
      expect_elements<T>(compute("concat", {{"axis", {axis}}}, parts)[0], whole.values, 0,
                         "concat");
    }
  });
}

TEST(EagerMovement, LargeTransposesAreCopiedInTilesRight) {
  std::vector<float> values(3 * 101 * 70);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor x = tensor(values, Shape{3, 101, 70});
  for (const Shape& permutation :
       {Shape{0, 2, 1}, Shape{2, 1, 0}, Shape{2, 0, 1}, Shape{1, 0, 2}}) {
    const Tensor swapped = run("transpose", {{"permutation", {permutation}}}, x);
    const Tensor copied = run("reshape", {{"shape", {Shape{x.size()}}}}, swapped);
    EXPECT_NE(copied.array().buffer, x.array().buffer);
    expect_elements<float>(copied, elements<float>(swapped), 0, "transposed copy");
  }
}

TEST(EagerMovement, UpdateSliceMatchesLoops) {
  Random random(14);
  for_each_dtype(every_dtype, [&]<class T>() {
    for (const char* combine : combines<T>()) {
      for (int round = 0; round < 40; ++round) {
        const Tensor x = random_tensor<T>(random, random_shape(random));
        Shape start, size, step;
        for (std::int64_t extent : x.shape()) {
          step.push_back(uniform(random, 0, 1) ? uniform(random, 1, 3) : -uniform(random, 1, 3));
          start.push_back(extent ? uniform(random, 0, extent - 1) : 0);
          const std::int64_t room = step.back() > 0 ? (extent - 1 - start.back()) / step.back()
                                                    : start.back() / -step.back();
          size.push_back(extent ? uniform(random, 0, room + 1) : 0);
        }
        const Tensor update = random_tensor<T>(random, size);
        Grid<T> want(x);
        for (const Shape& index : indices_of(size)) {
          Shape target;
          for (std::size_t i = 0; i < index.size(); ++i)
            target.push_back(start[i] + index[i] * step[i]);
          want.at(target) = combined<T>(combine, want.at(target), element<T>(update, index));
        }
        const std::vector<T> before = elements<T>(x);
        const Attributes attributes{
            {"start", {start}}, {"step", {step}}, {"combine", {std::string(combine)}}};
        expect_elements<T>(run("update_slice", attributes, x, update), want.values, 1,
                           "update_slice");
        expect_elements<T>(x, before, 0, "operand of update_slice");
      }
    }
  });
}

}  // namespace
}  // namespace hom::testing
