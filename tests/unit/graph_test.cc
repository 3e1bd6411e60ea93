// tests/unit/graph_test.cc -- pictures: their nodes and wires, what is drawn as one, and what
// graphviz is given
#include <hom/categories/graph.h>

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program_support.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

using testing::HasSubstr;

/// `mul(x: f64[], 2.0)`, or the title alone: what the nodes are and where their wires come from.
std::vector<std::string> outline(const Graph& graph) {
  std::vector<std::string> lines;
  for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
    std::string operands;
    for (const Graph::Wire& wire : graph.wires) {
      if (wire.to != n) continue;
      const Graph::Node& from = graph.nodes[wire.from];
      const bool is_wire = wire.result == Graph::none || from.kind == Graph::Kind::constant;
      operands +=
          (operands.empty() ? "" : ", ") + (is_wire ? from.title : from.results.at(wire.result));
    }
    lines.push_back(graph.nodes[n].title + (operands.empty() ? "" : "(" + operands + ")"));
  }
  return lines;
}

std::size_t count_kind(const Graph& graph, Graph::Kind kind) {
  return static_cast<std::size_t>(std::count_if(
      graph.nodes.begin(), graph.nodes.end(), [=](const auto& node) { return node.kind == kind; }));
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// While it lives, programs are looked for in `path` only.
class SearchPath {
 public:
  explicit SearchPath(const std::string& path) : before_(getenv("PATH") ? getenv("PATH") : "") {
    setenv("PATH", path.c_str(), 1);
  }
  ~SearchPath() { setenv("PATH", before_.c_str(), 1); }

 private:
  std::string before_;
};

bool has_graphviz() { return std::system("dot -V >/dev/null 2>&1") == 0; }

ProgramPtr chain_of(int steps, const std::string& name) {
  Sketch s;
  Slot x = s.input("x");
  for (int i = 0; i < steps; ++i) x = s("sin", {x});
  return s.shared({x}, name);
}

TEST(Graph, of_a_lambda_has_named_wires) {
  const Graph g = graph([](Tensor x, Tensor y) { return cos(x + y * x); }, f64[{}], f64[{}]);
  EXPECT_THAT(outline(g), testing::ElementsAre("x: f64[]", "y: f64[]", "mul(y: f64[], x: f64[])",
                                               "add(x: f64[], v2: f64[])", "cos(v3: f64[])",
                                               "result: f64[](v4: f64[])"));
}

TEST(Graph, draws_constants_where_they_are_used) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot three = s.constant({3.0});
  const Graph g = graph(s.returning({s("mul", {s("add", {x, three}), three}), three}));
  EXPECT_THAT(outline(g), testing::ElementsAre(
                              "x: f64[]", "add(x: f64[], 3.0)", "3.0", "mul(v2: f64[], 3.0)", "3.0",
                              "result 0: f64[](v3: f64[])", "result 1: f64[](3.0)", "3.0"));
}

TEST(Graph, shows_key_attributes_and_the_users_line) {
  Sketch s;
  const Slot x = s.input("x", f64[{3}]);
  const int line = __LINE__ + 1;
  const Slot y = s("reduce_sum", {x}, {{"axes", {Shape{0}}}}, "loss");
  const Graph g = graph(s.returning({y}));
  EXPECT_EQ(g.nodes[1].detail, "axes=[0]");
  EXPECT_THAT(g.nodes[1].tooltip,
              HasSubstr("graph_test.cc:" + std::to_string(line) + ", in `loss`"));
  EXPECT_THAT(to_dot(g), HasSubstr("tooltip=\"" + g.nodes[1].tooltip + "\""));
}

TEST(Graph, draws_called_programs_in_a_box) {
  Sketch inner;
  const Slot a = inner.input("a");
  const Slot b = inner.input("b");
  const ProgramPtr body = inner.shared({inner("mul", {a, b}), a}, "steep");
  Sketch s;
  const Slot x = s.input("x");
  const Slot y = s("call", {x, s("sin", {x})}, {{"program", {body}}});
  const Graph g = graph(s.returning({y, y + 1}));
  ASSERT_EQ(g.boxes.size(), 1u);
  EXPECT_EQ(g.boxes[0].title, "steep");
  EXPECT_THAT(outline(g),
              testing::ElementsAre("x: f64[]", "sin(x: f64[])", "a: f64[](x: f64[])",
                                   "b: f64[](v1: f64[])", "mul(a: f64[], b: f64[])",
                                   "result 0: f64[](v2: f64[])", "result 1: f64[](a: f64[])"));
  EXPECT_EQ(g.nodes[4].box, 0u);
  EXPECT_EQ(g.nodes[5].box, Graph::none);
}

