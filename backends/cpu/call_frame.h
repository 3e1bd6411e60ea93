// backends/cpu/call_frame.h -- the arguments of one call of a compiled function: what tells calls
// apart, and the leaves
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <hom/core/product.h>

namespace hom::detail {

/// A member of an argument that is neither a tensor nor a product: it belongs to the signature.
struct StaticValue {
  const void* value;
  bool (*equal)(const void* a, const void* b);
  std::shared_ptr<const void> (*copy)(const void* value);

  template <class T>
  static StaticValue of(const T& value) {
    return {&value,
            [](const void* a, const void* b) -> bool {
              return *static_cast<const T*>(a) == *static_cast<const T*>(b);
            },
            [](const void* x) -> std::shared_ptr<const void> {
              return std::make_shared<const T>(*static_cast<const T*>(x));
            }};
  }
};

/// What decides whether two calls are one program: types of leaves, numbers of elements, keys,
/// which optionals and tensors are empty, static members.
struct CallSignature {
  std::vector<std::uint64_t> words;
  std::vector<StaticValue> statics;

  void add(std::uint64_t word) { words.push_back(word); }
  void add(const TensorType& type) {
    words.push_back(static_cast<std::uint64_t>(type.dtype.id) << 32U | type.shape.size());
    for (const std::int64_t extent : type.shape)
      words.push_back(static_cast<std::uint64_t>(extent));
  }
  void add(std::string_view text) {
    words.push_back(text.size());
    for (std::size_t i = 0; i < text.size(); i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, std::min(sizeof word, text.size() - i));
      words.push_back(word);
    }
  }
  void clear() {
    words.clear();
    statics.clear();
  }
};

/// One argument tensor: the caller's, one that it gave away, or the bytes of a C++ number.
struct CallLeaf {
  const Tensor* borrowed = nullptr;
  Tensor given;
  alignas(16) std::array<std::byte, 16> number;
};

/// One input of an executable (jit/executable.h).
struct CallInput {
  CallInput() = default;
  /// May be taken away: where this tensor is the only owner of its memory, a result may lie there.
  explicit CallInput(Tensor* given_away) : tensor(given_away), given(given_away) {}
  explicit CallInput(const Tensor* borrowed) : tensor(borrowed) {}
  /// Row-major elements that nobody keeps.
  explicit CallInput(const std::byte* elements) : bytes(elements) {}

  const Tensor* tensor = nullptr;
  Tensor* given = nullptr;
  const std::byte* bytes = nullptr;
};

/// What a call needs while it runs; kept for later calls of the thread, so that they allocate
/// nothing.
struct CallFrame {
  CallSignature signature;
  std::vector<CallLeaf> leaves;
  std::vector<CallInput> inputs;
  std::vector<Tensor> outputs;

  void clear() {
    signature.clear();
    leaves.clear();
    inputs.clear();
    outputs.clear();
  }
};

/// A frame of this thread, for one call; calls may nest.
class CallFrameScope {
 public:
  CallFrameScope();
  ~CallFrameScope();
  CallFrameScope(const CallFrameScope&) = delete;
  CallFrameScope& operator=(const CallFrameScope&) = delete;
  CallFrame& frame() { return *frame_; }

 private:
  std::unique_ptr<CallFrame> frame_;
};

/// Deduced results, here and below, make compilers instantiate at the call, so that the assertion
/// names the user's line.
template <class T>
auto sign_static(CallSignature& to, const T& value) {
  constexpr bool is_word =
      (std::is_arithmetic_v<T> || std::is_enum_v<T>) && sizeof(T) <= sizeof(std::uint64_t);
  if constexpr (is_word) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    to.add(word);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    to.add(std::string_view(value));
  } else if constexpr (!std::is_empty_v<T>) {
    constexpr bool comparable = std::equality_comparable<T> && std::copy_constructible<T>;
    static_assert(comparable,
                  "hom: a member that is neither a tensor nor a product of tensors decides which "
                  "program a compiled function runs, so it can be copied and compared. Give its "
                  "type an operator==.");
    if constexpr (comparable) to.statics.push_back(StaticValue::of(value));
  }
}

