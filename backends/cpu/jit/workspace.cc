// backends/cpu/jit/workspace.cc -- memory of runs
#include <hom/backends/cpu/jit/workspace.h>

#include <sys/mman.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <hom/core/error.h>

namespace hom::cpu {
namespace {

constexpr std::int64_t alignment = 64;
constexpr std::int64_t huge_page = std::int64_t{2} << 20;

}  // namespace

Memory::Memory(std::int64_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const bool is_large = bytes >= 2 * huge_page;
  const std::int64_t unit = is_large ? huge_page : alignment;
  const std::int64_t rounded = (bytes + unit - 1) / unit * unit;
  data_ = static_cast<std::byte*>(
      std::aligned_alloc(static_cast<std::size_t>(unit), static_cast<std::size_t>(rounded)));
  require(data_ != nullptr, {}, [&] {
    return Complaint{"out of memory: a compiled function needs " + std::to_string(bytes) +
                     " bytes for temporaries"};
  });
  // Only advice: a system without huge pages refuses it, and nothing is lost.
  if (is_large) static_cast<void>(madvise(data_, static_cast<std::size_t>(rounded), MADV_HUGEPAGE));
}

Memory::Memory(Memory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Memory::~Memory() { std::free(data_); }

std::unique_ptr<Workspace> WorkspacePool::take() {
  const std::scoped_lock lock(mutex_);
  if (free_.empty()) return nullptr;
  std::unique_ptr<Workspace> workspace = std::move(free_.back());
  free_.pop_back();
  return workspace;
}

void WorkspacePool::give_back(std::unique_ptr<Workspace> workspace) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(workspace));
}

void WorkspacePool::clear() {
  const std::scoped_lock lock(mutex_);
  free_.clear();
}

}  // namespace hom::cpu
