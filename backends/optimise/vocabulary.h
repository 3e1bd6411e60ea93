// backends/optimise/vocabulary.h -- the primitives that rules speak of, looked up once
#pragma once

#include <hom/core/primitive.h>

namespace hom::optimiser {

/// Hom's own primitives by name; `and`, `or`, `xor` and `not` are words of C++, so they end in `_`.
struct Vocabulary {
  static const Primitive& find(const char* name) { return standard_primitives().find(name); }

  // leaves
  const Primitive& constant = find("constant");
  const Primitive& captured = find("captured");
  const Primitive& iota = find("iota");
  const Primitive& random_bits = find("random_bits");
  // one operand
  const Primitive& neg = find("neg");
  const Primitive& abs = find("abs");
  const Primitive& sign = find("sign");
  const Primitive& round = find("round");
  const Primitive& floor = find("floor");
  const Primitive& ceil = find("ceil");
  const Primitive& sqrt = find("sqrt");
  const Primitive& rsqrt = find("rsqrt");
  const Primitive& exp = find("exp");
  const Primitive& expm1 = find("expm1");
  const Primitive& log = find("log");
  const Primitive& log1p = find("log1p");
  const Primitive& sin = find("sin");
  const Primitive& cos = find("cos");
  const Primitive& tanh = find("tanh");
  const Primitive& erf = find("erf");
  const Primitive& logistic = find("logistic");
  const Primitive& is_finite = find("is_finite");
  const Primitive& not_ = find("not");
  const Primitive& convert = find("convert");
  const Primitive& bitcast = find("bitcast");
  const Primitive& stop_gradient = find("stop_gradient");
  // two operands
  const Primitive& add = find("add");
  const Primitive& sub = find("sub");
  const Primitive& mul = find("mul");
  const Primitive& div = find("div");
  const Primitive& rem = find("rem");
  const Primitive& pow = find("pow");
  const Primitive& max = find("max");
  const Primitive& min = find("min");
  const Primitive& scale = find("scale");
  const Primitive& eq = find("eq");
  const Primitive& ne = find("ne");
  const Primitive& lt = find("lt");
  const Primitive& le = find("le");
  const Primitive& gt = find("gt");
  const Primitive& ge = find("ge");
  const Primitive& and_ = find("and");
  const Primitive& or_ = find("or");
  const Primitive& xor_ = find("xor");
  const Primitive& shift_left = find("shift_left");
  const Primitive& shift_right = find("shift_right");
  const Primitive& select = find("select");
  // shapes
  const Primitive& broadcast = find("broadcast_in_dim");
  const Primitive& reshape = find("reshape");
  const Primitive& transpose = find("transpose");
  const Primitive& slice = find("slice");
  const Primitive& pad = find("pad");
  const Primitive& concat = find("concat");
  // reads and writes
  const Primitive& gather = find("gather");
  const Primitive& scatter = find("scatter");
  const Primitive& dynamic_slice = find("dynamic_slice");
  const Primitive& dynamic_update_slice = find("dynamic_update_slice");
  const Primitive& update_slice = find("update_slice");
  // reductions and contractions
  const Primitive& reduce_sum = find("reduce_sum");
  const Primitive& reduce_prod = find("reduce_prod");
  const Primitive& reduce_max = find("reduce_max");
  const Primitive& reduce_min = find("reduce_min");
  const Primitive& reduce_and = find("reduce_and");
  const Primitive& reduce_or = find("reduce_or");
  const Primitive& dot_general = find("dot_general");
  // programs inside
  const Primitive& call = find("call");
  const Primitive& custom_jvp = find("custom_jvp");
  const Primitive& custom_vjp = find("custom_vjp");
  const Primitive& custom_linear = find("custom_linear");
  const Primitive& composite = find("composite");
  const Primitive& checkpoint = find("checkpoint");
  const Primitive& cond = find("cond");
  const Primitive& scan = find("scan");
  const Primitive& while_ = find("while");
  const Primitive& barrier = find("barrier");
};

inline const Vocabulary& words() {
  static const Vocabulary vocabulary;
  return vocabulary;
}

}  // namespace hom::optimiser
