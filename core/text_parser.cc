// core/text_parser.cc -- reading programs from text: slots, types and attributes are checked as
// they are met
#include <algorithm>
#include <map>
#include <unordered_map>

#include <hom/core/builder.h>
#include <hom/core/text.h>
#include <hom/core/text_names.h>
#include <hom/core/text_scanner.h>

namespace hom {
namespace {

using text_form::Scanner;
using Kind = AttributeSpec::Kind;

constexpr int deepest_list = 200;

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return "`true` or `false`";
    case Kind::integer:
      return "an integer";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string in quotes";
    case Kind::dtype:
      return "a dtype";
    case Kind::shape:
      return "a list of integers, as in `[2, 3]`";
    case Kind::program:
      return "a program, as in `@name`";
    case Kind::list:
      break;
  }
  return "a list, as in `{1, 2}`";
}

bool is_of_kind(const Attribute& attribute, Kind kind) {
  return std::visit(
      [kind](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::same_as<Held, bool>)
          return kind == Kind::boolean || kind == Kind::number;
        if constexpr (std::same_as<Held, std::int64_t>)
          return kind == Kind::integer || kind == Kind::number;
        if constexpr (Arithmetic<Held>) return kind == Kind::number;
        if constexpr (std::same_as<Held, std::string>) return kind == Kind::string;
        if constexpr (std::same_as<Held, Dtype>) return kind == Kind::dtype;
        if constexpr (std::same_as<Held, Shape>) return kind == Kind::shape;
        if constexpr (std::same_as<Held, ProgramPtr>) return kind == Kind::program;
        return kind == Kind::list;
      },
      attribute.value);
}

/// Reads one text: definitions, and the program at its end.
class Parser {
 public:
  Parser(std::string_view text, const std::vector<Tensor>& captured,
         const PrimitiveTable& primitives, const Location& at)
      : scan_(text, at), captured_(captured), primitives_(primitives), caller_(at) {}

  Program parse() {
    read_version();
    while (starts_definition()) read_definition();
    std::string name;
    if (scan_.sees_text()) {
      name = scan_.read_string("a name");
    } else if (!scan_.sees("(") && !starts_type()) {
      name = std::string(scan_.read_identifier("the name or the domain of a program"));
    }
    Program program = read_program(std::move(name));
    if (!scan_.at_end()) scan_.fail_expected("the end of the text after the last program");
    require(next_captured_ == captured_.size(), caller_, [&] {
      return Complaint{"the program text captures " + std::to_string(next_captured_) +
                           " tensors, but " + std::to_string(captured_.size()) + " were given",
                       "give those of captured_tensors(program) for the program that was printed"};
    });
    return program;
  }

 private:
  void read_version() {
    if (!scan_.sees_word("hom")) scan_.fail_expected("`hom 1`, the version of the text form");
    scan_.expect("hom");
    const std::size_t place = scan_.position();
    const std::int64_t version = scan_.read_integer("a version number");
    if (version != text_form::version) {
      scan_.fail_at(place, "unknown version " + std::to_string(version) + " of the text form",
                    "this Hom reads version " + std::to_string(text_form::version) +
                        "; use the Hom that wrote the text");
    }
  }

  /// `program` may also be the name of the last program; only a definition goes on with `@`.
  bool starts_definition() {
    if (!scan_.sees_word("program")) return false;
    Scanner ahead = scan_;
    ahead.expect("program");
    return ahead.sees("@");
  }

  bool starts_type() {
    Scanner ahead = scan_;
    ahead.read_identifier("the name or the domain of a program");
    return ahead.sees("[");
  }

  void read_definition() {
    scan_.expect("program");
    const std::size_t place = scan_.position();
    const std::string label(scan_.read_label());
    std::string name = label.substr(0, label.find('.'));
    if (!text_form::is_identifier(name)) name.clear();
    if (scan_.sees_text()) name = scan_.read_string("a name");
    auto program = std::make_shared<const Program>(read_program(std::move(name)));
    if (!programs_.emplace(label, std::move(program)).second) {
      scan_.fail_at(place, "the program `@" + label + "` is defined twice");
    }
  }

