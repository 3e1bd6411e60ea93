// core/executor.h -- how concrete tensors are computed: the interface that core declares and a
// backend supplies
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hom/core/primitive.h>

namespace hom {

/// One step to be computed.
struct Invocation {
  const Primitive& primitive;
  const Attributes& attributes;
  std::span<const TensorType> result_types;
  const Location& at;
};

/// Computes steps on concrete tensors. Implementations are stateless or thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Results of one step whose types have been checked. An operand whose array nobody else owns may
  /// be overwritten.
  virtual TensorList execute(const Invocation& step, TensorList operands) = 0;
  /// Results of a `composite` step by a kernel for the name in its attribute `name`, if there is
  /// one that takes these operands; otherwise they are left as they are, and its decomposition is
  /// evaluated.
  virtual std::optional<TensorList> composite(const Invocation&, TensorList&) {
    return std::nullopt;
  }
};

/// The executor of the backend that the program is linked with (`backends/cpu`); defined there.
Executor& default_executor();

/// The executor in force on this thread: that of the innermost `ExecutorScope`, or the default one.
Executor& current_executor();

/// While it lives, this thread computes with `executor`.
class ExecutorScope {
 public:
  explicit ExecutorScope(Executor& executor);
  ~ExecutorScope();
  ExecutorScope(const ExecutorScope&) = delete;
  ExecutorScope& operator=(const ExecutorScope&) = delete;

 private:
  Executor* previous_;
};

/// Results of one step: by the programs inside it, or by the current executor.
TensorList execute(const Invocation& step, TensorList operands);

/// The meaning of a program as a function: results for concrete inputs. Each slot is dropped after
/// its last use, so that executors may write into it. Prepared once for any number of calls; refers
/// to the program.
class Evaluation {
 public:
  explicit Evaluation(const Program& program);
  /// Throws where inputs do not have the program's types.
  std::vector<Tensor> operator()(std::vector<Tensor> inputs, const Location& at) const;

 private:
  /// Finds the views of a tensor that are still needed when an update overwrites it: a copy of such
  /// a view is less than a copy of the whole tensor.
  void find_detached();

  const Program& program_;
  /// For each mention of a slot as an operand, whether it is the last one.
  std::vector<bool> dies_;
  /// For each step, whether its result is copied so that it shares no memory; empty where none is.
  std::vector<bool> detached_;
};

/// The same for one call.
std::vector<Tensor> evaluate(const Program& program, std::vector<Tensor> inputs,
                             const Location& at = Location::current());

}  // namespace hom
