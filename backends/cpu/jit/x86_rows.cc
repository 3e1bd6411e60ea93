// backends/cpu/jit/x86_rows.cc -- vectors whose lanes go to rows of memory, four at a time
//
// A kernel over observations that writes, say, 30 numbers for each has 30 vectors whose lanes lie
// 30 elements apart. Stored lane by lane each is as many stores as it has lanes. Four of them that
// go side by side are transposed in registers instead, and stored as pieces of rows.
#include <array>
#include <map>
#include <span>

#include <hom/backends/cpu/jit/x86_kernel.h>

namespace hom::cpu::x86 {

namespace {

constexpr std::size_t columns_at_once = 4;
constexpr std::int64_t line_bytes = 64;
/// Lines are asked for so many rounds of the loop before they are written.
constexpr std::int64_t rounds_ahead = 4;

}  // namespace

/// Stores of a block that wait for their neighbours. Stores to different buffers never meet; those
/// to one buffer keep their order but in rows, and come before what reads it.
class KernelEmitter::WaitingStores {
 public:
  explicit WaitingStores(KernelEmitter& emitter) : emitter_(emitter) {}

  /// Whether the store waits, or is done by now.
  bool take(const nest::Store& store) {
    if (!is_column(store)) {
      close(store.buffer);
      return false;
    }
    const Linear index = emitter_.linear_of(store.index);
    const std::int64_t along = *emitter_.stride(store.index);
    if (const auto found = open_.find(store.buffer); found != open_.end()) {
      const Rows& rows = found->second;
      if (rows.along != along || !(rows.index.terms == index.terms) ||
          rows.columns.contains(index.constant))
        close(store.buffer);
    }
    Rows& rows = open_.try_emplace(store.buffer, Rows{index, along, {}}).first->second;
    rows.columns.emplace(index.constant, &store);
    // Fours that begin at multiples of four leave the fewest alone.
    const std::int64_t first = index.constant & ~static_cast<std::int64_t>(columns_at_once - 1);
    std::array<const nest::Store*, columns_at_once> side_by_side{};
    for (std::size_t i = 0; i < columns_at_once; ++i) {
      const auto column = rows.columns.find(first + static_cast<std::int64_t>(i));
      if (column == rows.columns.end()) return true;
      side_by_side[i] = column->second;
    }
    const auto size =
        static_cast<std::int64_t>(emitter_.kernel_.buffers[store.buffer].dtype.size());
    emitter_.store_rows(side_by_side, along, first * size % line_bytes == 0);
    for (std::size_t i = 0; i < columns_at_once; ++i)
      rows.columns.erase(first + static_cast<std::int64_t>(i));
    return true;
  }

  /// Does what has to be done before a value is computed.
  void before(const nest::Define& define) {
    const nest::Node& what = emitter_.node(define.value);
    if (what.kind == nest::Node::Kind::load) close(static_cast<std::uint32_t>(what.number));
  }

  void close() {
    while (!open_.empty()) close(open_.begin()->first);
  }

 private:
  /// Stores to one buffer whose places differ by constants.
  struct Rows {
    Linear index;
    std::int64_t along;
    /// By the constant.
    std::map<std::int64_t, const nest::Store*> columns;
  };

  bool is_column(const nest::Store& store) const {
    const Dtype dtype = emitter_.kernel_.buffers[store.buffer].dtype;
    const int lanes = emitter_.lanes();
    if (lanes == 1 || store.when || store.combine != nest::Combine::set) return false;
    const std::optional<std::int64_t> along = emitter_.stride(store.index);
    return along && *along >= static_cast<std::int64_t>(columns_at_once) &&
           *along <= INT32_MAX / 64 &&
           ((dtype.size() == 8 && lanes == 4) || (dtype == f32 && lanes == 8));
  }

