// backends/cpu/jit/emit_kernel.cc -- arguments, values, stores and checks
#include <hom/backends/cpu/jit/emit_kernel.h>

#include <algorithm>
#include <utility>

namespace hom::cpu {

using nest::Combine;

namespace {

/// A label as part of a comment: nothing in it may end the line or continue it.
std::string commented(std::string label) {
  for (char& c : label) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\\') c = '?';
  }
  return label;
}

}  // namespace

KernelPrinter::KernelPrinter(const nest::Kernel& kernel, const Dialect& dialect,
                             std::int64_t first_failure)
    : kernel_(kernel), values_(kernel, dialect), dialect_(dialect), first_failure_(first_failure) {}

std::string KernelPrinter::print(std::size_t number) {
  out_.open(dialect_.kernel_head(number));
  arguments();
  block(kernel_.body);
  out_.close();
  return out_.take();
}

void KernelPrinter::arguments() {
  for (std::size_t i = 0; i < kernel_.buffers.size(); ++i) {
    const nest::Buffer& buffer = kernel_.buffers[i];
    const std::string type =
        buffer.dtype.is_bool() ? "u8" : ExpressionPrinter::number_type(buffer.dtype);
    const std::string name = ExpressionPrinter::buffer(static_cast<std::int64_t>(i));
    if (buffer.is_local) {
      out_.line("alignas(64) " + type + " " + name + "[" +
                std::to_string(std::max<std::int64_t>(buffer.elements, 1)) + "];");
      continue;
    }
    const std::string pointer = (buffer.is_written ? "" : "const ") + type + "*";
    out_.line(pointer + " const " + name + " = (" + pointer + ")arguments[" + std::to_string(i) +
              "];" + (buffer.label.empty() ? "" : "  // " + commented(buffer.label)));
  }
}

void KernelPrinter::block(const nest::Block& block) {
  for (const nest::Statement& statement : block)
    std::visit([&](const auto& is) { place(is); }, statement.is);
}

void KernelPrinter::place(const nest::Define& define) {
  const nest::Node::Kind kind = kernel_.nodes[define.value].kind;
  if (kind == nest::Node::Kind::constant || kind == nest::Node::Kind::axis) return;
  out_.line("const " + values_.type_of(define.value) + " v" + std::to_string(define.value) + " = " +
            values_.definition(define.value) + ";");
}

void KernelPrinter::place(const nest::Store& store) {
  const bool is_guarded = store.when && !values_.is_vector(*store.when);
  if (is_guarded) out_.open("if (" + values_.number(*store.when) + ")");
  const bool in_lanes =
      values_.lanes() > 1 && (values_.varies(store.index) || values_.varies(store.value) ||
                              (store.when && values_.varies(*store.when)));
  if (in_lanes) {
    store_vector(store);
  } else {
    const Dtype dtype = kernel_.buffers[store.buffer].dtype;
    const std::string place =
        ExpressionPrinter::buffer(store.buffer) + "[" + values_.number(store.index) + "]";
    const auto once = [&] {
      out_.line(place + " = " + combined_with(store, place, values_.number(store.value), dtype) +
                ";");
    };
    // What does not vary is combined once for each position all the same.
    const bool repeats = values_.lanes() > 1 && store.combine != Combine::set;
    if (repeats) out_.open("for (int l = 0; l < " + std::to_string(values_.lanes()) + "; ++l)");
    once();
    if (repeats) out_.close();
  }
  if (is_guarded) out_.close();
}

std::string KernelPrinter::combined_with(const nest::Store& store, const std::string& there,
                                         const std::string& value, Dtype dtype) const {
  if (store.combine == Combine::set) return value;
  // A bool is stored as a byte, where & and | mean the same.
  return ExpressionPrinter::encoded(
      dtype, ExpressionPrinter::combined(store.combine, ExpressionPrinter::decoded(dtype, there),
                                         ExpressionPrinter::decoded(dtype, value)));
}

void KernelPrinter::store_vector(const nest::Store& store) {
  const Dtype dtype = kernel_.buffers[store.buffer].dtype;
  const std::string buffer = ExpressionPrinter::buffer(store.buffer);
  const bool is_masked = store.when && values_.is_vector(*store.when);
  if (!is_masked && values_.stride(store.index) == 1) {
    const std::string to = buffer + " + " + values_.number(store.index);
    // A mask of bytes as 0 and 1.
    const std::string value = dtype.is_bool() ? "as<" + values_.vector_type(u8) + ">(-" +
                                                    values_.mask(store.value, 1) + ")"
                                              : values_.held(store.value);
    const std::string type = values_.vector_type(dtype.is_bool() ? u8 : dtype);
    out_.line("store(" + to + ", " +
              combined_with(store, "load<" + type + ">(" + to + ")", value, dtype) + ");");
    return;
  }
  // Lane by lane, in order, because places may meet.
  out_.open("for (int l = 0; l < " + std::to_string(values_.lanes()) + "; ++l)");
  if (is_masked) out_.open("if (" + values_.lane(*store.when, "l") + ")");
  const std::string place = buffer + "[" + values_.lane(store.index, "l") + "]";
  out_.line(place + " = " +
            combined_with(store, place, "(" + values_.lane(store.value, "l") + ")", dtype) + ";");
  if (is_masked) out_.close();
  out_.close();
}

void KernelPrinter::place(const nest::Check& check) {
  const std::string number = std::to_string(first_failure_ + check.failure + 1);
  if (values_.lanes() == 1) {
    out_.line("if (!" + values_.number(check.ok) + ") fail(record, " + number + ", " +
              values_.number(check.offending) + ");");
    return;
  }
  // One position after the other, an earlier lane would have failed first.
  const auto fail_in = [&](const std::string& lane) {
    out_.line("record->failure = " + number + ";");
    out_.line("record->value = " + values_.lane(check.offending, lane) + ";");
    out_.line("first_failed = " + lane + ";");
  };
  if (!values_.is_vector(check.ok)) {
    out_.open("if (!" + values_.number(check.ok) + " && first_failed > 0)");
    fail_in("0");
    out_.close();
    return;
  }
  out_.open("if (!all(" + values_.mask(check.ok, values_.mask_bytes(check.ok)) + "))");
  out_.open("for (int l = 0; l < first_failed; ++l)");
  out_.open("if (!(" + values_.lane(check.ok, "l") + "))");
  fail_in("l");
  out_.close();
  out_.close();
  out_.close();
}

void KernelPrinter::place(const nest::Shortcut& shortcut) {
  // What is left over after the vectors is seldom worth a second text.
  if (kernel_.vector_axis && values_.lanes() == 1) {
    out_.open();
    block(shortcut.full);
    return out_.close();
  }
  out_.open();
  block(shortcut.attempt);
  out_.open("if (" +
            (values_.is_vector(shortcut.holds)
                 ? "all(" + values_.mask(shortcut.holds, values_.mask_bytes(shortcut.holds)) + ")"
                 : values_.number(shortcut.holds)) +
            ")");
  block(shortcut.quick);
  out_.close();
  out_.open("else");
  block(shortcut.full);
  out_.close();
  out_.close();
}

}  // namespace hom::cpu
