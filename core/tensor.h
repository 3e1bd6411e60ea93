// core/tensor.h -- the one value type: an immutable array, or a symbol of a program that is being
// captured
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hom/core/error.h>
#include <hom/core/object.h>

namespace hom {

using Slot = std::uint32_t;

/// Bytes shared by tensors and their views; freed with the last of them. Aligned to 64 bytes (to
/// 16, up to 16 bytes).
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  /// A window: shows bytes that someone else owns, who keeps them while they are shown.
  Buffer(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes), owns_(false) {}
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  /// Of a window: shows as many bytes elsewhere.
  void show(std::byte* data) { data_ = data; }
  /// Of a window: from now on it owns a copy of what it shows.
  void keep();

 private:
  static constexpr std::size_t inside_bytes = 16;

  // Numbers and pairs live inside, so that eager arithmetic on them allocates less.
  alignas(16) std::byte inside_[inside_bytes];
  std::byte* data_;
  std::size_t bytes_;
  /// Of the allocation: at least `bytes_`.
  std::size_t capacity_ = 0;
  bool owns_ = true;
};

/// While it lives, buffers of this thread leave their memory, when they die, to those that are made
/// after them, here or under a later scope: repeated work of the same sizes asks nothing of the
/// system. Of what is left, a thread keeps at most 64 MiB.
class BufferReuse {
 public:
  BufferReuse();
  ~BufferReuse();
  BufferReuse(const BufferReuse&) = delete;
  BufferReuse& operator=(const BufferReuse&) = delete;
};

/// Strided elements in a buffer. Strides and offset count elements; a stride may be 0 (broadcast)
/// or negative.
struct Array {
  TensorType type;
  Shape strides;
  std::int64_t offset = 0;
  std::shared_ptr<Buffer> buffer;

  /// A new row-major array with unset elements.
  static std::shared_ptr<Array> allocate(TensorType type);

  bool is_row_major() const;
  /// The element at index 0…0; undefined for arrays without elements.
  template <Element T>
  T* data() const {
    return reinterpret_cast<T*>(buffer->data()) + offset;
  }
};

class Operand;
class Index;
class Elements;
class VariableElements;
struct Attribute;

namespace detail {
/// Stands for an index that is not given.
const Index& no_index();
}  // namespace detail

/// A plain immutable value with O(1) copies. It is *concrete* (an array), *symbolic* (a slot of a
/// program that is being captured), or *empty* (default-constructed; any use of it is an error).
class Tensor {
 public:
  Tensor() = default;
  /// A rank-0 tensor: `Tensor(0.5)` is f64[], `Tensor(3)` is i32[].
  template <Arithmetic Number>
  Tensor(Number value,  // NOLINT(google-explicit-constructor): numbers are tensors of rank 0
         const Location& at = Location::current());
  explicit Tensor(std::shared_ptr<const Array> array, const Location& at = {})
      : array_(std::move(array)), at_(at) {}
  /// For the capture machinery: slot `slot` of the capture numbered `capture`.
  Tensor(std::uint64_t capture, Slot slot, const Location& at)
      : capture_(capture), slot_(slot), at_(at) {}

  bool is_empty() const { return !array_ && capture_ == 0; }
  bool is_concrete() const { return array_ != nullptr; }
  bool is_symbolic() const { return capture_ != 0; }

  /// Dtype and shape. Throws for an empty tensor and for a symbol whose capture has ended, naming
  /// its line.
  TensorType type(const Location& at = Location::current()) const;
  Dtype dtype(const Location& at = Location::current()) const { return type(at).dtype; }
  Shape shape(const Location& at = Location::current()) const { return type(at).shape; }
  std::int64_t rank(const Location& at = Location::current()) const { return type(at).rank(); }
  std::int64_t size(const Location& at = Location::current()) const { return type(at).size(); }
  /// The extent of an axis; negative axes count from the end.
  std::int64_t extent(std::int64_t axis, const Location& at = Location::current()) const;

  /// The only element as a C++ number, converted as `convert` does. Throws for symbols (whose value
  /// is not known while a program is captured) and for other than one element.
  template <Arithmetic Number = double>
  Number item(const Location& at = Location::current()) const;
  /// All elements in row-major order. Throws for symbols.
  template <Arithmetic Number = double>
  std::vector<Number> to_vector(const Location& at = Location::current()) const;
  /// The array; throws for symbols and empty tensors.
  const Array& array(const Location& at = Location::current()) const;
  const std::shared_ptr<const Array>& array_pointer() const { return array_; }

