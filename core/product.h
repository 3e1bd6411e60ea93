// core/product.h -- C++ values as products of tensors: traversal of tuples, arrays, Hana structs,
// vectors, maps, optionals
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/define_struct.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include <hom/core/tensor.h>

namespace hom {

/// Where a leaf sits in a product, as `x.layers[0].weight`; built only when asked for.
class Path {
 public:
  explicit Path(std::string_view root) : label_(root) {}
  Path(const Path& parent, std::string_view field) : parent_(&parent), label_(field) {}
  Path(const Path& parent, std::size_t position)
      : parent_(&parent), position_(position), is_position_(true) {}

  std::string text() const {
    if (!parent_) return std::string(label_);
    if (is_position_) return parent_->text() + "[" + std::to_string(position_) + "]";
    return parent_->text() + "." + std::string(label_);
  }

 private:
  const Path* parent_ = nullptr;
  std::string_view label_;
  std::size_t position_ = 0;
  bool is_position_ = false;
};

namespace detail {

template <class T, template <class...> class Template>
inline constexpr bool is_instance = false;
template <class... Ts, template <class...> class Template>
inline constexpr bool is_instance<Template<Ts...>, Template> = true;

template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;

template <class T>
inline constexpr bool is_tuple_like =
    is_instance<T, std::tuple> || is_instance<T, std::pair> || is_array<T>;

template <class T>
inline constexpr bool is_hana_struct = boost::hana::Struct<T>::value;

/// Leaves of arguments: tensors, tensor types that stand for them, and numbers.
template <class T>
inline constexpr bool is_leaf =
    std::same_as<T, Tensor> || std::same_as<T, TensorType> || Arithmetic<T>;

template <class T>
constexpr bool is_product() {
  if constexpr (is_leaf<T>) {
    return true;
  } else if constexpr (is_instance<T, std::tuple> || is_instance<T, std::pair>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_product<std::tuple_element_t<I, T>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_array<T> || is_instance<T, std::vector> ||
                       is_instance<T, std::optional>) {
    return is_product<typename T::value_type>();
  } else if constexpr (is_instance<T, std::map>) {
    return is_product<typename T::mapped_type>();
  } else {
    return is_hana_struct<T>;
  }
}

}  // namespace detail

/// C++ types that Hom reads as objects: tensors and numbers; `tuple`, `pair`, `array`, `vector`,
/// `map`, `optional` of such; and structs adapted with Boost.Hana, whose members that are neither
/// tensors nor products are static.
template <class T>
concept ProductType = detail::is_product<std::remove_cvref_t<T>>();

namespace detail {

/// The type with every leaf a `Tensor`. Structs keep their type: their leaves are tensors already.
template <class T>
struct WithTensors {
  using type = T;
};
template <class T>
  requires(is_leaf<T>)
struct WithTensors<T> {
  using type = Tensor;
};
template <class... Ts>
struct WithTensors<std::tuple<Ts...>> {
  using type = std::tuple<typename WithTensors<Ts>::type...>;
};
template <class A, class B>
struct WithTensors<std::pair<A, B>> {
  using type = std::pair<typename WithTensors<A>::type, typename WithTensors<B>::type>;
};
template <class T, std::size_t N>
struct WithTensors<std::array<T, N>> {
  using type = std::array<typename WithTensors<T>::type, N>;
};
template <class T>
struct WithTensors<std::vector<T>> {
  using type = std::vector<typename WithTensors<T>::type>;
};
template <class T>
struct WithTensors<std::optional<T>> {
  using type = std::optional<typename WithTensors<T>::type>;
};
template <class K, class T>
struct WithTensors<std::map<K, T>> {
  using type = std::map<K, typename WithTensors<T>::type>;
};

template <class T>
inline constexpr bool is_struct_member =
    std::same_as<T, Tensor> || (!is_leaf<T> && is_product<T>());

template <class Key>
std::string key_text(const Key& key) {
  if constexpr (std::is_convertible_v<Key, std::string>) {
    return key;
  } else {
    return std::to_string(key);
  }
}

/// Rebuilds a product with each leaf replaced by f(leaf, path), which returns a tensor.
template <class T, class F>
typename WithTensors<T>::type map_leaves(const T& value, F& f, const Path& path) {
  if constexpr (is_leaf<T>) {
    return f(value, path);
  } else if constexpr (is_instance<T, std::tuple> || is_instance<T, std::pair>) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return typename WithTensors<T>::type{map_leaves(std::get<I>(value), f, Path(path, I))...};
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_array<T>) {
    typename WithTensors<T>::type result{};
    for (std::size_t i = 0; i < value.size(); ++i)
      result[i] = map_leaves(value[i], f, Path(path, i));
    return result;
  } else if constexpr (is_instance<T, std::vector>) {
    typename WithTensors<T>::type result;
    result.reserve(value.size());
    for (std::size_t i = 0; i < value.size(); ++i)
      result.push_back(map_leaves(value[i], f, Path(path, i)));
    return result;
  } else if constexpr (is_instance<T, std::optional>) {
    if (!value) return std::nullopt;
    return map_leaves(*value, f, path);
  } else if constexpr (is_instance<T, std::map>) {
    typename WithTensors<T>::type result;
    for (const auto& [key, entry] : value)
      result.emplace(key, map_leaves(entry, f, Path(path, key_text(key))));
    return result;
  } else {
    static_assert(is_hana_struct<T>,
                  "hom: this type is not a product of tensors. Adapt the struct with "
                  "BOOST_HANA_DEFINE_STRUCT or "
                  "BOOST_HANA_ADAPT_STRUCT, or use std::tuple, pair, array, vector, map or "
                  "optional of tensors.");
    T result = value;
    boost::hana::unpack(boost::hana::accessors<T>(), [&](const auto&... members) {
      const auto visit_member = [&](const auto& member) {
        const auto& get = boost::hana::second(member);
        using Member = std::remove_cvref_t<decltype(get(result))>;
        if constexpr (is_struct_member<Member>) {
          get(result) = map_leaves(
              get(value), f, Path(path, boost::hana::to<const char*>(boost::hana::first(member))));
        }
      };
      (visit_member(members), ...);
    });
    return result;
  }
}

/// Calls f(leaf, path) for each leaf, left to right.
template <class T, class F>
void for_each_leaf(const T& value, F& f, const Path& path) {
  if constexpr (is_leaf<T>) {
    f(value, path);
  } else if constexpr (is_instance<T, std::tuple> || is_instance<T, std::pair>) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (for_each_leaf(std::get<I>(value), f, Path(path, I)), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_array<T> || is_instance<T, std::vector>) {
    for (std::size_t i = 0; i < value.size(); ++i) for_each_leaf(value[i], f, Path(path, i));
  } else if constexpr (is_instance<T, std::optional>) {
    if (value) for_each_leaf(*value, f, path);
  } else if constexpr (is_instance<T, std::map>) {
    for (const auto& [key, entry] : value) for_each_leaf(entry, f, Path(path, key_text(key)));
  } else {
    static_assert(is_hana_struct<T>,
                  "hom: this type is not a product of tensors. Adapt the struct with "
                  "BOOST_HANA_DEFINE_STRUCT or "
                  "BOOST_HANA_ADAPT_STRUCT, or use std::tuple, pair, array, vector, map or "
                  "optional of tensors.");
    boost::hana::unpack(boost::hana::accessors<T>(), [&](const auto&... members) {
      const auto visit_member = [&](const auto& member) {
        const auto& get = boost::hana::second(member);
        using Member = std::remove_cvref_t<decltype(get(value))>;
        if constexpr (is_struct_member<Member>) {
          for_each_leaf(get(value), f,
                        Path(path, boost::hana::to<const char*>(boost::hana::first(member))));
        }
      };
      (visit_member(members), ...);
    });
  }
}

/// The object of a product, with the labels of its fields. Empty tensors are the unit.
template <class T>
Object object_of(const T& value, const Location& at) {
  if constexpr (std::same_as<T, TensorType>) {
    return value;
  } else if constexpr (Arithmetic<T>) {
    return dtype_of<T>()[{}];
  } else if constexpr (std::same_as<T, Tensor>) {
    return value.is_empty() ? Object() : Object(value.type(at));
  } else if constexpr (is_instance<T, std::optional>) {
    return value ? object_of(*value, at) : Object();
  } else {
    std::vector<Object::Factor> factors;
    if constexpr (is_instance<T, std::tuple> || is_instance<T, std::pair>) {
      std::apply(
          [&](const auto&... entries) { (factors.push_back({"", object_of(entries, at)}), ...); },
          value);
    } else if constexpr (is_array<T> || is_instance<T, std::vector>) {
      for (const auto& entry : value) factors.push_back({"", object_of(entry, at)});
    } else if constexpr (is_instance<T, std::map>) {
      for (const auto& [key, entry] : value)
        factors.push_back({key_text(key), object_of(entry, at)});
    } else {
      boost::hana::unpack(boost::hana::accessors<T>(), [&](const auto&... members) {
        const auto visit_member = [&](const auto& member) {
          const auto& get = boost::hana::second(member);
          using Member = std::remove_cvref_t<decltype(get(value))>;
          if constexpr (is_struct_member<Member>) {
            factors.push_back({boost::hana::to<const char*>(boost::hana::first(member)),
                               object_of(get(value), at)});
          }
        };
        (visit_member(members), ...);
      });
    }
    return Object::product(std::move(factors));
  }
}

}  // namespace detail

