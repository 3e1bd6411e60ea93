// core/primitives/programs.h -- what primitives with programs inside share
#pragma once

#include <vector>

#include <hom/core/batched_program.h>
#include <hom/core/executor.h>
#include <hom/core/linearization.h>
#include <hom/core/primitives/rules.h>

namespace hom {

ProgramPtr shared(Program program);
TensorList to_list(std::vector<Tensor> tensors);
std::vector<Tensor> to_vector(const TensorList& tensors);

/// Which of the tensors are not empty.
std::vector<bool> present(std::span<const Tensor> tensors);
void append_present(std::vector<Tensor>& list, std::span<const Tensor> tensors);
/// Results in order, with an empty tensor where the mask is false.
std::vector<Tensor> spread(std::span<const Tensor> present_ones, const std::vector<bool>& mask);
/// The entries for which the mask holds.
template <class T>
std::vector<T> filtered(std::span<const T> list, const std::vector<bool>& mask) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (mask[i]) kept.push_back(list[i]);
  }
  return kept;
}
bool any_marked(const std::vector<bool>& mask);

/// The program with its inputs and outputs in another order: input i of the result is input
/// inputs[i] of the program, output k its output outputs[k].
Program rearranged(const Program& program, std::span<const std::size_t> inputs,
                   std::span<const std::size_t> outputs);
/// The program with its inputs in another order.
Program rearranged(const Program& program, std::span<const std::size_t> inputs);
/// The program with those outputs only that are marked.
Program with_outputs(const Program& program, const std::vector<bool>& wanted);
/// Which outputs of the program are not literally zero.
std::vector<bool> nonzero_outputs(const Program& program);
/// Which slots (outputs) depend on the inputs marked.
std::vector<bool> dependent_slots(const Program& program, const std::vector<bool>& inputs);
std::vector<bool> dependent_outputs(const Program& program, const std::vector<bool>& inputs);
/// Of a program whose first outputs become its first inputs when it runs again: the inputs marked,
/// and the carries that come to depend on them.
std::vector<bool> with_dependent_carries(const Program& body, std::vector<bool> inputs,
                                         std::size_t carries);
/// Which outputs are zero where the inputs marked are.
std::vector<bool> zero_outputs(const Program& program, const std::vector<bool>& inputs);
/// Of a program whose first outputs become its first inputs when it runs again: which of the inputs
/// marked are zero each time, if they are so at first.
std::vector<bool> lasting_zeros(const Program& body, std::vector<bool> inputs, std::size_t carries);
/// The part of a program that needs no other inputs than those marked: marked inputs… ↦ the slots.
Program restricted(const Program& program, const std::vector<bool>& inputs,
                   const std::vector<Slot>& outputs);

/// Throws unless the operands have the types of the program's inputs.
void require_inputs(const Typing& typing, const Program& program,
                    std::span<const TensorType> operands);

/// f and its derivative as two steps `call`: of the program linearised, and of its linear part.
PrimalAndTangent linearized_call(const LinearizingCall& at, const Program& program);
/// The same as any primitive that takes the attribute `program`, on its operands.
void transpose_call(const Transposing& at);
std::vector<Tensor> batch_call(const Batching& at);
/// As a step of another primitive: `call` or one like it.
void transpose_by_call(const Primitive& call, const Transposing& at);
std::vector<Tensor> batch_by_call(const Primitive& call, const Batching& at);
TensorList run_call(const Invocation& step, TensorList operands);

/// The operands of a program that was batched, under a mask or not.
std::vector<Tensor> with_mask(const Tensor& alive, std::span<const Tensor> operands);
/// The program with the outputs marked repeated for each lane where they are the same for all.
Program with_batched_outputs(const BatchedProgram& batched, const std::vector<bool>& wanted,
                             std::int64_t size);
/// The body of a loop for many lanes. Carries whose results are batched are batched from the start;
/// these are marked in `batched`, which comes back so. With a mask, that is the last input.
BatchedProgram batched_body(const Batching& at, const Program& body, std::vector<bool>& batched,
                            std::size_t carries);
/// A program whose first input is the mask, with the mask last: among what the closure held.
Program mask_last(const Program& program);
/// a where the lane's condition holds, else b: condition bool [size], a and b batched or the same
/// for all lanes; batched.
Tensor select_lanes(const Tensor& condition, const Tensor& a, const Tensor& b,
                    const TensorType& type);

}  // namespace hom