TEST(Graph, draws_both_branches_of_a_cond) {
  Sketch s;
  const Slot x = s.input("x");
  const Slot p = s("lt", {x, s.constant({0.0})});
  const Slot y =
      s("cond", {p, x}, {{"then", {chain_of(1, "")}}, {"otherwise", {chain_of(2, "twice")}}});
  const Graph g = graph(s.returning({y}));
  ASSERT_EQ(g.boxes.size(), 3u);
  EXPECT_EQ(g.boxes[0].title, "cond");
  EXPECT_EQ(g.boxes[1].title, "then");
  EXPECT_EQ(g.boxes[2].title, "otherwise: twice");
  EXPECT_EQ(g.boxes[2].parent, 0u);
  EXPECT_THAT(outline(g), testing::Contains("cond(v2: bool[], v1: f64[], v2: f64[])"));
}

TEST(Graph, collapses_called_programs_first_and_the_largest_first) {
  Sketch s;
  Slot x = s.input("x");
  x = s("call", {x}, {{"program", {chain_of(60, "long")}}});
  x = s("call", {x}, {{"program", {chain_of(10, "short")}}});
  const Program program = s.returning({x});
  EXPECT_EQ(graph(program).boxes.size(), 2u);
  const Graph g = graph(program, {.max_steps = 30});
  ASSERT_EQ(g.boxes.size(), 1u);
  EXPECT_EQ(g.boxes[0].title, "short");
  EXPECT_EQ(g.nodes[1].title, "call long");
  EXPECT_EQ(graph(program, {.max_steps = 5}).boxes.size(), 0u);
}

TEST(Graph, groups_steps_of_one_line_then_of_one_function_then_evenly) {
  Sketch s;
  Slot x = s.input("x");
  for (int i = 0; i < 40; ++i) x = s("sin", {x});
  x = s("exp", {x}, {}, "forward");
  x = s("cos", {x}, {}, "forward");
  const Program program = s.returning({x});

  const Graph by_line = graph(program, {.max_steps = 10});
  ASSERT_EQ(count_kind(by_line, Graph::Kind::group), 1u);
  EXPECT_THAT(by_line.nodes[1].title, testing::MatchesRegex("graph_test\\.cc:[0-9]+ ×40 steps"));
  EXPECT_EQ(by_line.nodes[1].detail, "sin ×40");

  const Graph by_function = graph(program, {.max_steps = 2});
  EXPECT_EQ(count_kind(by_function, Graph::Kind::group), 2u);
  EXPECT_EQ(by_function.nodes[2].title, "forward ×2 steps");

  const Graph evenly = graph(program, {.max_steps = 1});
  ASSERT_EQ(count_kind(evenly, Graph::Kind::group), 1u);
  EXPECT_THAT(evenly.nodes[1].title, HasSubstr("×42 steps"));
  EXPECT_EQ(evenly.nodes[1].detail, "sin ×40, cos ×1, exp ×1");
}

TEST(Graph, of_a_called_program_of_constants_alone_draws_them_where_they_go) {
  const auto constants = named("two", [](Tensor) { return ones({}); });
  const auto f = [&](Tensor x) { return constants(x) * x; };
  const Graph g = graph(program(f, f64[{}]));
  ASSERT_EQ(g.boxes.size(), 1u);
  for (const Graph::Wire& wire : g.wires) EXPECT_LT(wire.from, g.nodes.size());

  const Graph alone = graph(program([](Tensor) { return zeros({3}); }, f64[{}]));
  ASSERT_EQ(alone.wires.size(), 1u);
  EXPECT_LT(alone.wires[0].from, alone.nodes.size());
}

TEST(Graph, never_draws_more_than_its_options_say) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    const Program program = random_program(random, 5 + i);
    for (std::size_t max_steps : {1, 7, 40}) {
      const Graph g = graph(program, {.max_steps = max_steps});
      EXPECT_LE(count_kind(g, Graph::Kind::operation) + count_kind(g, Graph::Kind::group) +
                    count_kind(g, Graph::Kind::captured),
                max_steps + g.boxes.size());
      for (const Graph::Wire& wire : g.wires) {
        ASSERT_LT(wire.from, g.nodes.size());
        ASSERT_LT(wire.to, g.nodes.size());
        const bool starts_at_a_result =
            wire.result == Graph::none || wire.result < g.nodes[wire.from].results.size();
        const bool ends_at_an_operand =
            wire.operand == Graph::none || wire.operand < g.nodes[wire.to].operands;
        EXPECT_TRUE(starts_at_a_result && ends_at_an_operand) << wire.name;
      }
    }
  }
}