/// Adds an argument to the signature.
template <class T>
auto sign(CallSignature& to, const T& value, const Location& at) {
  if constexpr (std::same_as<T, Tensor>) {
    if (value.is_empty()) {
      to.add(UINT64_MAX);
    } else if (value.is_concrete()) {
      to.add(value.array_pointer()->type);
    } else {
      to.add(value.type(at));
    }
  } else if constexpr (std::same_as<T, TensorType>) {
    to.add(value);
  } else if constexpr (Arithmetic<T>) {
    to.add(static_cast<std::uint64_t>(dtype_of<T>().id) << 32U);
  } else if constexpr (is_instance<T, std::tuple> || is_instance<T, std::pair>) {
    std::apply([&](const auto&... entries) { (sign(to, entries, at), ...); }, value);
  } else if constexpr (is_array<T> || is_instance<T, std::vector>) {
    to.add(value.size());
    for (const auto& entry : value) sign(to, entry, at);
  } else if constexpr (is_instance<T, std::optional>) {
    to.add(value.has_value() ? 1U : 0U);
    if (value) sign(to, *value, at);
  } else if constexpr (is_instance<T, std::map>) {
    to.add(value.size());
    for (const auto& [key, entry] : value) {
      sign_static(to, key);
      sign(to, entry, at);
    }
  } else {
    boost::hana::unpack(boost::hana::accessors<T>(), [&](const auto&... members) {
      const auto visit_member = [&](const auto& member) {
        const auto& get = boost::hana::second(member);
        using Member = std::remove_cvref_t<decltype(get(value))>;
        if constexpr (is_struct_member<Member>) {
          sign(to, get(value), at);
        } else {
          sign_static(to, get(value));
        }
      };
      (visit_member(members), ...);
    });
  }
}

/// Appends the leaves of an argument; those of one that the caller gives away are moved. Others are
/// only referred to where the call `borrows`, because it is given nothing away: `f(x,
/// std::move(x))` takes its copy of x first.
template <bool borrows, class T>
void take_leaves(std::vector<CallLeaf>& to, T&& value) {
  using Value = std::remove_cvref_t<T>;
  static_assert(!std::same_as<Value, TensorType>,
                "hom: a compiled function is called with tensors; prepare(types...) takes types.");
  constexpr bool is_given =
      std::is_rvalue_reference_v<T&&> && !std::is_const_v<std::remove_reference_t<T>>;
  // What is inside is given away where the whole is.
  const auto take_inside = [&](auto& inside) {
    if constexpr (is_given) {
      take_leaves<borrows>(to, std::move(inside));
    } else {
      take_leaves<borrows>(to, inside);
    }
  };
  if constexpr (std::same_as<Value, Tensor>) {
    if (value.is_empty()) return;
    CallLeaf& leaf = to.emplace_back();
    if constexpr (borrows && !is_given) {
      leaf.borrowed = &value;
    } else {
      leaf.given = std::forward<T>(value);
    }
  } else if constexpr (Arithmetic<Value>) {
    CallLeaf& leaf = to.emplace_back();
    visit(dtype_of<Value>(), [&]<class E>() {
      const E element = convert_element<E>(value);
      std::memcpy(leaf.number.data(), &element, sizeof element);
    });
  } else if constexpr (is_instance<Value, std::tuple> || is_instance<Value, std::pair>) {
    std::apply([&](auto&... entries) { (take_inside(entries), ...); }, value);
  } else if constexpr (std::same_as<Value, std::vector<bool>>) {
    for (const bool entry : value) take_leaves<borrows>(to, entry);
  } else if constexpr (is_array<Value> || is_instance<Value, std::vector>) {
    for (auto& entry : value) take_inside(entry);
  } else if constexpr (is_instance<Value, std::optional>) {
    if (value) take_inside(*value);
  } else if constexpr (is_instance<Value, std::map>) {
    for (auto& [key, entry] : value) take_inside(entry);
  } else if constexpr (is_hana_struct<Value>) {
    boost::hana::unpack(boost::hana::accessors<Value>(), [&](const auto&... members) {
      const auto visit_member = [&](const auto& member) {
        const auto& get = boost::hana::second(member);
        using Member = std::remove_cvref_t<decltype(get(value))>;
        if constexpr (is_struct_member<Member>) take_inside(get(value));
      };
      (visit_member(members), ...);
    });
  }
}

/// The product with these leaves, which are moved.
template <class T>
TensorsOf<T> with_moved_leaves(const T& product, std::vector<Tensor>& replacements) {
  std::size_t next = 0;
  auto replace = [&](const auto& leaf, const Path&) -> Tensor {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return leaf;
    }
    return std::move(replacements[next++]);
  };
  return map_leaves(product, replace, Path(""));
}

/// Whether a leaf is a symbol of a capture.
template <class T>
bool has_symbol(const T& value) {
  bool any = false;
  auto look = [&](const auto& leaf, const Path&) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>)
      any = any || leaf.is_symbolic();
  };
  for_each_leaf(value, look, Path(""));
  return any;
}

}  // namespace hom::detail
