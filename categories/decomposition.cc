// categories/decomposition.cc -- unrolling of loops
#include <hom/categories/decomposition.h>

#include <algorithm>

#include <hom/core/capture.h>
#include <hom/core/operations/shaping.h>
#include <hom/core/primitives/loops.h>

namespace hom::categories {
namespace {

Program unrolled_scan(const Operation& operation) {
  const Attributes& a = operation.attributes;
  const Program& body = *a.program("body");
  const auto carries = static_cast<std::size_t>(a.integer("carries"));
  const auto scanned = static_cast<std::size_t>(a.integer("scanned"));
  const std::int64_t length = a.integer("length");
  Capture capture(operation.at);
  const LocationScope line(operation.at);
  std::vector<Tensor> x;
  for (const TensorType& type : operation.types)
    x.push_back(capture.input(type, "x" + std::to_string(x.size())));
  std::vector<std::vector<Tensor>> stacks(operation.results.size() - carries);
  for (std::vector<Tensor>& elements : stacks) elements.resize(static_cast<std::size_t>(length));
  std::vector<Tensor> inputs = x;
  for (std::int64_t n = 0; n < length; ++n) {
    const std::int64_t i = a.boolean("reverse") ? length - 1 - n : n;
    for (std::size_t k = carries; k < carries + scanned; ++k) inputs[k] = x[k](i);
    const std::vector<Tensor> results = apply(body, inputs, operation.at);
    std::copy_n(results.begin(), carries, inputs.begin());
    for (std::size_t k = 0; k < stacks.size(); ++k)
      stacks[k][static_cast<std::size_t>(i)] = results[carries + k];
  }
  std::vector<Tensor> outputs(inputs.begin(),
                              inputs.begin() + static_cast<std::ptrdiff_t>(carries));
  for (std::size_t k = 0; k < stacks.size(); ++k)
    outputs.push_back(length ? stack(stacks[k]) : zeros(operation.results[carries + k]));
  return capture.finish(outputs, {}, operation.at).program;
}

}  // namespace

ProgramPtr decomposition(const Operation& operation) {
  if (operation.is("scan")) return shared(unrolled_scan(operation));
  if (operation.is("while")) {
    if (operation.attributes.integer("bound") < 0) return nullptr;
    return shared(bounded_while_as_scan(operation.attributes, operation.types));
  }
  for (const char* name : {"program", "forward"}) {
    if (operation.attributes.has(name)) return operation.attributes.program(name);
  }
  return nullptr;
}

bool is_decomposed(const Primitive& primitive) {
  if (primitive.name == "scan" || primitive.name == "while") return true;
  return std::any_of(primitive.attributes.begin(), primitive.attributes.end(),
                     [](const AttributeSpec& attribute) {
                       return attribute.name == "program" || attribute.name == "forward";
                     });
}

}  // namespace hom::categories
