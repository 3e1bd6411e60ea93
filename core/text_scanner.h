// core/text_scanner.h -- the words of a program text, and errors that say where in it they are
#pragma once

#include <string>
#include <string_view>

#include <hom/core/attribute.h>
#include <hom/core/error.h>
#include <hom/core/object.h>

namespace hom::text_form {

/// Reads a text from left to right. Every `read_…` skips white space and comments first, and fails
/// with `program text 5:3: expected …, found …` where the text goes on with something else.
class Scanner {
 public:
  Scanner(std::string_view text, const Location& at) : text_(text), caller_(at) {}

  /// The place of the next word.
  std::size_t position();
  bool at_end() { return position() == text_.size(); }
  /// Whether the text goes on with `symbol`.
  bool sees(std::string_view symbol) { return text_.substr(position()).starts_with(symbol); }
  bool sees_text() { return sees("\""); }
  bool sees_number();
  /// Whether it goes on with the whole word `word`.
  bool sees_word(std::string_view word);
  bool skip(std::string_view symbol);
  void expect(std::string_view symbol);

  /// A name of letters, digits and `_`.
  std::string_view read_identifier(const char* what);
  /// `x`, `p.weight`, `layers[0].bias`: a name of a slot.
  std::string_view read_path(const char* what);
  /// `@name`, `@name.1`, `@0`, without the `@`.
  std::string_view read_label();
  /// A string in quotes, with its escapes replaced.
  std::string read_string(const char* what);
  std::int64_t read_integer(const char* what);
  Shape read_shape();
  TensorType read_type();
  Object read_object(int depth = 0);
  /// A number with or without sign, point, exponent and the suffix `u`; `nan`, `inf`.
  Attribute read_number();

  /// Throws the error about the text at `position`.
  [[noreturn]] void fail_at(std::size_t position, const std::string& what,
                            const std::string& hint = {}) const;
  /// Throws `expected …, found …` about the next word.
  [[noreturn]] void fail_expected(std::string_view what);
  /// Runs `f`; what it throws about a program gets `position` in front.
  template <class F>
  auto located(std::size_t position, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      throw Error(place(position) + error.what());
    }
  }

 private:
  std::string place(std::size_t position) const;
  std::string_view next_word();
  double read_nan_bits();

  std::string_view text_;
  std::size_t at_ = 0;
  const Location& caller_;
};

}  // namespace hom::text_form
