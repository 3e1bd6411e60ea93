// backends/cpu/jit/workspace.h -- what one run of an executable needs for itself, kept for the next
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <hom/backends/cpu/jit/plan_walker.h>

namespace hom::cpu {

/// Uninitialised memory, aligned to 64 bytes; large pieces ask for huge pages.
class Memory {
 public:
  Memory() = default;
  /// Throws `Error` where there is not so much.
  explicit Memory(std::int64_t bytes);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Memory of one run: the arena, row-major copies of inputs, and pointers to all buffers. Those of
/// temporaries and constants are set once.
struct Workspace {
  Memory arena;
  std::vector<Memory> copies;
  std::vector<std::byte*> buffers;
  WalkMemory walk;
};

/// Workspaces that no run uses: concurrent runs take one each.
class WorkspacePool {
 public:
  /// One that is free, or null.
  std::unique_ptr<Workspace> take();
  void give_back(std::unique_ptr<Workspace> workspace);
  /// Frees those that no run uses.
  void clear();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> free_;
};

}  // namespace hom::cpu