  void close(std::uint32_t buffer) {
    const auto found = open_.find(buffer);
    if (found == open_.end()) return;
    for (const auto& [constant, store] : found->second.columns) emitter_.place(*store);
    open_.erase(found);
  }

  KernelEmitter& emitter_;
  std::map<std::uint32_t, Rows> open_;
};

void KernelEmitter::block(const nest::Block& block) {
  WaitingStores waiting(*this);
  for (const nest::Statement& statement : block) {
    if (const auto* store = std::get_if<nest::Store>(&statement.is)) {
      if (waiting.take(*store)) continue;
    } else if (const auto* define = std::get_if<nest::Define>(&statement.is)) {
      waiting.before(*define);
    } else {
      waiting.close();
    }
    std::visit([&](const auto& is) { place(is); }, statement.is);
  }
  waiting.close();
}

void KernelEmitter::store_rows(std::span<const nest::Store* const> columns, std::int64_t along,
                               bool begins_line) {
  const Scope scope(*this);
  const std::uint32_t buffer = columns[0]->buffer;
  const auto size = static_cast<std::int64_t>(kernel_.buffers[buffer].dtype.size());
  const Gp first = m_.gp();
  cc_.lea(first, address(buffer, columns[0]->index));
  const auto row = [&](std::int64_t lane) {
    return asmjit::x86::ptr(first, static_cast<std::int32_t>(lane * along * size));
  };
  // Pieces of rows come in an order that no processor foresees.
  const std::int64_t ahead = rounds_ahead * lanes() * along * size;
  if (begins_line && along * size >= line_bytes && ahead <= INT32_MAX / 2) {
    for (std::int64_t l = 0; l < lanes(); ++l) {
      Mem later = row(l);
      later.addOffset(ahead);
      cc_.prefetchw(later);
    }
  }
  const auto column = [&](std::size_t i) { return held_in_register(columns[i]->value).ymm(); };
  const Vec a = column(0), b = column(1), c = column(2), d = column(3);
  const auto made = [&](asmjit::InstId id, const Vec& x, const Vec& y, auto... more) {
    return m_.result(id, 32, x, y, more...);
  };
  if (size == 8) {
    const Vec even_ab = made(X86::kIdVunpcklpd, a, b), odd_ab = made(X86::kIdVunpckhpd, a, b);
    const Vec even_cd = made(X86::kIdVunpcklpd, c, d), odd_cd = made(X86::kIdVunpckhpd, c, d);
    m_.store(row(0), made(X86::kIdVperm2f128, even_ab, even_cd, Imm(0x20)), 32);
    m_.store(row(1), made(X86::kIdVperm2f128, odd_ab, odd_cd, Imm(0x20)), 32);
    m_.store(row(2), made(X86::kIdVperm2f128, even_ab, even_cd, Imm(0x31)), 32);
    m_.store(row(3), made(X86::kIdVperm2f128, odd_ab, odd_cd, Imm(0x31)), 32);
    return;
  }
  const Vec low_ab = made(X86::kIdVunpcklps, a, b), high_ab = made(X86::kIdVunpckhps, a, b);
  const Vec low_cd = made(X86::kIdVunpcklps, c, d), high_cd = made(X86::kIdVunpckhps, c, d);
  const std::array<Vec, 4> rows{
      made(X86::kIdVunpcklpd, low_ab, low_cd), made(X86::kIdVunpckhpd, low_ab, low_cd),
      made(X86::kIdVunpcklpd, high_ab, high_cd), made(X86::kIdVunpckhpd, high_ab, high_cd)};
  // Each holds a row of the lower and one of the upper lanes.
  for (std::int64_t l = 0; l < 4; ++l) {
    const Vec& both = rows[static_cast<std::size_t>(l)];
    m_.store(row(l), both.xmm(), 16);
    m_.store(row(l + 4), m_.result(X86::kIdVextractf128, 16, both, Imm(1)), 16);
  }
}

}  // namespace hom::cpu::x86
