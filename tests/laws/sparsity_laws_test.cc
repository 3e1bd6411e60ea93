// tests/laws/sparsity_laws_test.cc -- patterns have every entry that is not zero, and sparse
// derivatives are the dense ones
#include <cmath>

#include <gtest/gtest.h>

#include <hom/hom.h>
#include <hom/tests/laws/drawing.h>
#include <hom/tests/laws/support.h>

namespace hom::laws {
namespace {

struct Counts {
  std::int64_t entries = 0;
  std::int64_t in_pattern = 0;
  std::int64_t not_zero = 0;
  std::int64_t programs = 0;
  std::int64_t passes = 0;
  std::int64_t columns = 0;
};

/// The results that are floats, as a program.
Program float_results(const RandomProgram& random) {
  std::vector<std::size_t> outputs;
  for (std::size_t value : random.outputs) {
    if (random.types[value].dtype.is_float()) outputs.push_back(value);
  }
  return random.program(outputs);
}

std::vector<bool> every(const Program& program) {
  return std::vector<bool>(program.inputs().size(), true);
}

/// Integers and bools at the point.
Tensors known_at(std::span<const Tensor> x) {
  Tensors known;
  for (const Tensor& input : x) known.push_back(input.dtype().is_float() ? Tensor() : input);
  return known;
}

/// The dense Jacobian at a point, in f64: row after row.
std::vector<std::vector<double>> dense_at(const Program& program, const Tensors& x, Mode mode) {
  const Tensors blocks = evaluate(jacobian(program, every(program), mode, Location::current()), x);
  std::vector<std::vector<double>> rows;
  std::size_t next = 0;
  for (const TensorType& out : program.output_types()) {
    const std::size_t first = rows.size();
    rows.resize(first + static_cast<std::size_t>(out.size()));
    for (const TensorType& in : program.input_types()) {
      if (!in.dtype.is_float()) continue;
      const std::vector<double> block = blocks[next++].to_vector();
      for (std::size_t k = 0; k < block.size(); ++k)
        rows[first + k / static_cast<std::size_t>(in.size())].push_back(block[k]);
    }
  }
  return rows;
}

/// Every entry outside the pattern is exactly 0; NaN and infinities are no statement.
std::string outside_is_zero(const SparsityPattern& pattern,
                            const std::vector<std::vector<double>>& dense, Counts& counts) {
  if (static_cast<std::int64_t>(dense.size()) != pattern.row_count) return "other rows";
  for (std::size_t i = 0; i < dense.size(); ++i) {
    if (static_cast<std::int64_t>(dense[i].size()) != pattern.column_count) return "other columns";
    for (std::size_t j = 0; j < dense[i].size(); ++j) {
      const bool is_entry =
          pattern.contains(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
      ++counts.entries;
      counts.in_pattern += is_entry;
      counts.not_zero += dense[i][j] != 0;
      if (!is_entry && dense[i][j] != 0 && std::isfinite(dense[i][j]))
        return "entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
               to_string(dense[i][j]) + ", outside the pattern\n" + to_string(pattern);
    }
  }
  return "";
}

std::string pattern_has_every_entry(const RandomProgram& random, Choices&, Counts& counts) {
  const Program program = float_results(random);
  if (program.outputs().empty() || floats_of(random.inputs).empty()) return "";
  ++counts.programs;
  const SparsityPattern pattern =
      sparsity(program, every(program), known_at(random.inputs), Location::current());
  return outside_is_zero(pattern, dense_at(program, random.inputs, Mode::forward), counts);
}

std::string equals_dense(const SparseProgram& sparse, const Tensors& x,
                         const std::vector<std::vector<double>>& dense, Counts& counts) {
  const Tensors values = evaluate(sparse.values, x);
  const std::vector<double> entries = values[0].to_vector();
  if (values[0].size() != sparse.pattern.entry_count()) return "another number of entries";
  counts.passes += sparse.passes;
  counts.columns += std::min(sparse.pattern.column_count, sparse.pattern.row_count);
  std::size_t next = 0;
  for (std::int64_t i = 0; i < sparse.pattern.row_count; ++i) {
    for (std::uint32_t j : sparse.pattern.row(i)) {
      const double want = dense[static_cast<std::size_t>(i)][j];
      const double got = entries[next++];
      if (!(std::abs(got - want) <= 1e-9 * (1 + std::abs(want))) && std::isfinite(want))
        return "entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is " + to_string(got) +
               " instead of " + to_string(want);
    }
  }
  return "";
}

std::string sparse_equals_dense(const RandomProgram& random, Choices& choices, Counts& counts) {
  const Program program = float_results(random);
  if (program.outputs().empty() || floats_of(random.inputs).empty()) return "";
  ++counts.programs;
  const auto dense = dense_at(program, random.inputs, Mode::automatic);
  const Mode mode = choices.among(std::vector{Mode::forward, Mode::reverse, Mode::automatic});
  const SparseProgram sparse = sparse_jacobian(program, every(program), known_at(random.inputs),
                                               {.mode = mode}, Location::current());
  if (std::string wrong = outside_is_zero(sparse.pattern, dense, counts); !wrong.empty())
    return wrong;
  return equals_dense(sparse, random.inputs, dense, counts);
}

/// x… ↦ the gradient of a weighted sum of all float results.
Program gradient_program(const Program& program) {
  Capture capture(Location::current());
  Tensors x;
  for (const TensorType& type : program.input_types())
    x.push_back(capture.input(type, "x" + std::to_string(x.size())));
  Tensor total = full({}, 0.0);
  for (const Tensor& y : apply(program, x, Location::current()))
    total = total + dot(cos(arange(y.size(), f64) + 1.0), ravel(y)).astype(f64);
  const Program scalar = capture.finish(std::vector{total}, {}, Location::current()).program;
  const Program both = value_and_gradient(scalar, every(scalar), Location::current());
  Builder builder;
  std::vector<Slot> outputs = builder.append_program(both, builder.add_inputs_of(both));
  outputs.erase(outputs.begin());
  return std::move(builder).finish(std::move(outputs), {});
}

std::string sparse_hessian_equals_dense(const RandomProgram& random, Choices&, Counts& counts) {
  const Program program = float_results(random);
  if (program.outputs().empty() || floats_of(random.inputs).empty()) return "";
  ++counts.programs;
  const Program gradient = gradient_program(program);
  const auto dense = dense_at(gradient, random.inputs, Mode::forward);
  const SparseProgram sparse =
      sparse_hessian(gradient, every(gradient), known_at(random.inputs), {}, Location::current());
  if (sparse.pattern != transpose(sparse.pattern)) return "the pattern is not symmetric";
  if (std::string wrong = outside_is_zero(sparse.pattern, dense, counts); !wrong.empty())
    return wrong;
  return equals_dense(sparse, random.inputs, dense, counts);
}

void holds(const char* law, int cases, int lines, const Wish& wish,
           std::string (*property)(const RandomProgram&, Choices&, Counts&), Counts& counts) {
  for_random_programs(law, cases, lines, wish, [&](const RandomProgram& program, Choices& choices) {
    return property(program, choices, counts);
  });
  EXPECT_GE(counts.programs, cases / 2);
  EXPECT_GE(counts.not_zero, 1000);
}

const Wish smooth{.domain = Domain::smooth, .max_size = 24, .bounded = true};

TEST(SparsityLaws, pattern_has_every_entry_of_smooth_programs) {
  Counts all;
  holds("patterns have every entry", 1500, 10, smooth, pattern_has_every_entry, all);
  // A pattern of everything would have every entry too. Factors are triangular, and depend on all
  // of their matrix as far as patterns know.
  Wish wish = smooth;
  for (const Primitive* p : standard_primitives().all()) {
    if (is_for_matrices(p->name)) wish.without.push_back(p->name);
  }
  Counts counts;
  holds("patterns have every entry and few more", 1500, 10, wish, pattern_has_every_entry, counts);
  EXPECT_LE(counts.in_pattern, counts.entries / 2);
  EXPECT_GE(static_cast<double>(counts.not_zero), 0.6 * static_cast<double>(counts.in_pattern));
}
TEST(SparsityLaws, pattern_has_every_entry_of_programs_of_every_dtype) {
  Counts counts;
  holds("patterns have every entry, of every dtype", 1500, 10,
        {.domain = Domain::tame, .without = {"bitcast"}, .max_size = 24, .bounded = true},
        pattern_has_every_entry, counts);
}
TEST(SparsityLaws, sparse_jacobian_equals_dense_jacobian) {
  Counts counts;
  holds("sparse Jacobian = dense Jacobian", 1200, 10, smooth, sparse_equals_dense, counts);
  EXPECT_LE(counts.passes, counts.columns);
}
TEST(SparsityLaws, sparse_hessian_equals_dense_hessian) {
  Counts counts;
  holds("sparse Hessian = dense Hessian", 600, 6,
        // The second derivative of cofactors is not that of a polynomial where singular values are
        // equal, and then sums of columns differ from columns.
        {.domain = Domain::smooth, .without = {"cofactor"}, .max_size = 16, .bounded = true},
        sparse_hessian_equals_dense, counts);
  EXPECT_LE(counts.passes, counts.columns);
}

TEST(SparsityLaws, pattern_has_every_entry_of_every_primitive) {
  Counts counts;
  for (const Primitive* p : standard_primitives().all()) {
    if (!p->derivative && !p->call_derivative) continue;
    int drawn = 0;
    Choices choices(run_seed() * 31);
    for (int attempt = 0; attempt < 300 && drawn < 30 * case_factor(); ++attempt) {
      const SizeClass size = choices.among(all_size_classes);
      if (size == SizeClass::large) continue;
      const auto program = single_step(*p, f64[random_shape(size, choices)], smooth, choices);
      if (!program) continue;
      ++drawn;
      std::string wrong;
      try {
        wrong = pattern_has_every_entry(*program, choices, counts);
        if (wrong.empty()) wrong = sparse_equals_dense(*program, choices, counts);
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      EXPECT_EQ(wrong, "") << p->name << "\n" << text_of(*program);
      if (!wrong.empty()) break;
    }
    if (p->dtypes.contains(f64) && p->name != "reverse_only") {
      EXPECT_GE(drawn, 3) << p->name;
    }
  }
}

}  // namespace
}  // namespace hom::laws
