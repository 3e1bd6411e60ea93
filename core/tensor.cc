// core/tensor.cc -- buffers, arrays, printing and comparison of tensors
#include <hom/core/tensor.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <ostream>

#include <hom/core/attribute.h>
#include <hom/core/capture.h>
#include <hom/core/operations/broadcasting.h>

namespace hom {
namespace {

constexpr std::align_val_t buffer_alignment{64};

/// Calls f with the buffer position of each element, in row-major order of indices.
template <class F>
void for_each_position(const Array& array, F&& f) {
  const std::int64_t size = array.type.size();
  Shape index(array.type.shape.size(), 0);
  std::int64_t position = array.offset;
  for (std::int64_t i = 0; i < size; ++i) {
    f(position);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      position += array.strides[axis];
      if (++index[axis] < array.type.shape[axis]) break;
      position -= array.strides[axis] * array.type.shape[axis];
      index[axis] = 0;
    }
  }
}

/// Memory of an owning buffer.
struct Block {
  std::byte* data;
  std::size_t bytes;
};

void release(std::byte* memory) { ::operator delete(memory, buffer_alignment); }

/// What dead buffers left on this thread.
class LeftOver {
 public:
  ~LeftOver() {
    for (const Block& block : blocks_) release(block.data);
  }

  /// The smallest block of at least so many bytes, and not above twice as many, or none.
  Block take(std::size_t bytes) {
    const auto none = blocks_.end();
    auto best = none;
    for (auto block = blocks_.begin(); block != none; ++block) {
      if (block->bytes < bytes || block->bytes / 2 > bytes) continue;
      if (best == none || block->bytes < best->bytes) best = block;
    }
    if (best == none) return {nullptr, 0};
    const Block taken = *best;
    *best = blocks_.back();
    blocks_.pop_back();
    bytes_ -= taken.bytes;
    return taken;
  }
  /// Whether there is room for it.
  bool put(const Block& block) {
    if (block.bytes > most_bytes - bytes_ || blocks_.size() == most_blocks) return false;
    blocks_.push_back(block);
    bytes_ += block.bytes;
    return true;
  }

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  static constexpr std::size_t most_blocks = 64;

  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
};

/// Scopes of this thread that are alive. Apart, for it is read whenever a buffer is made or dies.
constinit thread_local int reuse_scopes = 0;

LeftOver& left_over() {
  thread_local LeftOver blocks;
  return blocks;
}

Block allocated(std::size_t bytes) {
  if (reuse_scopes > 0) {
    if (const Block block = left_over().take(bytes); block.data) return block;
  }
  void* memory = ::operator new(bytes, buffer_alignment, std::nothrow);
  if (!memory) {
    fail({"out of memory: a tensor needs " + std::to_string(bytes) + " bytes"}, {});
  }
  return {static_cast<std::byte*>(memory), bytes};
}
}  // namespace

BufferReuse::BufferReuse() { ++reuse_scopes; }
BufferReuse::~BufferReuse() { --reuse_scopes; }

Buffer::Buffer(std::size_t bytes) : data_(inside_), bytes_(bytes) {
  if (bytes <= inside_bytes) return;
  const Block block = allocated(bytes);
  data_ = block.data;
  capacity_ = block.bytes;
}

Buffer::~Buffer() {
  if (!owns_ || data_ == inside_) return;
  if (reuse_scopes > 0 && left_over().put({data_, capacity_})) return;
  release(data_);
}

void Buffer::keep() {
  if (owns_) return;
  Block block{inside_, 0};
  if (bytes_ > inside_bytes) block = allocated(bytes_);
  if (bytes_ > 0) std::memcpy(block.data, data_, bytes_);
  data_ = block.data;
  capacity_ = block.bytes;
  owns_ = true;
}

std::shared_ptr<Array> Array::allocate(TensorType type) {
  auto array = std::make_shared<Array>();
  const std::int64_t size = type.size();
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(size), type.dtype.size(), &bytes)) {
    fail({"out of memory: a tensor " + hom::to_string(type) + " has more bytes than 64 bits count"},
         {});
  }
  array->strides = row_major_strides(type.shape);
  array->type = std::move(type);
  array->buffer = std::make_shared<Buffer>(bytes);
  return array;
}