  Tensor astype(Dtype dtype, const Location& at = Location::current()) const;
  /// NumPy-like indexing: integers (negative from the end), `Range{start, stop, step}`, `all`,
  /// `ellipsis`, `newaxis`, and integer tensors, which broadcast together and whose axes take the
  /// place of the axes that they index, or stand in front where other indices are between them.
  /// Elements of an integer tensor count from 0 (see `gather`); one outside raises. Overloads
  /// rather than a pack, so that an error names the line of the call.
  Tensor operator()(const Index& a) const;
  Tensor operator()(const Index& a, const Index& b) const;
  Tensor operator()(const Index& a, const Index& b, const Index& c) const;
  Tensor operator()(const Index& a, const Index& b, const Index& c, const Index& d) const;
  Tensor operator()(const Index& a, const Index& b, const Index& c, const Index& d,
                    const Index& e) const;
  Tensor operator()(const Index& a, const Index& b, const Index& c, const Index& d, const Index& e,
                    const Index& f) const;
  Tensor operator[](const Index& index) const;
  /// The elements that x(i…) reads, to be replaced: `x.at(i).set(v)`, and of a variable also
  /// `x.at(i) = v` (operations/update.h). A bool tensor of x's leading shape is an index too.
  Elements at(const Index& a, const Index& b = detail::no_index(),
              const Index& c = detail::no_index(), const Index& d = detail::no_index(),
              const Index& e = detail::no_index(), const Index& f = detail::no_index()) const&;
  Elements at(const Index& a, const Index& b = detail::no_index(),
              const Index& c = detail::no_index(), const Index& d = detail::no_index(),
              const Index& e = detail::no_index(), const Index& f = detail::no_index()) &&;
  VariableElements at(const Index& a, const Index& b = detail::no_index(),
                      const Index& c = detail::no_index(), const Index& d = detail::no_index(),
                      const Index& e = detail::no_index(), const Index& f = detail::no_index()) &;
  /// Axes reversed.
  Tensor T(const Location& at = Location::current()) const;

  // Only variables are assigned: `x(0) = 2.0` would change a temporary, and nothing else.
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  ~Tensor() = default;
  template <class T>
  void operator=(const T&) && {
    static_assert(!std::same_as<T, T>,
                  "hom: tensors are immutable, so x(0) is a value that cannot be assigned. To give "
                  "the variable x a new tensor with that element replaced, write x.at(0) = value; "
                  "x.at(0).set(value) is that tensor.");
  }

  Tensor& operator+=(const Operand& other) &;
  Tensor& operator-=(const Operand& other) &;
  Tensor& operator*=(const Operand& other) &;
  Tensor& operator/=(const Operand& other) &;

  /// A tensor has no truth value while a program is captured, so it never has one.
  template <std::same_as<bool> B>
  explicit operator B() const {
    static_assert(
        !std::same_as<B, bool>,
        "hom: a Tensor cannot decide C++ control flow, because inside a captured program its value "
        "is not known. "
        "Use where(condition, a, b) to choose elements, cond(condition, then, otherwise, "
        "operands...) to choose a "
        "computation, or condition.item<bool>() on a tensor that is known to be concrete.");
    return false;
  }

  std::uint64_t capture_id() const { return capture_; }
  Slot slot() const { return slot_; }
  /// The line on which it was made, for the errors of what cannot know its own line: `!x`, `x &&
  /// true` and the objects of `hom::arrows`.
  const Location& location() const { return at_; }

 private:
  std::shared_ptr<const Array> array_;
  std::uint64_t capture_ = 0;
  Slot slot_ = 0;
  Location at_ = {};
};

/// Small lists of tensors: operands and results of one step.
using TensorList = SmallVector<Tensor, 4>;

/// What an operation takes: a tensor or a C++ number (which is weak: it adopts the dtype of the
/// tensor it meets), together with the line on which it was written.
class Operand {
 public:
  Operand(const Tensor& tensor,
          const Location& at = Location::current())  // NOLINT(google-explicit-constructor)
      : tensor_(&tensor), at_(at) {}
  template <Arithmetic T>
  Operand(T value, const Location& at = Location::current())  // NOLINT(google-explicit-constructor)
      : dtype_(dtype_of<T>()), at_(at) {
    if constexpr (std::floating_point<T>) {
      float_ = value;
    } else if constexpr (std::is_signed_v<T>) {
      integer_ = value;
    } else {
      integer_ = static_cast<std::int64_t>(value);
    }
  }