  Program read_program(std::string name) {
    Builder builder;
    slots_.clear();
    captured_here_ = 0;
    const std::size_t domain_place = scan_.position();
    Object domain = scan_.read_object();
    scan_.expect("->");
    const std::size_t codomain_place = scan_.position();
    Object codomain = scan_.read_object();
    scan_.expect("{");
    if (starts_inputs()) {
      read_inputs(builder);
    } else {
      add_inputs(builder, domain, domain_place);
    }
    const std::vector<TensorType> inputs = builder.program().input_types();
    if (!text_form::describes(domain, inputs)) {
      scan_.fail_at(domain_place,
                    "the domain is " + to_string(domain) + ", but the inputs are others");
    }
    while (!scan_.sees_word("return")) read_step(builder);
    std::vector<Slot> outputs = read_outputs();
    std::vector<TensorType> types;
    types.reserve(outputs.size());
    for (Slot slot : outputs) types.push_back(builder.type(slot));
    if (!text_form::describes(codomain, types)) {
      Object returned;
      for (const TensorType& type : types) returned.factors.push_back({"", type});
      scan_.fail_at(codomain_place, "the codomain is " + to_string(codomain) +
                                        ", but the program returns " + to_string(returned));
    }
    return std::move(builder).finish(std::move(outputs),
                                     {std::move(name), std::move(domain), std::move(codomain)});
  }

  /// A line `inputs a: …`; a result may be called `inputs` too.
  bool starts_inputs() {
    if (!scan_.sees_word("inputs")) return false;
    Scanner ahead = scan_;
    ahead.expect("inputs");
    return !ahead.sees(":");
  }

  void read_inputs(Builder& builder) {
    scan_.expect("inputs");
    do {
      const std::size_t place = scan_.position();
      const std::string_view slot = scan_.read_path("the name of an input");
      std::string name = scan_.sees_text() ? scan_.read_string("a name") : std::string(slot);
      scan_.expect(":");
      define(std::string(slot), builder.add_input(scan_.read_type(), std::move(name)), place);
    } while (scan_.skip(","));
  }

  void add_inputs(Builder& builder, const Object& domain, std::size_t place) {
    const std::vector<TensorType> leaves = domain.leaves();
    const std::vector<std::string> paths = text_form::input_paths(domain);
    for (std::size_t i = 0; i < leaves.size(); ++i)
      define(paths[i], builder.add_input(leaves[i], paths[i]), place);
  }

  void define(std::string name, Slot slot, std::size_t place) {
    const auto [found, is_new] = slots_.emplace(std::move(name), slot);
    if (!is_new)
      scan_.fail_at(place, "`" + found->first + "` is defined twice: expected a new name");
  }

  Slot read_slot() {
    const std::size_t place = scan_.position();
    const std::string_view name = scan_.read_path("the name of an input or result");
    const auto found = slots_.find(std::string(name));
    if (found == slots_.end()) {
      scan_.fail_at(place, "`" + std::string(name) +
                               "` is not defined: expected an input or an earlier result");
    }
    return found->second;
  }

  std::vector<Slot> read_outputs() {
    scan_.expect("return");
    std::vector<Slot> outputs;
    while (!scan_.skip("}")) {
      if (!outputs.empty() && !scan_.skip(",")) scan_.fail_expected("`,` or `}`");
      outputs.push_back(read_slot());
    }
    return outputs;
  }

  struct Result {
    std::string name;
    std::size_t place;
    TensorType type;
    std::size_t type_place;
  };