TEST(Graph, of_a_million_steps_is_small) {
  Sketch s;
  Slot x = s.input("x");
  for (int i = 0; i < 500'000; ++i) {
    x = s("sin", {x});
    x = s("cos", {x});
  }
  const Graph g = graph(s.returning({x}));
  EXPECT_LE(g.nodes.size(), 152u);
  EXPECT_LT(to_dot(g).size(), 200'000u);
}

TEST(Graph, of_programs_that_call_each_other_twice_is_small) {
  ProgramPtr program = chain_of(2, "p0");
  for (int i = 1; i < 60; ++i) {
    Sketch s;
    const Slot x = s.input("x");
    const Slot once = s("call", {x}, {{"program", {program}}});
    program = s.shared({s("call", {once}, {{"program", {program}}})}, "p" + std::to_string(i));
  }
  EXPECT_LT(graph(*program).nodes.size(), 500u);
}

TEST(Graph, bundles_thousands_of_inputs) {
  Sketch s;
  std::vector<Slot> inputs;
  inputs.reserve(1000);
  for (int i = 0; i < 1000; ++i) inputs.push_back(s.input("x" + std::to_string(i)));
  const Graph g = graph(s.returning({inputs}));
  EXPECT_THAT(outline(g), testing::ElementsAre("1000 inputs", "1000 results(1000 inputs)"));
  EXPECT_EQ(g.wires[0].count, 1000u);
}

TEST(Dot, is_the_same_for_equal_programs) {
  const auto draw = [] {
    std::mt19937 random(2);
    return to_dot(graph(random_program(random, 40)));
  };
  EXPECT_EQ(draw(), draw());
}

TEST(Dot, escapes_what_users_call_things) {
  const std::string awful = "a<b>&\"c\"\\N\n{|}";
  Sketch s;
  const Slot x = s.input(awful);
  const std::string dot = to_dot(graph(s.returning({s("sin", {x}, {}, awful)}, awful)));
  EXPECT_THAT(dot, HasSubstr("<TD PORT=\"r0\">a&lt;b&gt;&amp;&quot;c&quot;\\N {|}: f64[]</TD>"));
  EXPECT_THAT(dot, HasSubstr("label=\"a<b>&amp;&quot;c&quot;\\\\N {|}\""));
  if (!has_graphviz()) GTEST_SKIP() << "graphviz is not installed";
  EXPECT_THAT(to_svg(graph(s.returning({}))), HasSubstr("<svg"));
  Sketch t;
  const Slot y = t.input(awful);
  const std::string svg = to_svg(graph(t.returning({t("sin", {y}, {}, awful)}, awful)));
  EXPECT_THAT(svg, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;\\N {|}: f64[]"));
}

TEST(Svg, shows_lines_as_tooltips_and_is_saved) {
  if (!has_graphviz()) GTEST_SKIP() << "graphviz is not installed";
  const Graph g = graph([](Tensor x) { return sin(x); }, f64[{2, 3}]);
  const std::string path = testing::TempDir() + "hom_graph_test";
  save_svg(g, path + ".svg");
  save_dot(g, path + ".dot");
  const std::string svg = read(path + ".svg");
  EXPECT_THAT(svg, HasSubstr("graph_test.cc:"));
  EXPECT_THAT(svg, HasSubstr("x: f64[2, 3]"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
  EXPECT_EQ(read(path + ".dot"), to_dot(g));
  EXPECT_EQ(to_svg(g), svg);
}

TEST(Svg, of_a_hundred_random_steps_is_accepted_by_graphviz) {
  if (!has_graphviz()) GTEST_SKIP() << "graphviz is not installed";
  std::mt19937 random(11);
  EXPECT_THAT(to_svg(graph(random_program(random, 30))), HasSubstr("</svg>"));
}

TEST(SvgErrors, a_missing_graphviz_is_named_with_the_way_out) {
  const SearchPath nowhere("/nonexistent");
  const std::string message = message_of([] { to_svg(Graph{}); });
  EXPECT_THAT(message,
              testing::StartsWith("cannot run graphviz's `dot`: No such file or directory\n  at "));
  EXPECT_THAT(message, HasSubstr("hint: install graphviz"));
}

TEST(SvgErrors, what_graphviz_complains_of_is_passed_on) {
  const std::string folder = testing::TempDir() + "hom_fake_dot";
  std::filesystem::create_directories(folder);
  // It reads nothing, and writes more than a pipe holds.
  std::ofstream(folder + "/dot") << "#!/bin/sh\ni=0; while [ $i -lt 9000 ]; do echo 'no such "
                                    "font'; i=$((i+1)); done >&2\nexit 3\n";
  chmod((folder + "/dot").c_str(), 0755);
  const SearchPath fake(folder);
  EXPECT_THAT(message_of([] { to_svg(Graph{}); }),
              testing::StartsWith("graphviz's `dot` failed: no such font"));
}

TEST(SvgErrors, a_file_that_cannot_be_written_is_named) {
  EXPECT_THAT(message_of([] { save_dot(Graph{}, "/nonexistent/f.dot"); }),
              testing::StartsWith("cannot write /nonexistent/f.dot: No such file or directory\n"));
}

}  // namespace
}  // namespace hom