  bool is_weak() const { return tensor_ == nullptr; }
  const Tensor& tensor() const { return *tensor_; }
  const Location& at() const { return at_; }
  /// The dtype of the tensor, or of the C++ number.
  Dtype dtype() const { return is_weak() ? dtype_ : tensor_->dtype(at_); }
  Shape shape() const { return is_weak() ? Shape{} : tensor_->shape(at_); }
  /// This operand as a tensor of `dtype`; throws where a weak integer does not fit an integer
  /// dtype.
  Tensor as(Dtype dtype) const;
  /// The C++ number, where weak: a bool, an integer or a double.
  Attribute weak_value() const;
  /// As a tensor of its own dtype.
  Tensor value() const { return is_weak() ? as(dtype_) : *tensor_; }

 private:
  const Tensor* tensor_ = nullptr;
  Dtype dtype_ = f64;
  double float_ = 0;
  std::int64_t integer_ = 0;
  Location at_;
};

/// A range of indices along an axis, as Python's `start:stop:step`; absent bounds mean the ends.
struct Range {
  static constexpr std::int64_t end = INT64_MAX;
  std::int64_t start = end;
  std::int64_t stop = end;
  std::int64_t step = 1;
};
struct All {};
struct Ellipsis {};
struct NewAxis {};
inline constexpr All all{};
inline constexpr Ellipsis ellipsis{};
inline constexpr NewAxis newaxis{};

/// One index of `x(i, Range{1, 3}, all)`, with its line.
class Index {
 public:
  enum class Kind : std::uint8_t { at, range, ellipsis, newaxis, computed, absent };
  template <std::integral I>
  Index(I position,
        const Location& at = Location::current())  // NOLINT(google-explicit-constructor)
      : kind_(Kind::at), range_{static_cast<std::int64_t>(position)}, at_(at) {}
  Index(Range range, const Location& at = Location::current())
      : kind_(Kind::range), range_(range), at_(at) {}
  Index(All, const Location& at = Location::current()) : kind_(Kind::range), at_(at) {}
  Index(Ellipsis, const Location& at = Location::current()) : kind_(Kind::ellipsis), at_(at) {}
  Index(NewAxis, const Location& at = Location::current()) : kind_(Kind::newaxis), at_(at) {}
  /// Positions that are computed: an integer tensor, or a mask of truth values.
  Index(const Tensor& positions, const Location& at = Location::current())
      : kind_(Kind::computed), positions_(positions), at_(at) {}
  static Index absent() {
    Index none(all);
    none.kind_ = Kind::absent;
    return none;
  }

  Kind kind() const { return kind_; }
  const Range& range() const { return range_; }
  /// Where `computed`.
  const Tensor& positions() const { return positions_; }
  const Location& at() const { return at_; }

 private:
  Kind kind_;
  Range range_ = {};
  Tensor positions_ = {};
  Location at_;
};

/// Indexing: see `Tensor::operator()`. Without tensors among the indices it is a view, never a
/// copy.
Tensor index(const Tensor& x, std::span<const Index> indices, const Location& at);

/// A concrete tensor of rank 1, 2 or 3 from nested lists: `tensor({{1.0, 2.0}, {3.0, 4.0}})` is
/// f64[2, 2].
template <Arithmetic T>
Tensor tensor(std::initializer_list<T> values, const Location& at = Location::current());
template <Arithmetic T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
              const Location& at = Location::current());
template <Arithmetic T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> blocks,
              const Location& at = Location::current());
/// A concrete tensor with the given elements in row-major order. Throws where the count is not that
/// of `shape`.
template <Element T>
Tensor tensor(const std::vector<T>& values, const Shape& shape,
              const Location& at = Location::current());
template <Arithmetic T>
Tensor tensor(const std::vector<T>& values, const Location& at = Location::current());
/// A rank-0 tensor of the given dtype.
template <Arithmetic T>
Tensor tensor(T value, Dtype dtype, const Location& at = Location::current());

/// Whether both are concrete, of one dtype and shape, and equal in every element (NaN equals NaN
/// where asked).
bool array_equal(const Tensor& a, const Tensor& b, bool nan_equal = false,
                 const Location& at = Location::current());

/// `f32[2, 3] [[1, 2, 3], [4, 5, 6]]`; more than `limit` elements are summarised, symbols print
/// their type.
std::string to_string(const Tensor& x, std::int64_t limit = 200);
std::ostream& operator<<(std::ostream& out, const Tensor& x);

/// A row-major copy of `x`, which shares no memory with it.
Tensor copy(const Tensor& x);
/// A row-major copy of `x`, or `x` itself where it is row-major already.
Tensor row_major(const Tensor& x);

/// A concrete tensor from raw row-major bytes.
Tensor tensor_from_bytes(const void* bytes, const TensorType& type);

}  // namespace hom

#include <hom/core/tensor_inline.h>
