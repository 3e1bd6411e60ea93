// core/small_vector.h -- a vector whose first N elements live inside it: shapes and operand lists
// rarely need the heap
//
// Boost's small_vector serves the same purpose, but g++ 12 warns wrongly inside it at -O1 and
// above, and the warnings would reach every user who compiles with -Wall. Only what Hom uses is
// here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace hom {

template <class T, std::size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(std::size_t count) { resize(count); }
  SmallVector(std::size_t count, const T& value) {
    reserve(count);
    std::uninitialized_fill_n(data_, count, value);
    size_ = count;
  }
  SmallVector(std::initializer_list<T> values) : SmallVector(values.begin(), values.end()) {}
  template <std::forward_iterator It>
  SmallVector(It first, It last) {
    insert(end(), first, last);
  }
  SmallVector(const SmallVector& other) : SmallVector(other.begin(), other.end()) {}
  SmallVector(SmallVector&& other) noexcept { take(std::move(other)); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(std::move(other));
    }
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  iterator begin() { return data_; }
  iterator end() { return data_ + size_; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    const std::size_t capacity = std::max(count, 2 * capacity_);
    T* grown = std::allocator<T>().allocate(capacity);
    std::uninitialized_move_n(data_, size_, grown);
    std::destroy_n(data_, size_);
    free_heap();
    data_ = grown;
    capacity_ = capacity;
  }
  void resize(std::size_t count, const T& value = T()) {
    if (count <= size_) return shrink(count);
    reserve(count);
    std::uninitialized_fill_n(data_ + size_, count - size_, value);
    size_ = count;
  }
  void clear() { shrink(0); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      // The arguments may live in the old storage, so the element is made first.
      T element(std::forward<Args>(args)...);
      reserve(size_ + 1);
      std::construct_at(data_ + size_, std::move(element));
    } else {
      std::construct_at(data_ + size_, std::forward<Args>(args)...);
    }
    return data_[size_++];
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  void pop_back() { shrink(size_ - 1); }

  template <std::forward_iterator It>
  void assign(It first, It last) {
    SmallVector fresh;
    fresh.insert(fresh.end(), first, last);
    *this = std::move(fresh);
  }
  void assign(std::size_t count, const T& value) { *this = SmallVector(count, value); }
  /// Inserts before `at`. The range is not part of this vector.
  template <std::forward_iterator It>
  iterator insert(const_iterator at, It first, It last) {
    const std::ptrdiff_t position = at - data_;
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    reserve(size_ + count);
    std::uninitialized_copy(first, last, data_ + size_);
    std::rotate(data_ + position, data_ + size_, data_ + size_ + count);
    size_ += count;
    return data_ + position;
  }
  iterator insert(const_iterator at, const T& value) {
    const T copy = value;
    return insert(at, &copy, &copy + 1);
  }
  iterator erase(const_iterator first, const_iterator last) {
    T* to = data_ + (first - data_);
    T* kept = std::move(data_ + (last - data_), data_ + size_, to);
    std::destroy(kept, data_ + size_);
    size_ = static_cast<std::size_t>(kept - data_);
    return to;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  /// Not by `resize`: g++ 12 would warn of a fill that does not happen.
  void shrink(std::size_t count) {
    std::destroy_n(data_ + count, size_ - count);
    size_ = count;
  }

  T* inside() { return reinterpret_cast<T*>(inside_); }
  bool is_inside() const { return data_ == reinterpret_cast<const T*>(inside_); }
  void free_heap() {
    if (!is_inside()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void release() {
    std::destroy_n(data_, size_);
    free_heap();
    data_ = inside();
    capacity_ = N;
    size_ = 0;
  }
  /// Takes the elements of another; this vector is empty and on its inside storage.
  void take(SmallVector&& other) noexcept {
    if (other.is_inside()) {
      std::uninitialized_move_n(other.data_, other.size_, data_);
      size_ = other.size_;
      other.clear();
    } else {
      data_ = std::exchange(other.data_, other.inside());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
    }
  }

  alignas(T) std::byte inside_[N * sizeof(T)];
  T* data_ = inside();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

}  // namespace hom
