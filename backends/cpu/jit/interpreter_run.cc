// backends/cpu/jit/interpreter_run.cc -- following the instructions of a kernel
#include <algorithm>
#include <cstring>

#include <hom/backends/cpu/jit/interpreter_code.h>

namespace hom::cpu {
namespace {

using Kind = Instruction::Kind;

class Run {
 public:
  Run(const InterpretedKernel& kernel, std::byte* scratch, std::byte* const* arguments,
      std::int64_t low, std::int64_t high, FailureRecord& record)
      : kernel_(kernel), scratch_(scratch), low_(low), high_(high), record_(record) {
    std::copy(kernel.constants.begin(), kernel.constants.end(), scratch);
    for (const RunningReduction& reduction : kernel.reductions)
      reduction.functions.begin(scratch + reduction.offset);
    buffers_ = reinterpret_cast<std::byte**>(scratch + kernel.pointers);
    std::byte** next = std::copy_n(arguments, kernel.argument_count, buffers_);
    for (const std::uint32_t local : kernel.locals) *next++ = scratch + local;
  }

  void run() {
    const std::size_t end = kernel_.instructions.size();
    for (std::size_t at = 0; at < end; ++at) {
      const Instruction& i = kernel_.instructions[at];
      const std::int64_t n = i.is_tile ? lanes_ : 1;
      switch (i.kind) {
        case Kind::unary:
          i.call.unary({bytes(i.to), bytes(i.a)}, {1, i.a.stride}, n);
          break;
        case Kind::binary:
          i.call.binary({bytes(i.to), bytes(i.a), bytes(i.b)}, {1, i.a.stride, i.b.stride}, n);
          break;
        case Kind::ternary:
          i.call.ternary({bytes(i.to), bytes(i.a), bytes(i.b), bytes(i.c)},
                         {1, i.a.stride, i.b.stride, i.c.stride}, n);
          break;
        case Kind::polygamma:
          i.call.parametric(i.number, {bytes(i.to), bytes(i.a)}, {1, i.a.stride}, n);
          break;
        case Kind::log_gamma_slope:
          i.call.parametric_binary(i.number, {bytes(i.to), bytes(i.a), bytes(i.b)},
                                   {1, i.a.stride, i.b.stride}, n);
          break;
        case Kind::index_add:
          for (std::int64_t l = 0; l < n; ++l)
            index(i.to)[l] = index(i.a)[l * i.a.stride] + index(i.b)[l * i.b.stride];
          break;
        case Kind::index_scale:
          for (std::int64_t l = 0; l < n; ++l)
            index(i.to)[l] = index(i.a)[l * i.a.stride] * i.number;
          break;
        case Kind::index_quotient:
          for (std::int64_t l = 0; l < n; ++l)
            index(i.to)[l] = index(i.a)[l * i.a.stride] / i.number;
          break;
        case Kind::index_remainder:
          for (std::int64_t l = 0; l < n; ++l)
            index(i.to)[l] = index(i.a)[l * i.a.stride] % i.number;
          break;
        case Kind::block:
          *index(i.to) = low_ / i.number;
          break;
        case Kind::positions:
          for (std::int64_t l = 0; l < n; ++l) index(i.to)[l] = *index(i.a) + l * i.number;
          break;
        case Kind::load:
          i.call.unary({bytes(i.to), buffers_[i.buffer] + *index(i.a) * i.element_bytes},
                       {1, i.number}, n);
          break;
        case Kind::gather:
          i.call.gather(buffers_[i.buffer], indices(i), mask(i, i.b), bytes(i.to), n);
          break;
        case Kind::store:
          i.call.unary({buffers_[i.buffer] + *index(i.a) * i.element_bytes, bytes(i.b)},
                       {i.number, i.b.stride}, n);
          break;
        case Kind::scatter:
          i.call.scatter(buffers_[i.buffer], indices(i), mask(i, i.c), bytes(i.b), i.b.stride, n);
          break;
        case Kind::check:
          check(i);
          break;
        case Kind::begin_reduction:
          reduction(i).functions.begin(scratch_ + reduction(i).offset);
          break;
        case Kind::add_terms:
          reduction(i).functions.add(scratch_ + reduction(i).offset, bytes(i.a), i.a.stride, n);
          break;
        case Kind::finish_reduction:
          reduction(i).functions.finish(scratch_ + reduction(i).offset, bytes(i.to), n);
          break;
        case Kind::begin_loop:
        case Kind::begin_tiles:
          if (!begin(i)) at = i.target;
          break;
        case Kind::end_loop: {
          Counter& at_loop = counter(i);
          at_loop.position += i.is_reverse ? -1 : 1;
          if (at_loop.position != at_loop.end) at = i.target;
          break;
        }
        case Kind::end_tiles:
          if (next_tile(i)) at = i.target;
          break;
      }
    }
  }

