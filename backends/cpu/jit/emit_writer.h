// backends/cpu/jit/emit_writer.h -- indented text
#pragma once

#include <string>
#include <string_view>

namespace hom::cpu {

/// Collects lines; blocks in braces are indented.
class Writer {
 public:
  void line(std::string_view text) {
    text_.append(2 * depth_, ' ');
    text_ += text;
    text_ += '\n';
  }
  /// `head {`, or a bare block.
  void open(std::string_view head = {}) {
    line(head.empty() ? "{" : std::string(head) + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t depth_ = 0;
};

}  // namespace hom::cpu
