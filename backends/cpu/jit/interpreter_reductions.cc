// backends/cpu/jit/interpreter_reductions.cc -- reductions by combination and dtype
#include <hom/backends/cpu/jit/interpreter_reductions.h>

#include <algorithm>
#include <memory>

#include <hom/backends/cpu/identities.h>
#include <hom/backends/cpu/ordered_sum.h>
#include <hom/backends/cpu/place_of_extreme.h>

namespace hom::cpu {
namespace {

using nest::Combine;

template <class State>
State& state_at(std::byte* bytes) {
  return *reinterpret_cast<State*>(bytes);
}

/// A sum of one sequence, or of W of them.
template <class F, class T, class Identity, std::int64_t W>
struct Ordered {
  using State = OrderedReduction<F, T, W>;

  static void begin(std::byte* state) {
    std::construct_at(reinterpret_cast<State*>(state), Identity::value);
  }
  static void add(std::byte* state, const std::byte* bytes, std::int64_t stride, std::int64_t n) {
    const T* terms = reinterpret_cast<const T*>(bytes);
    if constexpr (W == 1) {
      state_at<State>(state).add_run(terms, stride, n);
    } else {
      state_at<State>(state).add_term(terms, stride, n);
    }
  }
  static void finish(std::byte* state, std::byte* results, std::int64_t n) {
    state_at<State>(state).finish(reinterpret_cast<T*>(results), n);
  }
};

/// Terms that are totals of blocks.
template <class F, class T, class Identity>
struct Pairwise {
  using State = PairwiseReduction<F, T>;

  static void begin(std::byte* state) {
    std::construct_at(reinterpret_cast<State*>(state), Identity::value);
  }
  static void add(std::byte* state, const std::byte* bytes, std::int64_t stride, std::int64_t n) {
    const T* terms = reinterpret_cast<const T*>(bytes);
    for (std::int64_t i = 0; i < n; ++i) state_at<State>(state).add(terms[i * stride]);
  }
  static void finish(std::byte* state, std::byte* results, std::int64_t /*n*/) {
    *reinterpret_cast<T*>(results) = state_at<State>(state).finish();
  }
};

/// A place in one sequence, or in each of W.
template <class Beats, class T, std::int64_t W>
struct Places {
  struct State {
    PlaceOfExtreme<Beats, T> places[W];
  };

  static void begin(std::byte* state) { std::construct_at(reinterpret_cast<State*>(state)); }
  static void add(std::byte* state, const std::byte* bytes, std::int64_t stride, std::int64_t n) {
    const T* terms = reinterpret_cast<const T*>(bytes);
    PlaceOfExtreme<Beats, T>* places = state_at<State>(state).places;
    for (std::int64_t i = 0; i < n; ++i) places[W == 1 ? 0 : i].next(terms[i * stride]);
  }
  static void finish(std::byte* state, std::byte* results, std::int64_t n) {
    auto* to = reinterpret_cast<std::int64_t*>(results);
    for (std::int64_t i = 0; i < n; ++i) to[i] = state_at<State>(state).places[i].place();
  }
};

template <class Functions>
ReductionFunctions functions_of(bool begins_with_loop) {
  static_assert(std::is_trivially_destructible_v<typename Functions::State>);
  return {sizeof(typename Functions::State), begins_with_loop, &Functions::begin, &Functions::add,
          &Functions::finish};
}

template <class F, template <class> class Identity>
ReductionFunctions ordered(Dtype dtype, bool side_by_side) {
  return visit(dtype, [&]<class T>() -> ReductionFunctions {
    using Computed = scalar::Compute<T>;
    if constexpr (std::is_invocable_v<F, Computed, Computed>) {
      return side_by_side ? functions_of<Ordered<F, T, Identity<Computed>, reduced_lanes>>(false)
                          : functions_of<Ordered<F, T, Identity<Computed>, 1>>(false);
    } else {
      throw Bug("interpreter: a reduction of a dtype that does not combine so");
    }
  });
}

template <class F, template <class> class Identity>
ReductionFunctions logical(bool side_by_side) {
  return side_by_side ? functions_of<Ordered<F, bool, Identity<bool>, reduced_lanes>>(false)
                      : functions_of<Ordered<F, bool, Identity<bool>, 1>>(false);
}

template <class F, template <class> class Identity>
ReductionFunctions pairwise(Dtype dtype) {
  return visit(dtype, [&]<class T>() -> ReductionFunctions {
    using Computed = scalar::Compute<T>;
    if constexpr (std::is_invocable_v<F, Computed, Computed>) {
      return functions_of<Pairwise<F, T, Identity<Computed>>>(false);
    } else {
      throw Bug("interpreter: a reduction of a dtype that does not combine so");
    }
  });
}

template <class Beats>
ReductionFunctions places(Dtype dtype, bool side_by_side) {
  return visit(dtype, [&]<class T>() -> ReductionFunctions {
    return side_by_side ? functions_of<Places<Beats, T, reduced_lanes>>(true)
                        : functions_of<Places<Beats, T, 1>>(true);
  });
}

}  // namespace

ReductionFunctions reduction_functions(Combine combine, Dtype dtype, bool side_by_side) {
  switch (combine) {
    case Combine::sum:
      return ordered<scalar::Add, SumIdentity>(dtype, side_by_side);
    case Combine::prod:
      return ordered<scalar::Mul, ProdIdentity>(dtype, side_by_side);
    case Combine::max:
      return ordered<scalar::Max, MaxIdentity>(dtype, side_by_side);
    case Combine::min:
      return ordered<scalar::Min, MinIdentity>(dtype, side_by_side);
    case Combine::and_:
      return logical<scalar::And, AndIdentity>(side_by_side);
    case Combine::or_:
      return logical<scalar::Or, OrIdentity>(side_by_side);
    case Combine::argmax:
      return places<scalar::Gt>(dtype, side_by_side);
    case Combine::argmin:
      return places<scalar::Lt>(dtype, side_by_side);
    case Combine::set:
      break;
  }
  throw Bug("interpreter: nothing is reduced by `set`");
}

ReductionFunctions pairwise_functions(Combine combine, Dtype dtype) {
  switch (combine) {
    case Combine::sum:
      return pairwise<scalar::Add, SumIdentity>(dtype);
    case Combine::prod:
      return pairwise<scalar::Mul, ProdIdentity>(dtype);
    case Combine::max:
      return pairwise<scalar::Max, MaxIdentity>(dtype);
    case Combine::min:
      return pairwise<scalar::Min, MinIdentity>(dtype);
    case Combine::and_:
    case Combine::or_:
      // No order changes a bit.
      return reduction_functions(combine, dtype, false);
    default:
      throw Bug("interpreter: nothing else is reduced pairwise");
  }
}

}  // namespace hom::cpu