  void read_step(Builder& builder) {
    std::vector<Result> results;
    do {
      const std::size_t place = scan_.position();
      std::string name(scan_.read_path("a result, as in `v3: f64[] = …`, or `return`"));
      scan_.expect(":");
      const std::size_t type_place = scan_.position();
      results.push_back({std::move(name), place, scan_.read_type(), type_place});
    } while (scan_.skip(","));
    scan_.expect("=");

    const std::size_t place = scan_.position();
    const std::string_view primitive_name = scan_.read_identifier("a primitive");
    const Primitive& primitive = find_primitive(primitive_name, place);
    std::vector<Slot> operands;
    if (scan_.skip("(")) {
      while (!scan_.skip(")")) {
        if (!operands.empty() && !scan_.skip(",")) scan_.fail_expected("`,` or `)`");
        operands.push_back(read_slot());
      }
    }
    const Attributes attributes = read_attributes(primitive, place);
    const bool is_captured = primitive.name == "captured" && operands.empty();
    const Slot first =
        is_captured ? read_captured(builder, attributes, place) : scan_.located(place, [&] {
          return builder.append_exactly(primitive, attributes, operands, caller_, "");
        });
    define_results(builder, primitive, results, first, place);
  }

  /// The table is searched once for each name.
  const Primitive& find_primitive(std::string_view name, std::size_t place) {
    const Primitive*& known = known_primitives_[std::string(name)];
    if (!known) {
      known = scan_.located(place, [&] { return &primitives_.find(name); });
    }
    return *known;
  }

  void define_results(const Builder& builder, const Primitive& primitive,
                      std::vector<Result>& results, Slot first, std::size_t place) {
    // A step without results is not recorded.
    const Program& program = builder.program();
    const std::uint32_t count =
        first < program.slot_count() ? program.step(program.definition(first)).result_count : 0;
    if (count != results.size()) {
      scan_.fail_at(place, primitive.name + " has " + std::to_string(count) + " results, but " +
                               std::to_string(results.size()) + " are named");
    }
    for (Slot r = 0; r < count; ++r) {
      Result& result = results[r];
      if (builder.type(first + r) != result.type) {
        scan_.fail_at(result.type_place, "expected " + to_string(builder.type(first + r)) +
                                             ", the type that " + primitive.name + " gives `" +
                                             result.name + "`, found " + to_string(result.type));
      }
      define(std::move(result.name), first + r, result.place);
    }
  }

  Slot read_captured(Builder& builder, const Attributes& attributes, std::size_t place) {
    const std::string position = std::to_string(captured_here_);
    if (attributes.integer("index") != captured_here_++)
      scan_.fail_at(place,
                    "expected index = " + position + ": captured tensors are numbered in order");
    if (next_captured_ >= captured_.size()) {
      scan_.fail_at(place,
                    "expected a captured tensor, but only " + std::to_string(captured_.size()) +
                        " were given",
                    "give those of captured_tensors(program) for the program that was printed");
    }
    const Tensor& tensor = captured_[next_captured_++];
    const TensorType expected{attributes.dtype("dtype"), attributes.shape("shape")};
    const TensorType given = tensor.array(caller_).type;
    if (given != expected) {
      scan_.fail_at(place, "expected a captured " + to_string(expected) + ", but captured tensor " +
                               std::to_string(next_captured_ - 1) + " is " + to_string(given));
    }
    return builder.capture(tensor, caller_);
  }

  Attributes read_attributes(const Primitive& primitive, std::size_t place) {
    Attributes attributes;
    if (scan_.skip("{")) {
      while (!scan_.skip("}")) {
        if (!attributes.empty() && !scan_.skip(",")) scan_.fail_expected("`,` or `}`");
        read_attribute_of(primitive, attributes);
      }
    }
    // In the order of the declaration, whatever that of the text: equal steps compare equal.
    Attributes ordered;
    for (const AttributeSpec& spec : primitive.attributes) {
      if (!attributes.has(spec.name)) {
        scan_.fail_at(place, primitive.name + " lacks its attribute `" + spec.name +
                                 "`: expected " + kind_name(spec.kind));
      }
      ordered.set(spec.name, attributes.get(spec.name));
    }
    return ordered;
  }