/// The product type with tensors for leaves: what a captured lambda sees, and what a gradient is.
template <ProductType T>
using TensorsOf = typename detail::WithTensors<std::remove_cvref_t<T>>::type;

/// The leaves of a product of tensors, left to right; empty tensors are left out.
template <ProductType T>
std::vector<Tensor> leaves(const T& product) {
  std::vector<Tensor> all;
  auto visit = [&](const auto& leaf, const Path&) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (!leaf.is_empty()) all.push_back(leaf);
    } else {
      all.push_back(Tensor(leaf));
    }
  };
  detail::for_each_leaf(product, visit, Path(""));
  return all;
}

/// The same structure with other leaves, taken in order; empty tensors stay empty.
template <ProductType T>
TensorsOf<T> with_leaves(const T& product, std::span<const Tensor> replacements) {
  std::size_t next = 0;
  auto replace = [&](const auto& leaf, const Path&) -> Tensor {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return leaf;
    }
    ensure(next < replacements.size(), "with_leaves: one tensor for each leaf");
    return replacements[next++];
  };
  TensorsOf<T> result = detail::map_leaves(product, replace, Path(""));
  ensure(next == replacements.size(), "with_leaves: one tensor for each leaf");
  return result;
}

/// The paths of the leaves, in order: `x.weight`, `x[1]`.
template <ProductType T>
std::vector<std::string> leaf_paths(const T& product, std::string_view root = "x") {
  std::vector<std::string> paths;
  auto visit = [&](const auto& leaf, const Path& path) {
    if constexpr (std::same_as<std::remove_cvref_t<decltype(leaf)>, Tensor>) {
      if (leaf.is_empty()) return;
    }
    paths.push_back(path.text());
  };
  detail::for_each_leaf(product, visit, Path(root));
  return paths;
}

