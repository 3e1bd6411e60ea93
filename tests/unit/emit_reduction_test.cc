// tests/unit/emit_reduction_test.cc -- emitted reductions have the order of the eager ones, in each
// of their forms
#include "emit_cpp_support.h"

#include <hom/backends/nests/nest_functions.h>

namespace hom::testing {
namespace {

using nest::Combine;
using nest::Kernel;
using nest::Value;

class emitted_reductions : public ::testing::TestWithParam<cpu::Target> {};

constexpr Combine all_combines[] = {Combine::sum,  Combine::prod, Combine::max,    Combine::min,
                                    Combine::and_, Combine::or_,  Combine::argmax, Combine::argmin};

std::vector<Combine> combines_of(Dtype dtype) {
  std::vector<Combine> list;
  for (const Combine combine : all_combines) {
    if (nest::takes(combine, dtype)) list.push_back(combine);
  }
  return list;
}

Tensor eager(Combine combine, const Tensor& x, std::int64_t axis) {
  const std::string name(name_of(combine));
  if (combine >= Combine::argmax) return run(name, {{"axis", {axis}}}, x);
  return run("reduce_" + name, {{"axes", {Shape{axis}}}}, x);
}

/// Reduces one axis of x[rows, columns] in all ways at once. `vector` is the axis of vectors, if
/// there is one: the reduced one, or the other, whose results are then computed side by side.
Kernel reduction_kernel(Dtype dtype, const Shape& shape, std::size_t reduced,
                        std::optional<std::size_t> vector) {
  const std::size_t kept = 1 - reduced;
  KernelSketch sketch;
  sketch.buffer(dtype, shape[0] * shape[1], false);
  sketch.axis(shape[0]);
  sketch.axis(shape[1]);
  nest::Loop outer;
  outer.axes = {static_cast<nest::Axis>(kept)};
  nest::Loop inner;
  inner.axes = {static_cast<nest::Axis>(reduced)};
  const Value row =
      sketch.define(inner.body, nest::Node::Kind::index_scale, i64, {sketch.position(0)}, shape[1]);
  const Value index =
      sketch.define(inner.body, nest::Node::Kind::index_add, i64, {row, sketch.position(1)});
  const Value term = sketch.load(inner.body, 0, index);
  std::int64_t number = 0;
  for (const Combine combine : combines_of(dtype)) {
    const Value result = sketch.node(nest::Node::Kind::reduced,
                                     combine >= Combine::argmax ? i64 : dtype, {}, number++);
    inner.reductions.push_back({combine, term, result});
  }
  outer.body.push_back({inner});
  const Value at = sketch.position(static_cast<nest::Axis>(kept));
  for (const nest::Reduction& reduction : inner.reductions) {
    const std::uint32_t to =
        sketch.buffer(sketch.kernel.nodes[reduction.result].dtype, shape[kept], true);
    outer.body.push_back({nest::Store{to, at, reduction.result}});
  }
  sketch.kernel.body.push_back({outer});
  if (vector) sketch.kernel.vector_axis = static_cast<nest::Axis>(*vector);
  return sketch.kernel;
}

template <Element T>
T zeros_and_small(Random& random) {
  // Many zeros of both signs: an extreme or a product takes the first of them, a sum +0.
  if constexpr (dtype_of<T>().is_float()) {
    const std::int64_t kind = uniform(random, 0, 3);
    return narrow<T>(kind < 3 ? (kind == 0 ? 0.0 : -0.0) : -1.0);
  } else {
    return random_element<T>(random);
  }
}

TEST_P(emitted_reductions, are_those_of_the_eager_executor) {
  Random random(1);
  KernelBatch batch;
  for (const Dtype dtype : all_dtypes) {
    for (const std::int64_t extent : {1, 3, 7, 8, 9, 63, 64, 65, 1000}) {
      for (int form = 0; form < 3; ++form) {
        // Rows that are reduced in vectors, columns side by side, and one after the other.
        const std::size_t reduced = form == 1 ? 0 : 1;
        const Shape shape = form == 1 ? Shape{extent, 19} : Shape{3, extent};
        const std::optional<std::size_t> vector =
            form == 2 ? std::nullopt : std::optional<std::size_t>(1);
        const Kernel kernel = reduction_kernel(dtype, shape, reduced, vector);
        visit(dtype, [&]<class T>() {
          bool is_first = true;
          for (const auto draw : {&tame_element<T>, &random_element<T>, &zeros_and_small<T>}) {
            const Tensor x = random_row<T>(random, shape, draw);
            std::vector<Tensor> wanted;
            for (const Combine combine : combines_of(dtype))
              wanted.push_back(eager(combine, x, static_cast<std::int64_t>(reduced)));
            if (is_first) {
              batch.add(std::string(dtype.name()) + ", extent " + std::to_string(extent) +
                            ", form " + std::to_string(form),
                        kernel, {x}, wanted);
            } else {
              batch.add_elements({x}, wanted);
            }
            is_first = false;
          }
        });
      }
    }
  }
  batch.check(GetParam());
}

INSTANTIATE_TEST_SUITE_P(targets, emitted_reductions, ::testing::ValuesIn(cpu::host_targets()),
                         target_name);

}  // namespace
}  // namespace hom::testing