bool Array::is_row_major() const {
  std::int64_t expected = 1;
  for (std::size_t axis = type.shape.size(); axis-- > 0;) {
    if (type.shape[axis] != 1 && strides[axis] != expected) return type.size() == 0;
    expected *= type.shape[axis];
  }
  return true;
}

std::int64_t Tensor::extent(std::int64_t axis, const Location& at) const {
  const TensorType type = this->type(at);
  return type.shape[static_cast<std::size_t>(normal_axis("extent", axis, type.rank(), at))];
}

const Array& Tensor::array(const Location& at) const {
  if (array_) return *array_;
  const TensorType type = this->type(at);  // throws for the empty and the leaked
  fail({"the value of a symbolic tensor " + to_string(type) + ", made at " + hom::to_string(at_) +
            ", is asked for while a program is captured",
        "use where(condition, a, b) or cond(condition, then, otherwise, operands...) instead of "
        "C++ control flow on values"},
       at);
}

Tensor copy(const Tensor& x) {
  const Array& source = x.array();
  auto copy = Array::allocate(source.type);
  const std::size_t size = source.type.dtype.size();
  std::byte* to = copy->buffer->data();
  const std::byte* from = source.buffer->data();
  if (source.is_row_major()) {
    if (copy->buffer->bytes() > 0)
      std::memcpy(to, from + source.offset * static_cast<std::int64_t>(size),
                  copy->buffer->bytes());
    return Tensor(std::move(copy), x.location());
  }
  for_each_position(source, [&](std::int64_t position) {
    std::memcpy(to, from + position * static_cast<std::int64_t>(size), size);
    to += size;
  });
  return Tensor(std::move(copy), x.location());
}

Tensor row_major(const Tensor& x) { return x.array().is_row_major() ? x : copy(x); }

Tensor tensor_from_bytes(const void* bytes, const TensorType& type) {
  auto array = Array::allocate(type);
  if (array->buffer->bytes() > 0) {
    std::memcpy(array->buffer->data(), bytes, array->buffer->bytes());
  }
  return Tensor(std::move(array));
}

bool array_equal(const Tensor& a, const Tensor& b, bool nan_equal, const Location& at) {
  if (a.array(at).type != b.array(at).type) return false;
  const Tensor left = row_major(a);
  const Tensor right = row_major(b);
  return visit(left.array().type.dtype, [&]<class T>() {
    const T* p = left.array().data<T>();
    const T* q = right.array().data<T>();
    return std::equal(p, p + left.array().type.size(), q, [&](T x, T y) {
      if constexpr (dtype_of<T>().is_float()) {
        if (nan_equal && std::isnan(static_cast<double>(x)) && std::isnan(static_cast<double>(y)))
          return true;
      }
      return x == y;
    });
  });
}

namespace {

template <class T>
std::string element_text(T value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (dtype_of<T>().is_float()) {
    if (std::isnan(static_cast<double>(value))) return "nan";
    char text[32];
    // Enough digits to tell neighbours apart at a glance, not to read back exactly: %.6g, more for
    // f64.
    std::snprintf(text, sizeof text, sizeof(T) == 8 ? "%.10g" : "%.6g", static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

constexpr std::int64_t edge_items = 3;

void print_axis(std::string& text, const Array& array, std::size_t axis, std::int64_t position,
                bool summarised) {
  if (axis == array.type.shape.size()) {
    text += visit(array.type.dtype, [&]<class T>() {
      return element_text(reinterpret_cast<const T*>(array.buffer->data())[position]);
    });
    return;
  }
  text += "[";
  const std::int64_t extent = array.type.shape[axis];
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i) text += ", ";
    if (summarised && extent > 2 * edge_items && i == edge_items) {
      text += "…, ";
      i = extent - edge_items;
    }
    print_axis(text, array, axis + 1, position + i * array.strides[axis], summarised);
  }
  text += "]";
}

}  // namespace

std::string to_string(const Tensor& x, std::int64_t limit) {
  if (x.is_empty()) return "empty tensor";
  if (x.is_symbolic()) {
    // Printing is for looking into trouble, so it does not make any.
    return Capture::of(x) ? "symbol " + to_string(x.type()) : "symbol whose capture has ended";
  }
  const Array& array = x.array();
  std::string text = to_string(array.type) + " ";
  // Without elements there may still be many rows, which say nothing.
  if (array.type.size() == 0) return text + "[]";
  print_axis(text, array, 0, array.offset, array.type.size() > limit);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& x) { return out << to_string(x); }

}  // namespace hom
