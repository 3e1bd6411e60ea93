// core/operations/update.h -- updates as values: x.at(i).set(v), and their effect on a variable:
// x.at(i) = v
//
// `x.at(i…)` names the elements that x(i…) reads. Its `set`, `add`, `mul`, `min` and `max` return
// x with those elements replaced, or combined with v; x keeps its value.
//
//     y = x.at(0).set(1.0);                  // y is x but for its first element
//     x.at(all, ids) += v;                   // x is now another tensor; its copies are not
//     x = std::move(x).at(Range{0, 3}).set(0);
//
// An update takes place in the old tensor's memory where nobody needs that any more, and then costs
// as much as what it writes: in a program where the old value dies, eagerly of a variable (`x.at(i)
// = v`) or of a value given away (`std::move(x).at(i)`) that shares its memory with no other
// tensor.
//
// v broadcasts to the shape of x(i…) and adopts the dtype of x: a C++ number has to fit it, a
// tensor of a wider dtype is an `Error`. Where an integer tensor names an element several times,
// `set` keeps the last of the values and the others combine all of them. Positions in tensors count
// from 0; what happens to one outside is said by `Bounds`, as for `scatter`. C++ numbers as indices
// may count from the end, and are an `Error` outside. bool elements are set only.
//
// A bool tensor of x's leading shape is a mask: v then broadcasts to the shape of x's other axes,
// since how many elements are true is not known while a program is captured. For the same reason a
// mask cannot be read.
#pragma once

#include <span>
#include <vector>

#include <hom/core/operations/indexing.h>

namespace hom {

/// x with `value` combined in at the indices. x is given away: it is overwritten where nobody else
/// holds its elements.
Tensor update(Tensor x, std::span<const Index> indices, Combine combine, const Operand& value,
              Bounds bounds = Bounds::drop);

/// The elements of a value at some indices: `x.at(i…)`.
class Elements {
 public:
  /// The indices end at the first one that is absent.
  Elements(Tensor x, std::initializer_list<Index> indices);

  /// x(i…). A position in a tensor that is outside raises unless `bounds` says otherwise.
  Tensor get(Bounds bounds = Bounds::check) const;

  /// x with the elements set to `value`, increased by it, multiplied by it, or replaced by the
  /// lesser or greater of both.
  Tensor set(const Operand& value, Bounds bounds = Bounds::drop) const&;
  Tensor add(const Operand& value, Bounds bounds = Bounds::drop) const&;
  Tensor mul(const Operand& value, Bounds bounds = Bounds::drop) const&;
  Tensor min(const Operand& value, Bounds bounds = Bounds::drop) const&;
  Tensor max(const Operand& value, Bounds bounds = Bounds::drop) const&;
  Tensor set(const Operand& value, Bounds bounds = Bounds::drop) &&;
  Tensor add(const Operand& value, Bounds bounds = Bounds::drop) &&;
  Tensor mul(const Operand& value, Bounds bounds = Bounds::drop) &&;
  Tensor min(const Operand& value, Bounds bounds = Bounds::drop) &&;
  Tensor max(const Operand& value, Bounds bounds = Bounds::drop) &&;

  Elements(const Elements&) = default;
  Elements(Elements&&) noexcept = default;
  ~Elements() = default;
  template <class T>
  void operator=(const T&) const {
    static_assert(!std::same_as<T, T>,
                  "hom: x.at(i) = v gives the variable x a new tensor, so x is a variable that is "
                  "not const. Of a value, x.at(i).set(v) is the new tensor.");
  }
  void operator=(const Elements&) = delete;

 private:
  Tensor x_;
  std::vector<Index> indices_;
};

/// The elements of a variable at some indices. Assigning to them gives the variable a new tensor,
/// as `x += y` does; tensors that were copied from it keep their value. Refers to the variable. A
/// position in a tensor that is outside is ignored. The variable keeps its value where an update
/// throws for a mistake of the user.
class VariableElements {
 public:
  VariableElements(Tensor& variable, std::initializer_list<Index> indices);

  Tensor get(Bounds bounds = Bounds::check) const;
  Tensor set(const Operand& value, Bounds bounds = Bounds::drop) const;
  Tensor add(const Operand& value, Bounds bounds = Bounds::drop) const;
  Tensor mul(const Operand& value, Bounds bounds = Bounds::drop) const;
  Tensor min(const Operand& value, Bounds bounds = Bounds::drop) const;
  Tensor max(const Operand& value, Bounds bounds = Bounds::drop) const;

  VariableElements(const VariableElements&) = default;
  ~VariableElements() = default;
  Tensor& operator=(const Operand& value);
  Tensor& operator=(const Elements& other);
  Tensor& operator=(const VariableElements& other);
  Tensor& operator+=(const Operand& value);
  Tensor& operator-=(const Operand& value);
  Tensor& operator*=(const Operand& value);
  /// Of integers rounds down, as `/` does. By an integer tensor of positions it costs as much as
  /// x has elements, since divisors of one element are multiplied first.
  Tensor& operator/=(const Operand& value);

 private:
  Tensor& assign(Combine combine, const Operand& value);

  Tensor* variable_;
  std::vector<Index> indices_;
};

}  // namespace hom
