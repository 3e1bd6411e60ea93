// categories/sparse_jacobian.h -- Jacobians and Hessians of which most entries are zero, in as many
// passes as their pattern has colours
//
//     Csr d = sparse_jacobian(f)(x);                 // pattern, colours, passes
//     const auto J = sparse_jacobian(f).prepare(x);  // pattern and colours now
//     for (…) d = J(x);                              // passes only
//
// All passes are one batched call: columns of one colour are summed into one tangent, or rows into
// one cotangent, and each entry is read from the only pass that has it. J is a program of x, so it
// may be captured, differentiated and batched; places are constants of it.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include <hom/categories/colouring.h>
#include <hom/categories/jacobian.h>
#include <hom/categories/sparsity.h>

namespace hom {

/// A sparse matrix [m, n] by compressed rows: the entries of row i are `values(k)` in column
/// `columns(k)`, ascending, for k from `rows(i)` to `rows(i + 1)`. Entries of the pattern that are
/// zero are stored as well.
struct Csr {
  BOOST_HANA_DEFINE_STRUCT(Csr,
                           /// i64 [m + 1]
                           (Tensor, rows),
                           /// i64 [entries]
                           (Tensor, columns),
                           /// floats [entries]
                           (Tensor, values),
                           /// {m, n}
                           (Shape, shape));
};
/// The matrix [m, n] with its zeros.
Tensor to_dense(const Csr& matrix, const Location& at = Location::current());

struct SparseOptions {
  /// Entries to be stored besides those that the pattern has: zeros that a file format asks for.
  std::optional<SparsityPattern> stored = {};
  /// Columns by forward mode, rows by reverse mode, or what needs fewer passes (forward where they
  /// are as many). A Hessian is forward over reverse whatever this says.
  Mode mode = Mode::automatic;
};

/// A sparse derivative as a program of its entries.
struct SparseProgram {
  /// x… ↦ the entries of the pattern, row by row.
  Program values;
  SparsityPattern pattern;
  /// How many directions of forward or reverse mode run at once.
  std::int64_t passes = 0;
  bool forward = true;
};
/// The Jacobian of a program in its active float inputs; see `sparsity` for its rows, columns and
/// `known`. Throws where an output is not a float, and where `stored` is of another size.
SparseProgram sparse_jacobian(const Program& program, const std::vector<bool>& active,
                              const std::vector<Tensor>& known, const SparseOptions& options,
                              const Location& at);
/// The same of a program that is a gradient in these inputs, so that its Jacobian is symmetric.
SparseProgram sparse_hessian(const Program& gradient, const std::vector<bool>& active,
                             const std::vector<Tensor>& known, const SparseOptions& options,
                             const Location& at);

/// A sparse derivative made ready for arguments of certain types: calls pay for the passes only.
class PreparedSparse {
 public:
  PreparedSparse(const char* operation, SparseProgram program, std::vector<Tensor> known,
                 std::vector<Tensor> captured_operands, const Location& at);

  /// The matrix at these arguments, which have the types that it was made for; integers and bools
  /// whose values its pattern depends on have these values. Throws otherwise.
  template <class... Args>
  Csr operator()(const Args&... args) const {
    std::vector<Tensor> inputs;
    const auto append = [&](const auto& argument) {
      for (Tensor& leaf : leaves(argument)) inputs.push_back(std::move(leaf));
    };
    (append(args), ...);
    return at_point(std::move(inputs));
  }

  const SparsityPattern& pattern() const { return made_->program.pattern; }
  std::int64_t passes() const { return made_->program.passes; }
  bool is_forward() const { return made_->program.forward; }
  /// x… ↦ entries.
  const Program& program() const { return made_->program.values; }

 private:
  struct Made {
    const char* operation;
    SparseProgram program;
    std::vector<Tensor> known;
    std::vector<Tensor> captured_operands;
    Tensor rows;
    Tensor columns;
    Location at;
  };
  Csr at_point(std::vector<Tensor> inputs) const;

  std::shared_ptr<const Made> made_;
};

using SparseFunctor = SparseProgram (*)(const Program&, const std::vector<bool>&,
                                        const std::vector<Tensor>&, const SparseOptions&,
                                        const Location&);

/// x… ↦ the sparse derivative of f: see `sparse_jacobian` and `sparse_hessian`.
template <class F, class W>
class SparseDerivative {
 public:
  SparseDerivative(const char* operation, SparseFunctor functor, F f, SparseOptions options,
                   const Location& at)
      : operation_(operation),
        functor_(functor),
        f_(std::move(f)),
        options_(std::move(options)),
        at_(at) {}

  /// Finds the pattern and colours it, each time.
  template <class... Args>
  auto operator()(const Args&... args) const {
    if constexpr (detail::differentiable<F, W, Args...>) return prepare(args...)(args...);
  }
  /// The derivative made ready for arguments like these: types, or example values. Values of
  /// integers and bools count: the pattern belongs to them.
  template <class... Args>
  auto prepare(const Args&... args) const {
    if constexpr (detail::differentiable<F, W, Args...>) {
      detail::require_float_leaves(detail::selected(W{}, args...), at_);
      const auto captured = detail::capture_function(f_, "", at_, args...);
      std::vector<Tensor> known;
      (detail::append_known(known, args), ...);
      known.resize(captured.program.inputs().size());
      const std::vector<bool> active =
          detail::active_inputs(W{}, captured.captured_operands.size(), args...);
      SparseProgram program = functor_(captured.program, active, known, options_, at_);
      return PreparedSparse(operation_, std::move(program), std::move(known),
                            captured.captured_operands, at_);
    }
  }

 private:
  const char* operation_;
  SparseFunctor functor_;
  F f_;
  SparseOptions options_;
  Location at_;
};

/// x… ↦ the Jacobian as a `Csr`, in the arguments of `wrt`: a row for each element of the leaves of
/// the result and a column for each element of the float leaves of these arguments, both in the
/// order of leaves and row-major. Entries are those that may differ from zero (`sparsity`); their
/// dtype is that to which the results and these leaves promote. Throws where f returns other than
/// floats.
template <class F, std::size_t... Is>
  requires(!std::same_as<F, Program>)
auto sparse_jacobian(F f, Wrt<Is...>, SparseOptions options = {},
                     const Location& at = Location::current()) {
  return SparseDerivative<F, Wrt<Is...>>("sparse_jacobian", &sparse_jacobian, std::move(f),
                                         std::move(options), at);
}
template <class F>
  requires(!std::same_as<F, Program>)
auto sparse_jacobian(F f, SparseOptions options = {}, const Location& at = Location::current()) {
  return sparse_jacobian(std::move(f), wrt<0>, std::move(options), at);
}

/// x… ↦ the second derivatives of a scalar function as a `Csr`, with the columns of its gradient
/// for rows and columns. Symmetric: both triangles are stored, and an entry of one is the entry of
/// the other bit for bit.
template <class F, std::size_t... Is>
  requires(!std::same_as<F, Program>)
auto sparse_hessian(F f, Wrt<Is...> in, SparseOptions options = {},
                    const Location& at = Location::current()) {
  auto gradient = grad(std::move(f), in, at);
  return SparseDerivative<decltype(gradient), Wrt<Is...>>(
      "sparse_hessian", &sparse_hessian, std::move(gradient), std::move(options), at);
}
template <class F>
  requires(!std::same_as<F, Program>)
auto sparse_hessian(F f, SparseOptions options = {}, const Location& at = Location::current()) {
  return sparse_hessian(std::move(f), wrt<0>, std::move(options), at);
}

}  // namespace hom
