// tests/unit/eager_executor_test.cc -- complete kernels, safe reuse, Threefry
#include <map>
#include <optional>
#include <thread>

#include "eager_support.h"

#include <hom/backends/cpu/threefry.h>
#include <hom/hom.h>

namespace hom::testing {
namespace {

Tensor ones(Dtype dtype, const Shape& shape) {
  return visit(dtype, [&]<class T>() {
    return tensor(
        std::vector<T>(static_cast<std::size_t>(element_count(shape)), convert_element<T>(1)),
        shape);
  });
}

// ---- completeness ----

struct Example {
  Attributes attributes;
  TensorList operands;
};

/// A step of the primitive on elements of `dtype`; none for a primitive that this test does not
/// know.
std::optional<Example> example(const Primitive& primitive, Dtype dtype) {
  const std::string& name = primitive.name;
  const Tensor x = ones(dtype, {2, 3});
  const Tensor origin = tensor(std::vector<std::int64_t>{0, 0});
  const Attribute check{std::string("check")};
  const Attribute set{std::string("set")};
  const Attribute first{std::int64_t{0}};
  const Attribute none{Shape{}};
  const Attribute zeros{Shape{0, 0}};
  const Attribute unit{Shape{1, 1}};
  const auto of = [](Attributes attributes, std::initializer_list<Tensor> operands) {
    return Example{std::move(attributes), TensorList(operands)};
  };
  if (name == "constant") return of({{"value", {1.0}}, {"dtype", {dtype}}, {"shape", unit}}, {});
  if (name == "iota") return of({{"dtype", {dtype}}, {"shape", unit}, {"axis", first}}, {});
  if (name == "random_bits") return of({{"dtype", {dtype}}, {"shape", unit}}, {ones(u32, {2})});
  if (name == "select") return of({}, {ones(bool_, {2, 3}), x, x});
  if (name == "convert" || name == "bitcast") return of({{"dtype", {dtype}}}, {x});
  if (name == "broadcast_in_dim")
    return of({{"shape", {Shape{4, 2, 3}}}, {"axes", {Shape{1, 2}}}}, {x});
  if (name == "reshape") return of({{"shape", {Shape{6}}}}, {x});
  if (name == "transpose") return of({{"permutation", {Shape{1, 0}}}}, {x});
  if (name == "slice") return of({{"start", zeros}, {"size", unit}, {"step", unit}}, {x});
  if (name == "pad")
    return of({{"low", unit}, {"high", unit}, {"interior", unit}}, {x, ones(dtype, {})});
  if (name == "concat") return of({{"axis", first}}, {x, x});
  if (name == "update_slice")
    return of({{"start", zeros}, {"step", unit}, {"combine", set}}, {x, x});
  if (name == "gather") return of({{"axes", {Shape{0}}}, {"mode", check}}, {x, ones(i64, {1, 1})});
  if (name == "scatter") {
    return of({{"axes", {Shape{0}}}, {"combine", set}, {"mode", check}},
              {x, ones(i64, {1, 1}), ones(dtype, {1, 3})});
  }
  if (name == "dynamic_slice") return of({{"size", unit}, {"mode", check}}, {x, origin});
  if (name == "dynamic_update_slice")
    return of({{"combine", set}, {"mode", check}}, {x, x, origin});
  if (name.starts_with("window_")) {
    // Windows of one element each, so that every operand has one shape.
    Attributes windows{{"window", unit}, {"stride", unit}, {"dilation", unit}};
    windows.set("low", zeros);
    windows.set("high", zeros);
    if (name == "window_spread") windows.set("shape", {Shape{2, 3}});
    return name.starts_with("window_select") ? of(windows, {x, x, x}) : of(windows, {x});
  }
  if (name.starts_with("reduce_")) return of({{"axes", {Shape{1}}}}, {x});
  if (name.starts_with("arg")) return of({{"axis", first}}, {x});
  if (name.starts_with("cum")) return of({{"axis", first}, {"reverse", {false}}}, {x});
  if (name == "triangular_solve") {
    return of({{"lower", {true}}, {"transposed", {false}}, {"unit", {false}}},
              {ones(dtype, {2, 2}), ones(dtype, {2, 3})});
  }
  if (name == "lu_solve") {
    const Tensor matrix = ones(dtype, {2, 2});
    return of({{"transposed", {false}}}, {matrix, matrix, origin, ones(dtype, {2, 3})});
  }
  if (name == "sort") return of({{"axis", first}, {"descending", {false}}}, {x});
  if (name == "fft") return of({{"axis", first}, {"inverse", {false}}}, {x, x});
  if (name == "polygamma") return of({{"n", first}}, {x});
  if (name == "log_gamma_slope") return of({{"k", {std::int64_t{1}}}}, {x, x});
  if (name == "pinv") return of({{"cutoff", {1e-6}}}, {x});
  for (const char* square : {"cholesky", "eigh", "determinant", "cofactor"}) {
    if (name == square) return of({}, {ones(dtype, {2, 2})});
  }
  if (name == "conv_general") {
    Attributes one_axis;
    for (const char* list : {"stride", "low", "high", "lhs_dilation", "rhs_dilation"})
      one_axis.set(list, {Shape{1}});
    one_axis.set("groups", {std::int64_t{1}});
    return of(one_axis, {ones(dtype, {2, 3, 3}), ones(dtype, {2, 3, 3})});
  }
  if (name == "dot_general") {
    const Attribute last{Shape{1}};
    return of(
        {{"lhs_contract", last}, {"rhs_contract", last}, {"lhs_batch", none}, {"rhs_batch", none}},
        {x, x});
  }
  if (!primitive.attributes.empty()) return std::nullopt;
  Example elementwise;
  for (int i = 0; i < primitive.min_operands; ++i) elementwise.operands.push_back(x);
  return elementwise;
}

/// Those that the evaluator runs itself.
bool has_no_kernel(const Primitive& primitive) {
  if (primitive.name == "captured") return true;
  for (const AttributeSpec& attribute : primitive.attributes) {
    if (attribute.kind == AttributeSpec::Kind::program) return true;
  }
  return false;
}

TEST(EagerExecutor, EveryPrimitiveHasAKernelThatRunsOnEachOfItsDtypes) {
  int runs = 0;
  for (const Primitive* primitive : standard_primitives().all()) {
    if (has_no_kernel(*primitive)) continue;
    ASSERT_NE(cpu_kernels().find(primitive->name), nullptr)
        << primitive->name << " has no CPU kernel";
    for (Dtype dtype : all_dtypes) {
      if (!primitive->dtypes.contains(dtype)) continue;
      const std::optional<Example> step = example(*primitive, dtype);
      ASSERT_TRUE(step) << "teach example() in this test about " << primitive->name;
      try {
        compute(primitive->name, step->attributes, step->operands);
        ++runs;
      } catch (const Error& error) {
        ADD_FAILURE() << primitive->name << " on " << dtype.name() << ": " << error.what();
      }
    }
  }
  EXPECT_GT(runs, 400);
}

TEST(EagerExecutor, EveryKernelBelongsToAPrimitive) {
  for (const std::string& name : cpu_kernels().names())
    EXPECT_TRUE(standard_primitives().contains(name)) << name;
}

TensorList execute_with(EagerExecutor& executor, const Primitive& primitive, TensorList operands) {
  const Location at = Location::current();
  const TensorType type = operands[0].type();
  return executor.execute(Invocation{primitive, {}, {&type, 1}, at}, std::move(operands));
}

TEST(EagerExecutor, APrimitiveWithoutAKernelIsAnErrorThatNamesIt) {
  const Primitive primitive{.name = "frobnicate"};
  EagerExecutor executor;
  try {
    execute_with(executor, primitive, {Tensor(1.0)});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("frobnicate: the eager CPU executor has no kernel"),
              std::string::npos)
        << error.what();
  }
}

TEST(EagerExecutor, ATableOfOnesOwnExtendsTheStandardOne) {
  KernelTable table = cpu_kernels();
  table.add("answer", [](const Invocation&, TensorList) { return TensorList{Tensor(42.0)}; });
  EXPECT_THROW(table.add("answer", nullptr), Error);
  EagerExecutor executor(table);
  const Primitive primitive{.name = "answer"};
  EXPECT_EQ(execute_with(executor, primitive, {Tensor(1.0)})[0].item(), 42);
  EXPECT_EQ(cpu_kernels().find("answer"), nullptr);
}

TEST(EagerExecutor, AFormerCopyOfATableTakesOutWhatWasAdded) {
  const auto answer = [](const Invocation&, TensorList) { return TensorList{Tensor(42.0)}; };
  const Primitive primitive{.name = "answer"};
  EagerExecutor executor;
  const KernelTable before = cpu_kernels();
  cpu_kernels().add("answer", answer);
  EXPECT_EQ(execute_with(executor, primitive, {Tensor(1.0)})[0].item(), 42);
  cpu_kernels() = before;
  EXPECT_EQ(cpu_kernels().find("answer"), nullptr);
  EXPECT_THROW(execute_with(executor, primitive, {Tensor(1.0)}), Error);
}

TEST(EagerExecutor, KernelsOfCompositesAreFoundByTheirNames) {
  KernelTable table = cpu_kernels();
  const CompositeKernel kernel = [](const Invocation&, TensorList& x) {
    return std::optional(TensorList{std::move(x[0])});
  };
  table.add_composite("same", kernel);
  EXPECT_THROW(table.add_composite("same", kernel), Error);
  EXPECT_EQ(table.find_composite("same"), kernel);
  EXPECT_EQ(table.find("same"), nullptr);
  EXPECT_EQ(table.composite_names(), std::vector<std::string>{"same"});
  EXPECT_EQ(cpu_kernels().find_composite("same"), nullptr);

  const auto doubled = composite("same", [](Tensor x) { return x + x; });
  EXPECT_EQ(doubled(2.0).item(), 4);
  EagerExecutor executor(table);
  const ExecutorScope scope(executor);
  EXPECT_EQ(doubled(2.0).item(), 2);
  // A composite of another name is its decomposition.
  EXPECT_EQ(composite("other", [](Tensor x) { return x + x; })(2.0).item(), 4);
}

TEST(EagerExecutor, AKernelOfACompositeMayDeclineOrFail) {
  KernelTable table = cpu_kernels();
  table.add_composite("declined", [](const Invocation&, TensorList&) -> std::optional<TensorList> {
    return std::nullopt;
  });
  table.add_composite("wrong", [](const Invocation&, TensorList&) {
    return std::optional(TensorList{Tensor(1.0f)});
  });
  EagerExecutor executor(table);
  const ExecutorScope scope(executor);
  const auto doubled = [](Tensor x) { return x + x; };
  EXPECT_EQ(composite("declined", doubled)(2.0).item(), 4);
  EXPECT_THROW(composite("wrong", doubled)(2.0), Error);
}

TEST(PrimitiveTable, AFormerCopyTakesOutWhatWasAddedWhileProgramsStay) {
  PrimitiveTable table = standard_primitives();
  const PrimitiveTable before = table;
  // Shared with the standard table, so that programs of both are the same.
  EXPECT_EQ(&table.find("sin"), &standard_primitives().find("sin"));
  const Program p = [&] {
    const Primitive& twice =
        table.add({.name = "twice",
                   .type = [](const Typing& t) { return std::vector{t.operands[0]}; },
                   .run = [](const Invocation&, TensorList x) { return TensorList{x[0] + x[0]}; }});
    EXPECT_THROW(table.add({.name = "twice"}), Error);
    return program([&](Tensor x) { return apply_one(twice, {}, {x}, Location::current()); },
                   f64[{}]);
  }();
  EXPECT_FALSE(standard_primitives().contains("twice"));
  for (int i = 0; i < 3; ++i) table = before;
  EXPECT_FALSE(table.contains("twice"));
  EXPECT_EQ(table.all().size(), standard_primitives().all().size());
  EXPECT_THROW(table.find("twice"), Error);
  EXPECT_EQ(evaluate(p, {Tensor(2.0)})[0].item(), 4);
  EXPECT_NE(to_text(p).find("twice"), std::string::npos);
  EXPECT_THROW(parse_program(to_text(p)), Error);

  // The name is free again, for another declaration; the program keeps the former one.
  const Primitive& other = table.add({.name = "twice"});
  EXPECT_NE(&p.step(0).primitive, &other);
  const PrimitiveTable& itself = table;
  table = itself;
  EXPECT_EQ(&table.find("twice"), &other);
}

TEST(EagerExecutor, AnotherPrimitiveAtTheSameAddressIsNotMistaken) {
  EagerExecutor executor;
  Primitive primitive{.name = "neg"};
  EXPECT_EQ(execute_with(executor, primitive, {Tensor(4.0)})[0].item(), -4);
  primitive.name = "sqrt";
  EXPECT_EQ(execute_with(executor, primitive, {Tensor(4.0)})[0].item(), 2);
}

TEST(EagerExecutor, ManyThreadsMayComputeAtOnce) {
  const Tensor shared = ones(f32, {100});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([shared] {
      for (int i = 0; i < 500; ++i) {
        Tensor x = shared;
        for (const char* name : {"neg", "exp", "abs"}) x = run(name, {}, std::move(x));
        ASSERT_FLOAT_EQ(element<float>(x, {99}), std::exp(-1.0f));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(element<float>(shared, {0}), 1);
}

// ---- overwriting operands ----

const std::byte* address_of(const Tensor& x) { return x.array().buffer->data(); }

TEST(EagerReuse, AnElementwiseStepOverwritesAnOperandThatNobodyElseOwns) {
  Tensor x = ones(f32, {2, 3});
  const std::byte* before = address_of(x);
  x = run("neg", {}, std::move(x));
  EXPECT_EQ(address_of(x), before);
  x = run("add", {}, ones(f32, {2, 3}), std::move(x));
  EXPECT_EQ(elements<float>(x), std::vector<float>(6, 0));
  x = run("convert", {{"dtype", {i32}}}, std::move(x));
  EXPECT_EQ(x.dtype(), i32);
  EXPECT_EQ(elements<std::int32_t>(x), std::vector<std::int32_t>(6, 0));
}

TEST(EagerReuse, ASharedOperandIsLeftAlone) {
  const Tensor x = ones(f32, {4});
  const Tensor y = run("neg", {}, x);
  EXPECT_NE(address_of(y), address_of(x));
  EXPECT_EQ(elements<float>(x), std::vector<float>(4, 1));
}

TEST(EagerReuse, AnOperandThatAppearsTwiceIsShared) {
  Tensor x = ones(f32, {4});
  const std::byte* before = address_of(x);
  TensorList twice;
  twice.push_back(x);
  twice.push_back(std::move(x));
  const Tensor y = compute("add", {}, std::move(twice))[0];
  EXPECT_NE(address_of(y), before);
  EXPECT_EQ(elements<float>(y), std::vector<float>(4, 2));
}

TEST(EagerReuse, AViewKeepsItsBaseFromBeingOverwritten) {
  Tensor x = ones(f32, {4});
  const Tensor view = run("reshape", {{"shape", {Shape{2, 2}}}}, x);
  const Tensor y = run("neg", {}, std::move(x));
  EXPECT_NE(address_of(y), address_of(view));
  EXPECT_EQ(elements<float>(view), std::vector<float>(4, 1));
}

TEST(EagerReuse, ABroadcastOperandIsNotOverwritten) {
  Tensor x = run("constant", {{"value", {3.0}}, {"dtype", {f32}}, {"shape", {Shape{4}}}});
  const Tensor y = run("add", {}, std::move(x), row_of<float>({1, 2, 3, 4}));
  EXPECT_EQ(elements<float>(y), (std::vector<float>{4, 5, 6, 7}));
}

TEST(EagerReuse, ATransposedOperandIsNotOverwrittenByAnElementwiseStep) {
  Tensor x = run("transpose", {{"permutation", {Shape{1, 0}}}},
                 tensor(std::vector<float>{1, 2, 3, 4, 5, 6}, Shape{2, 3}));
  const Tensor y = run("neg", {}, std::move(x));
  EXPECT_TRUE(y.array().is_row_major());
  EXPECT_EQ(elements<float>(y), (std::vector<float>{-1, -4, -2, -5, -3, -6}));
}

TEST(EagerReuse, ComparisonsDoNotSqueezeBoolsIntoWiderElements) {
  Tensor x = row_of<float>({1, 2});
  const Tensor y = run("lt", {}, std::move(x), row_of<float>({2, 2}));
  EXPECT_EQ(y.array().buffer->bytes(), 2u);
  EXPECT_EQ(elements<bool>(y), (std::vector<bool>{true, false}));
}

const Attributes one_element{
    {"start", {Shape{1}}}, {"step", {Shape{1}}}, {"combine", {std::string("add")}}};

TEST(EagerReuse, UpdatesWriteIntoAnArrayThatNobodyElseOwns) {
  Tensor x = ones(f32, {1000});
  const std::byte* before = address_of(x);
  for (int i = 0; i < 10; ++i)
    x = run("update_slice", one_element, std::move(x), row_of<float>({2}));
  EXPECT_EQ(address_of(x), before);
  EXPECT_EQ(element<float>(x, {1}), 21);

  const Attributes scattering{
      {"axes", {Shape{0}}}, {"combine", {std::string("set")}}, {"mode", {std::string("drop")}}};
  x = run("scatter", scattering, std::move(x), ones(i64, {1, 1}), row_of<float>({5}));
  EXPECT_EQ(address_of(x), before);
  const Attributes windowing{{"combine", {std::string("add")}}, {"mode", {std::string("clip")}}};
  x = run("dynamic_update_slice", windowing, std::move(x), row_of<float>({5}),
          row_of<std::int64_t>({1}));
  EXPECT_EQ(address_of(x), before);
  EXPECT_EQ(element<float>(x, {1}), 10);
}

TEST(EagerReuse, UpdatesWriteIntoTransposedArraysToo) {
  Tensor x = run("transpose", {{"permutation", {Shape{1, 0}}}}, ones(f32, {2, 3}));
  const std::byte* before = address_of(x);
  const Attributes attributes{
      {"start", {Shape{2, 0}}}, {"step", {Shape{1, 1}}}, {"combine", {std::string("set")}}};
  x = run("update_slice", attributes, std::move(x), tensor(std::vector<float>{7, 8}, Shape{1, 2}));
  EXPECT_EQ(address_of(x), before);
  EXPECT_EQ(elements<float>(x), (std::vector<float>{1, 1, 1, 1, 7, 8}));
}

TEST(EagerReuse, UpdatesCopySharedAndOverlappingArrays) {
  const Tensor shared = ones(f32, {4});
  const Tensor updated = run("update_slice", one_element, shared, row_of<float>({2}));
  EXPECT_EQ(elements<float>(shared), std::vector<float>(4, 1));
  EXPECT_EQ(elements<float>(updated), (std::vector<float>{1, 3, 1, 1}));

  Tensor broadcast = run("constant", {{"value", {1.0}}, {"dtype", {f32}}, {"shape", {Shape{4}}}});
  EXPECT_EQ(
      elements<float>(run("update_slice", one_element, std::move(broadcast), row_of<float>({2}))),
      (std::vector<float>{1, 3, 1, 1}));
}

TEST(EagerReuse, AnUpdateThatIsAViewOfTheUpdatedArrayIsReadBeforeItChanges) {
  Tensor x = row_of<float>({1, 2, 3, 4});
  Tensor reversed =
      run("slice", {{"start", {Shape{3}}}, {"size", {Shape{4}}}, {"step", {Shape{-1}}}}, x);
  const Attributes attributes{
      {"start", {Shape{0}}}, {"step", {Shape{1}}}, {"combine", {std::string("set")}}};
  EXPECT_EQ(elements<float>(run("update_slice", attributes, std::move(x), std::move(reversed))),
            (std::vector<float>{4, 3, 2, 1}));
}

// ---- random bits ----

TEST(Threefry, GivesThePublishedAnswers) {
  using scalar::threefry2x32;
  const auto answer = [](scalar::TwoWords counter, scalar::TwoWords key) {
    const scalar::TwoWords words = threefry2x32(counter, key);
    return std::pair(words.first, words.second);
  };
  EXPECT_EQ(answer({0, 0}, {0, 0}), std::pair(0x6b200159u, 0x99ba4efeu));
  EXPECT_EQ(answer({~0u, ~0u}, {~0u, ~0u}), std::pair(0x1cb996fcu, 0xbb002be7u));
  EXPECT_EQ(answer({0x243f6a88u, 0x85a308d3u}, {0x13198a2eu, 0x03707344u}),
            std::pair(0xc4923a9cu, 0x483df7a0u));
}

TEST(RandomBits, ElementsDependOnKeyAndPositionAlone) {
  const Tensor key = row_of<std::uint32_t>({0x13198a2eu, 0x03707344u});
  const auto bits = [&](Dtype dtype, const Shape& shape) {
    return run("random_bits", {{"dtype", {dtype}}, {"shape", {shape}}}, key);
  };
  const auto words = elements<std::uint32_t>(bits(u32, {1000}));
  const auto doubles = elements<std::uint64_t>(bits(u64, {10, 100}));
  const auto bytes = elements<std::uint8_t>(bits(u8, {5, 2, 100}));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const scalar::TwoWords want =
        scalar::threefry2x32({static_cast<std::uint32_t>(i), 0}, {0x13198a2eu, 0x03707344u});
    ASSERT_EQ(words[i], want.first);
    ASSERT_EQ(doubles[i], want.first | std::uint64_t{want.second} << 32);
    ASSERT_EQ(bytes[i], static_cast<std::uint8_t>(want.first));
  }
  EXPECT_EQ(bits(u32, {0}).size(), 0);
  EXPECT_EQ(elements<std::uint32_t>(bits(u32, {}))[0], words[0]);
  // The key may be a view.
  const Tensor flipped =
      run("slice", {{"start", {Shape{1}}}, {"size", {Shape{2}}}, {"step", {Shape{-1}}}}, key);
  EXPECT_EQ(elements<std::uint32_t>(
                run("random_bits", {{"dtype", {u32}}, {"shape", {Shape{}}}}, flipped))[0],
            scalar::threefry2x32({0, 0}, {0x03707344u, 0x13198a2eu}).first);
}

}  // namespace
}  // namespace hom::testing
