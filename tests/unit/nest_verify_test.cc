// tests/unit/nest_verify_test.cc -- kernels that are not well-formed, each named after the mistake
#include <functional>

#include "nest_support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hom::testing {
namespace {

/// Nodes of `softmax`, in order.
enum : Value { row, column, start, index_of, element, largest, shifted, power, sum, result };

Loop& outer(Kernel& kernel) { return std::get<Loop>(kernel.body[0].is); }
Loop& inner(Kernel& kernel, std::size_t which) {
  return std::get<Loop>(outer(kernel).body[1 + which].is);
}

void expect_refused(const std::string& why, const std::function<void(Kernel&)>& spoil) {
  Kernel kernel = softmax(3, 8);
  ASSERT_NO_THROW(verify(kernel));
  spoil(kernel);
  try {
    verify(kernel);
    FAIL() << "not refused: " << why << "\n" << to_string(kernel);
  } catch (const Bug& bug) {
    EXPECT_THAT(bug.what(), ::testing::HasSubstr("kernel `softmax`: " + why));
    EXPECT_THAT(bug.what(), ::testing::HasSubstr("axes a0"));  // the text of the kernel
  }
}

TEST(Verify, operands_are_earlier_known_and_of_one_dtype) {
  expect_refused("v6 has an operand that is not an earlier node",
                 [](Kernel& k) { k.nodes[shifted].operands[1] = power; });
  expect_refused("the operand v7 is not known where it is used", [](Kernel& k) {
    inner(k, 1).body.erase(inner(k, 1).body.begin() + 3);
    inner(k, 1).reductions.clear();
    inner(k, 2).body.erase(inner(k, 2).body.begin() + 3);
  });
  expect_refused("the operand v5 is not known where it is used",
                 [](Kernel& k) { inner(k, 0).reductions.clear(); });
  expect_refused("the operand v5 is f64, not f32", [](Kernel& k) { k.nodes[largest].dtype = f64; });
  expect_refused("v7, exp, has a wrong number of operands",
                 [](Kernel& k) { k.nodes[power].operands.push_back(element); });
  expect_refused("v7, sin, has a wrong dtype", [](Kernel& k) {
    k.nodes[power].function = Function::sin;
    k.nodes[power].dtype = f64;
  });
  expect_refused("v7, not, does not take this dtype",
                 [](Kernel& k) { k.nodes[power].function = Function::not_; });
  expect_refused("v6, eq, has a wrong dtype",
                 [](Kernel& k) { k.nodes[shifted].function = Function::eq; });
  expect_refused("v7 is known by its loop and cannot be computed elsewhere",
                 [](Kernel& k) { k.nodes[power] = {Node::Kind::reduced, {}, f32, {}, 99}; });
  expect_refused("v2 is computed where it is known already",
                 [](Kernel& k) { inner(k, 1).body.push_back({Define{start}}); });
  expect_refused("there is no v77", [](Kernel& k) { outer(k).body.push_back({Define{77}}); });
}

TEST(Verify, indices_are_i64) {
  expect_refused("v3 is an index that is not i64",
                 [](Kernel& k) { k.nodes[index_of].dtype = i32; });
  expect_refused("the index v3 is f32, not i64",
                 [](Kernel& k) { k.nodes[index_of] = {Node::Kind::constant, {}, f32, {}, 0}; });
  expect_refused("v2 divides by a number that is not positive", [](Kernel& k) {
    k.nodes[start].kind = Node::Kind::index_quotient;
    k.nodes[start].number = 0;
  });
  expect_refused("v2 takes bits of another size",
                 [](Kernel& k) { k.nodes[start] = {Node::Kind::bitcast, {}, i32, {row}}; });
}

TEST(Verify, axes_have_their_loops) {
  expect_refused("a0 has no positions", [](Kernel& k) { k.axes[0] = 0; });
  expect_refused("there is no axis 5", [](Kernel& k) { k.nodes[row].number = 5; });
  expect_refused("there is no axis 5", [](Kernel& k) { k.vector_axis = 5; });
  expect_refused("the operand v0 is a position outside the loops along its axis",
                 [](Kernel& k) { k.body.insert(k.body.begin(), {Define{start}}); });
  expect_refused("a loop along no axis", [](Kernel& k) { inner(k, 0).axes.clear(); });
  expect_refused("a loop along a0 inside one along it",
                 [](Kernel& k) { inner(k, 0).axes.push_back(0); });
  expect_refused("the vector axis a1 is not the last of its loop", [](Kernel& k) {
    k.axes.push_back(2);
    inner(k, 0).axes.push_back(2);
  });
  expect_refused("the loop along the vector axis a1 has an order",
                 [](Kernel& k) { inner(k, 0).reverse = true; });
  expect_refused("tiles of a loop that has not two axes",
                 [](Kernel& k) { inner(k, 0).tile = {8, 64}; });
  expect_refused("splittable, but not one loop without reductions and carries", [](Kernel& k) {
    k.body.push_back({Define{start}}), k.body.pop_back(), k.body.push_back(k.body[0]);
  });
}

TEST(Verify, buffers_are_used_as_declared) {
  expect_refused("there is no buffer 4", [](Kernel& k) { k.nodes[element].number = 4; });
  expect_refused("v4 loads from a buffer that is not read",
                 [](Kernel& k) { k.buffers[0].is_read = false; });
  expect_refused("v4 has not its buffer's dtype", [](Kernel& k) { k.buffers[0].dtype = f64; });
  expect_refused("a store into a buffer that is not written: y",
                 [](Kernel& k) { k.buffers[1].is_written = false; });
  expect_refused("the stored value v9 is f32, not f16",
                 [](Kernel& k) { k.buffers[1].dtype = f16; });
  expect_refused("buffer 1 is an argument after a local one",
                 [](Kernel& k) { k.buffers[0].is_local = true; });
  const auto combine_by = [](Combine combine) {
    return [combine](Kernel& k) { std::get<Store>(inner(k, 2).body.back().is).combine = combine; };
  };
  expect_refused("a store cannot combine by argmax in f32", combine_by(Combine::argmax));
  expect_refused("a store cannot combine by or in f32", combine_by(Combine::or_));
  expect_refused("the condition v9 is f32, not bool",
                 [](Kernel& k) { std::get<Store>(inner(k, 2).body.back().is).when = result; });
}

TEST(Verify, reductions_and_carries_fit_their_loops) {
  expect_refused("v5 cannot be the set of f32",
                 [](Kernel& k) { inner(k, 0).reductions[0].combine = Combine::set; });
  expect_refused("v5 cannot be the and of f32",
                 [](Kernel& k) { inner(k, 0).reductions[0].combine = Combine::and_; });
  expect_refused("the result v5 is f32, not i64",
                 [](Kernel& k) { inner(k, 0).reductions[0].combine = Combine::argmin; });
  expect_refused("the term v6 is not known where it is used",
                 [](Kernel& k) { inner(k, 0).reductions[0].term = shifted; });
  expect_refused("v2 is a result but not a reduced value",
                 [](Kernel& k) { inner(k, 0).reductions[0].result = start; });
  expect_refused("the loop along the vector axis a1 has an order",
                 [](Kernel& k) { inner(k, 0).carries.push_back({largest, element, element}); });
  expect_refused("v5 is a state but not a carried value",
                 [](Kernel& k) { outer(k).carries.push_back({largest, row, row}); });
  expect_refused("the initial value v0 is a position outside", [](Kernel& k) {
    k.nodes.push_back({Node::Kind::carried, {}, i64, {}, 0});
    outer(k).axes = {1};
    outer(k).carries.push_back({10, row, row});
    k.vector_axis = std::nullopt;
  });
  expect_refused("there is no failure 0", [](Kernel& k) {
    k.nodes.push_back({Node::Kind::constant, {}, bool_, {}, 1});
    outer(k).body.push_back({Check{10, row, 0}});
  });
}

}  // namespace
}  // namespace hom::testing
