// core/text_scanner.cc -- words, numbers, strings, types and objects of a program text
#include <hom/core/text_scanner.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include <hom/core/text_names.h>

namespace hom::text_form {
namespace {

// Deeper than any program has use for, and shallow enough for every stack.
constexpr int deepest_object = 200;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

template <class Number>
bool reads_as(std::string_view text, Number& value, auto... base) {
  const auto [end, problem] =
      std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::size_t Scanner::position() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      break;
    }
  }
  return at_;
}

std::string Scanner::place(std::size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "program text " + std::to_string(line) + ":" + std::to_string(position - line_start + 1) +
         ": ";
}

void Scanner::fail_at(std::size_t position, const std::string& what,
                      const std::string& hint) const {
  fail({place(position) + what, hint}, caller_);
}

std::string_view Scanner::next_word() {
  const std::string_view rest = text_.substr(position());
  std::size_t length = 0;
  while (length < rest.size() && is_word(rest[length])) ++length;
  return rest.substr(0, std::max<std::size_t>(length, 1));
}

void Scanner::fail_expected(std::string_view what) {
  const std::size_t here = position();
  const std::string found =
      here == text_.size() ? "the end of the text" : "`" + std::string(next_word()) + "`";
  fail_at(here, "expected " + std::string(what) + ", found " + found);
}

bool Scanner::sees_word(std::string_view word) { return sees(word) && next_word() == word; }

bool Scanner::sees_number() {
  const std::size_t here = position();
  const char next = here < text_.size() ? text_[here] : '\0';
  return next == '-' || (next >= '0' && next <= '9') || sees_word("nan") || sees_word("inf");
}

bool Scanner::skip(std::string_view symbol) {
  if (!sees(symbol)) return false;
  at_ += symbol.size();
  return true;
}

void Scanner::expect(std::string_view symbol) {
  if (!skip(symbol)) fail_expected("`" + std::string(symbol) + "`");
}

std::string_view Scanner::read_identifier(const char* what) {
  const std::string_view word = next_word();
  if (!is_identifier(word)) fail_expected(what);
  at_ += word.size();
  return word;
}

std::string_view Scanner::read_path(const char* what) {
  const std::string_view rest = text_.substr(position());
  const std::size_t length = path_length(rest);
  if (length == 0) fail_expected(what);
  at_ += length;
  return rest.substr(0, length);
}

std::string_view Scanner::read_label() {
  if (!sees("@")) fail_expected("a program, as in `@name`");
  const std::string_view rest = text_.substr(at_ + 1);
  std::size_t length = 0;
  while (length < rest.size() && (is_word(rest[length]) || rest[length] == '.')) ++length;
  if (length == 0) fail_expected("a program, as in `@name`");
  at_ += 1 + length;
  return rest.substr(0, length);
}

std::string Scanner::read_string(const char* what) {
  const std::size_t start = position();
  if (!skip("\"")) fail_expected(what);
  std::string result;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (text_[at_] == '\n') break;
    if (text_[at_] != '\\') {
      result += text_[at_++];
      continue;
    }
    const std::size_t escape = at_;
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    at_ += 2;
    unsigned char byte = 0;
    if (kind == 'n') {
      result += '\n';
    } else if (kind == 't') {
      result += '\t';
    } else if (kind == '"' || kind == '\\') {
      result += kind;
    } else if (kind == 'x' && at_ + 2 <= text_.size() && reads_as(text_.substr(at_, 2), byte, 16)) {
      result += static_cast<char>(byte);
      at_ += 2;
    } else {
      fail_at(escape, "unknown escape in a string",
              "the escapes are \\n, \\t, \\\", \\\\ and \\x1f");
    }
  }
  if (at_ >= text_.size() || text_[at_] != '"') fail_at(start, "a string without its closing `\"`");
  ++at_;
  return result;
}

std::int64_t Scanner::read_integer(const char* what) {
  const std::size_t start = position();
  const Attribute read = sees_number() ? read_number() : Attribute{false};
  const auto* value = std::get_if<std::int64_t>(&read.value);
  if (!value) {
    at_ = start;
    fail_expected(what);
  }
  return *value;
}

Shape Scanner::read_shape() {
  expect("[");
  Shape shape;
  while (!skip("]")) {
    if (!shape.empty() && !skip(",")) fail_expected("`,` or `]`");
    shape.push_back(read_integer("an integer"));
  }
  return shape;
}

TensorType Scanner::read_type() {
  const std::size_t start = position();
  const std::string_view name = read_identifier("a type, as in `f32[2, 3]`");
  const Dtype dtype = located(start, [&] { return dtype_named(name); });
  TensorType type{dtype, read_shape()};
  const bool is_possible =
      std::all_of(type.shape.begin(), type.shape.end(), [](auto extent) { return extent >= 0; });
  if (!is_possible) fail_at(start, "expected extents of at least 0, found " + to_string(type));
  return type;
}

Object Scanner::read_object(int depth) {
  if (depth > deepest_object)
    fail_at(position(),
            "products are nested more than " + std::to_string(deepest_object) + " deep");
  if (!sees("(")) return read_type();
  expect("(");
  std::vector<Object::Factor> factors;
  while (!skip(")")) {
    if (!factors.empty() && !skip(",")) fail_expected("`,` or `)`");
    Object::Factor factor;
    if (sees_text()) {
      factor.label = read_string("a label");
      expect(":");
    } else if (!sees("(")) {
      const std::size_t start = at_;
      factor.label = std::string(read_identifier("a label, a type or `(`"));
      if (!skip(":")) {
        factor.label.clear();
        at_ = start;
      }
    }
    factor.object = read_object(depth + 1);
    factors.push_back(std::move(factor));
  }
  return Object::product(std::move(factors));
}

double Scanner::read_nan_bits() {
  const std::size_t start = position();
  expect("(0x");
  const std::string_view digits = next_word();
  std::uint64_t bits = 0;
  const bool is_hexadecimal = reads_as(digits, bits, 16);
  const double value = std::bit_cast<double>(bits);
  if (!is_hexadecimal || value == value)
    fail_at(start, "expected the bits of a NaN, as in `nan(0x7ff8000000000001)`");
  at_ += digits.size();
  expect(")");
  return value;
}

Attribute Scanner::read_number() {
  const std::size_t start = position();
  std::size_t end = start;
  while (end < text_.size() &&
         (is_word(text_[end]) || text_[end] == '.' || text_[end] == '-' || text_[end] == '+'))
    ++end;
  std::string_view word = text_.substr(start, end - start);
  at_ = end;
  const bool is_negative = word.starts_with('-');
  const std::string_view magnitude = word.substr(is_negative ? 1 : 0);
  if (magnitude == "nan") {
    if (!is_negative && sees("(")) return {read_nan_bits()};
    const std::uint64_t sign = is_negative ? std::uint64_t{1} << 63 : 0;
    return {std::bit_cast<double>(sign | std::uint64_t{0x7ff8000000000000})};
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (magnitude == "inf") return {is_negative ? -infinity : infinity};
  double real = 0;
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  if (word.ends_with('u') && reads_as(word.substr(0, word.size() - 1), natural)) return {natural};
  if (reads_as(word, integer)) return {integer};
  if (word.find_first_of(".e") != std::string_view::npos && reads_as(word, real)) return {real};
  fail_at(start, "expected a number that an element can hold, found `" + std::string(word) + "`");
}

}  // namespace hom::text_form