namespace detail {
/// Leaves with their paths, empty ones included.
template <class T>
std::pair<std::vector<Tensor>, std::vector<std::string>> all_leaves(const T& product) {
  std::pair<std::vector<Tensor>, std::vector<std::string>> all;
  auto visit = [&](const auto& leaf, const Path& path) {
    all.first.push_back(Tensor(leaf));
    all.second.push_back(path.text());
  };
  for_each_leaf(product, visit, Path("tree"));
  return all;
}

void require_same_structure(const std::vector<std::string>& first,
                            const std::vector<std::string>& other, const Location& at);

/// The leaves of a product whose leaves must have these paths.
template <class T>
std::vector<Tensor> leaves_like(const std::vector<std::string>& paths, const T& product,
                                const Location& at) {
  auto [list, own_paths] = all_leaves(product);
  require_same_structure(paths, own_paths, at);
  return std::move(list);
}
template <class F, class T, class... Rest>
TensorsOf<T> map_together(const F& f, const Location& at, const T& first, const Rest&... rest) {
  const std::vector<std::string> paths = all_leaves(first).second;
  const std::array<std::vector<Tensor>, sizeof...(Rest)> others{leaves_like(paths, rest, at)...};
  std::size_t next = 0;
  auto apply_one = [&](const auto& leaf, const Path&) -> Tensor {
    const Tensor own(leaf);
    const std::size_t i = next++;
    bool any_empty = own.is_empty();
    for (const std::vector<Tensor>& other : others) any_empty = any_empty || other[i].is_empty();
    if (any_empty) return own;
    return [&]<std::size_t... K>(std::index_sequence<K...>) -> Tensor {
      return f(own, others[K][i]...);
    }(std::index_sequence_for<Rest...>());
  };
  return map_leaves(first, apply_one, Path("tree"));
}
}  // namespace detail

/// f applied to corresponding leaves of products of one structure. A leaf of the first that is
/// empty, or has an empty counterpart (the gradient of an integer leaf is the unit), stays as it
/// is. Throws, with the path, where structures differ.
template <class F, ProductType A>
TensorsOf<A> tree_map(const F& f, const A& a, const Location& at = Location::current()) {
  return detail::map_together(f, at, a);
}
template <class F, ProductType A, ProductType B>
TensorsOf<A> tree_map(const F& f, const A& a, const B& b,
                      const Location& at = Location::current()) {
  return detail::map_together(f, at, a, b);
}
template <class F, ProductType A, ProductType B, ProductType C>
TensorsOf<A> tree_map(const F& f, const A& a, const B& b, const C& c,
                      const Location& at = Location::current()) {
  return detail::map_together(f, at, a, b, c);
}
template <class F, ProductType A, ProductType B, ProductType C, ProductType D>
TensorsOf<A> tree_map(const F& f, const A& a, const B& b, const C& c, const D& d,
                      const Location& at = Location::current()) {
  return detail::map_together(f, at, a, b, c, d);
}

}  // namespace hom