  void read_attribute_of(const Primitive& primitive, Attributes& attributes) {
    const std::size_t place = scan_.position();
    const std::string_view name = scan_.read_identifier("the name of an attribute");
    const auto spec =
        std::find_if(primitive.attributes.begin(), primitive.attributes.end(),
                     [name](const AttributeSpec& declared) { return declared.name == name; });
    if (spec == primitive.attributes.end()) {
      scan_.fail_at(place, primitive.name + " has no attribute `" + std::string(name) + "`" +
                               attributes_hint(primitive));
    }
    if (attributes.has(name))
      scan_.fail_at(place, "the attribute `" + std::string(name) + "` is given twice");
    scan_.expect("=");
    const std::size_t value_place = scan_.position();
    Attribute value = read_attribute(kind_name(spec->kind));
    if (!is_of_kind(value, spec->kind)) {
      scan_.fail_at(value_place, "expected " + std::string(kind_name(spec->kind)) +
                                     " as the attribute `" + spec->name + "` of " + primitive.name +
                                     ", found " + to_string(value));
    }
    // The name that the primitive owns outlives the text.
    attributes.set(spec->name, std::move(value));
  }

  static std::string attributes_hint(const Primitive& primitive) {
    std::string names;
    for (const AttributeSpec& spec : primitive.attributes)
      names += (names.empty() ? ": expected `" : ", `") + spec.name + "`";
    return names;
  }

  Attribute read_attribute(const char* what, int depth = 0) {
    if (depth > deepest_list)
      scan_.fail_at(scan_.position(),
                    "lists are nested more than " + std::to_string(deepest_list) + " deep");
    if (scan_.sees_text()) return {scan_.read_string(what)};
    if (scan_.sees("[")) return {scan_.read_shape()};
    if (scan_.sees("{")) return read_list(depth);
    if (scan_.sees("@")) return read_reference();
    if (scan_.sees_word("true")) return scan_.expect("true"), Attribute{true};
    if (scan_.sees_word("false")) return scan_.expect("false"), Attribute{false};
    for (Dtype dtype : all_dtypes) {
      if (scan_.sees_word(dtype.name())) return scan_.expect(dtype.name()), Attribute{dtype};
    }
    if (scan_.sees_number()) return scan_.read_number();
    scan_.fail_expected(what);
  }

  Attribute read_list(int depth) {
    scan_.expect("{");
    AttributeList list;
    while (!scan_.skip("}")) {
      if (!list.empty() && !scan_.skip(",")) scan_.fail_expected("`,` or `}`");
      list.push_back(read_attribute("a value", depth + 1));
    }
    return {std::move(list)};
  }

  Attribute read_reference() {
    const std::size_t place = scan_.position();
    const std::string label(scan_.read_label());
    const auto found = programs_.find(label);
    if (found == programs_.end()) {
      scan_.fail_at(place, "the program `@" + label +
                               "` is not defined: expected its definition before its use");
    }
    return {found->second};
  }

  Scanner scan_;
  const std::vector<Tensor>& captured_;
  const PrimitiveTable& primitives_;
  const Location& caller_;
  std::map<std::string, ProgramPtr> programs_;
  std::unordered_map<std::string, const Primitive*> known_primitives_;
  // Of the program being read.
  std::unordered_map<std::string, Slot> slots_;
  std::int64_t captured_here_ = 0;
  // Of the whole text.
  std::size_t next_captured_ = 0;
};

}  // namespace

Program parse_program(std::string_view text, const std::vector<Tensor>& captured,
                      const PrimitiveTable& primitives, const Location& at) {
  return Parser(text, captured, primitives, at).parse();
}

}  // namespace hom