 private:
  std::byte* bytes(const Place& place) const { return scratch_ + place.offset; }
  std::int64_t* index(const Place& place) const {
    return reinterpret_cast<std::int64_t*>(bytes(place));
  }
  Counter& counter(const Instruction& i) const { return *reinterpret_cast<Counter*>(bytes(i.to)); }
  Indices indices(const Instruction& i) const { return {index(i.a), i.a.stride, i.number}; }
  Mask mask(const Instruction& i, const Place& place) const {
    if (!i.is_masked) return {nullptr, 0};
    return {reinterpret_cast<const bool*>(bytes(place)), place.stride};
  }
  const RunningReduction& reduction(const Instruction& i) const {
    return kernel_.reductions[i.target];
  }

  /// Whether there are any iterations.
  bool begin(const Instruction& i) {
    Counter& at = counter(i);
    at = i.is_split ? Counter{low_, high_} : Counter{0, i.number};
    if (at.position >= at.end) return false;
    if (i.is_reverse) at = {at.end - 1, at.position - 1};
    if (i.kind == Kind::begin_tiles) lanes_ = std::min(kernel_.tile, at.end - at.position);
    return true;
  }

  bool next_tile(const Instruction& i) {
    if (failure_in_tile_.failure != 0) {
      record_ = failure_in_tile_;
      failure_in_tile_ = {};
    }
    Counter& at = counter(i);
    at.position += lanes_;
    const bool goes_on = at.position < at.end;
    lanes_ = goes_on ? std::min(kernel_.tile, at.end - at.position) : 1;
    return goes_on;
  }

  /// Iterations have an order, and so have failures: in a tile, that of a lower lane comes first,
  /// whatever is checked first.
  void check(const Instruction& i) {
    if (record_.failure != 0) return;
    const bool* ok = reinterpret_cast<const bool*>(bytes(i.a));
    const std::int64_t lanes = i.a.stride == 0 ? 1 : lanes_;
    const void* found = std::memchr(ok, 0, static_cast<std::size_t>(lanes));
    if (found == nullptr) return;
    const std::int64_t lane = static_cast<const bool*>(found) - ok;
    const FailureRecord failure{i.number, index(i.b)[lane * i.b.stride]};
    if (!i.is_tile) {
      record_ = failure;
    } else if (failure_in_tile_.failure == 0 || lane < failed_lane_) {
      failure_in_tile_ = failure;
      failed_lane_ = lane;
    }
  }

  const InterpretedKernel& kernel_;
  std::byte* scratch_;
  std::byte** buffers_;
  std::int64_t low_;
  std::int64_t high_;
  FailureRecord& record_;
  std::int64_t lanes_ = 1;
  FailureRecord failure_in_tile_ = {};
  std::int64_t failed_lane_ = 0;
};

}  // namespace

void run(const InterpretedKernel& kernel, std::byte* scratch, std::byte* const* arguments,
         std::int64_t low, std::int64_t high, FailureRecord& record) {
  Run(kernel, scratch, arguments, low, high, record).run();
}

}  // namespace hom::cpu
