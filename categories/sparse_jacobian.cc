// categories/sparse_jacobian.cc -- compressed passes, and the entries read from them
#include <hom/categories/sparse_jacobian.h>

#include <algorithm>

#include <hom/categories/batch.h>
#include <hom/categories/element_reading.h>
#include <hom/categories/selections.h>
#include <hom/categories/transpose.h>
#include <hom/core/operations/elementwise.h>
#include <hom/core/operations/indexing.h>
#include <hom/core/operations/reductions.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

std::string size_of(const SparsityPattern& pattern) {
  return "[" + std::to_string(pattern.row_count) + ", " + std::to_string(pattern.column_count) +
         "]";
}

/// The pattern with the entries that are to be stored besides.
SparsityPattern pattern_of(const char* operation, const Program& program,
                           const std::vector<bool>& active, const std::vector<Tensor>& known,
                           const SparseOptions& options, const Location& at) {
  for (const TensorType& type : program.output_types()) {
    require(type.dtype.is_float(), at, [&] {
      return Complaint{std::string(operation) + ": the function returns " +
                           to_string(program.codomain()) + ", and only floats have derivatives",
                       "return the float results only"};
    });
  }
  SparsityPattern pattern = sparsity(program, active, known, at);
  if (!options.stored) return pattern;
  require(options.stored->row_count == pattern.row_count &&
              options.stored->column_count == pattern.column_count,
          at, [&] {
            return Complaint{std::string(operation) + ": the pattern to be stored is " +
                                 size_of(*options.stored) + ", and the matrix " + size_of(pattern),
                             "a row for each element of the results, a column for each of the "
                             "arguments of wrt"};
          });
  return unite(pattern, *options.stored, at);
}

struct Plan {
  bool forward = true;
  /// Of columns; in reverse mode of rows.
  Colouring colouring = {};
};

/// No colouring has fewer colours than the widest row has entries, so that often one of both
/// directions is enough to see.
Plan planned(const SparsityPattern& pattern, Mode mode) {
  const SparsityPattern turned = transpose(pattern);
  const auto plan = [&](bool forward) {
    return Plan{forward, colour_columns(forward ? pattern : turned)};
  };
  if (mode != Mode::automatic) return plan(mode == Mode::forward);
  const std::int64_t least_forward = pattern.widest_row();
  const std::int64_t least_reverse = turned.widest_row();
  const bool first = least_forward <= least_reverse;
  Plan one = plan(first);
  const std::int64_t least_other = first ? least_reverse : least_forward;
  if (one.colouring.count < least_other || (first && one.colouring.count == least_other))
    return one;
  Plan other = plan(!first);
  if (other.colouring.count == one.colouring.count) return first ? one : other;
  return other.colouring.count < one.colouring.count ? other : one;
}

std::vector<bool> used_columns(const SparsityPattern& pattern) {
  std::vector<bool> used(static_cast<std::size_t>(pattern.column_count), false);
  for (std::uint32_t column : pattern.columns) used[column] = true;
  return used;
}

// ---- passes ----

/// Directions that run at once: colours that have columns in the same operands, so that the other
/// operands are zero.
struct Batch {
  std::vector<std::uint32_t> colours;
  std::vector<bool> operands;
};

/// More batches would repeat the program too often; then all colours are one.
constexpr std::size_t most_batches = 4;

std::vector<Batch> batches_of(const std::vector<TensorType>& types, const Colouring& colouring,
                              const std::vector<bool>& used) {
  const auto count = static_cast<std::size_t>(colouring.count);
  std::vector<std::vector<bool>> touched(count, std::vector<bool>(types.size(), false));
  std::size_t column = 0;
  for (std::size_t t = 0; t < types.size(); ++t) {
    for (std::int64_t i = 0; i < types[t].size(); ++i, ++column) {
      if (used[column]) touched[colouring.colours[column]][t] = true;
    }
  }
  std::vector<Batch> batches;
  for (std::uint32_t colour = 0; colour < count; ++colour) {
    const auto same = std::find_if(batches.begin(), batches.end(), [&](const Batch& batch) {
      return batch.operands == touched[colour];
    });
    if (same != batches.end()) {
      same->colours.push_back(colour);
    } else {
      batches.push_back({{colour}, touched[colour]});
    }
  }
  if (batches.size() <= most_batches) return batches;
  Batch all{{}, std::vector<bool>(types.size(), true)};
  for (std::uint32_t colour = 0; colour < count; ++colour) all.colours.push_back(colour);
  return {all};
}

/// A tensor of which axes along which it does not vary are repeated instead.
Tensor compacted(const Tensor& x) {
  Shape shape = x.shape();
  Tensor least = x;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 2) continue;
    Shape start(shape.size(), 0);
    Shape size = least.shape();
    size[axis] = 1;
    const Tensor first = slice(least, start, size, Shape(shape.size(), 1));
    if (array_equal(copy(broadcast_to(first, least.shape())), least)) least = copy(first);
  }
  return least.size() == x.size() ? x : broadcast_to(least, shape);
}

/// [colours, …] (without that axis for one colour): for each colour of the batch the sum of the
/// basis vectors that have it, of the elements `first`, … of the whole.
Tensor seeds(const TensorType& type, std::size_t first, const Batch& batch,
             const Colouring& colouring, const std::vector<bool>& used) {
  const std::int64_t size = type.size();
  const auto count = static_cast<std::int64_t>(batch.colours.size());
  std::vector<std::int64_t> place(static_cast<std::size_t>(colouring.count), -1);
  for (std::size_t c = 0; c < batch.colours.size(); ++c)
    place[batch.colours[c]] = static_cast<std::int64_t>(c);
  const auto all = Array::allocate(f64[{count, size}]);
  double* elements = all->data<double>();
  std::fill_n(elements, count * size, 0.0);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::size_t column = first + static_cast<std::size_t>(i);
    const std::int64_t row = used[column] ? place[colouring.colours[column]] : -1;
    if (row >= 0) elements[row * size + i] = 1;
  }
  Shape shape = type.shape;
  if (count > 1) shape.insert(shape.begin(), count);
  return convert(compacted(reshape(Tensor(all), shape)), type.dtype);
}

/// What a pass gives of one result: of colour c the elements of the result.
struct Piece {
  Tensor elements;
  std::uint32_t colour;
  /// Of its first element, among those of all results.
  std::int64_t first;
};

/// The linear program on all colours.
std::vector<Piece> compressed(const Program& linear, const std::vector<Tensor>& residuals,
                              const Colouring& colouring, const std::vector<bool>& used,
                              const Location& at) {
  const std::vector<TensorType> types = linear.input_types();
  const std::vector<TensorType> varying(
      types.begin() + static_cast<std::ptrdiff_t>(residuals.size()), types.end());
  const std::vector<bool> all(linear.outputs().size(), true);
  std::vector<Piece> pieces;
  for (const Batch& one : batches_of(varying, colouring, used)) {
    std::vector<Tensor> operands = residuals;
    std::vector<bool> batched(residuals.size(), false);
    std::size_t first = 0;
    for (std::size_t i = 0; i < varying.size(); ++i) {
      operands.push_back(one.operands[i] ? seeds(varying[i], first, one, colouring, used)
                                         : zeros(varying[i].shape, varying[i].dtype));
      batched.push_back(one.operands[i]);
      first += static_cast<std::size_t>(varying[i].size());
    }
    const auto count = static_cast<std::int64_t>(one.colours.size());
    const std::vector<Tensor> results =
        count == 1 ? apply(linear, operands, at)
                   : apply(batch(linear, batched, count, false, &all).program, operands, at);
    for (std::size_t c = 0; c < one.colours.size(); ++c) {
      std::int64_t element = 0;
      for (const Tensor& result : results) {
        const Tensor own = count == 1 ? result : result(static_cast<std::int64_t>(c));
        pieces.push_back({own, one.colours[c], element});
        element += own.size();
      }
    }
  }
  return pieces;
}

/// x… ↦ the elements at `places` of the compressed derivative: element e of the pass of colour c at
/// c·size + e, zero at −1. With `parts`, the program is what follows them.
Program values_program(const Program& program, const Selections* parts,
                       const std::vector<bool>& active, bool forward, const Colouring& colouring,
                       const std::vector<bool>& used, const std::vector<std::int64_t>& places,
                       const Location& at) {
  const std::vector<TensorType> input_types = program.input_types();
  Dtype dtype = program.output_types().empty() ? f64 : program.output_types()[0].dtype;
  for (const TensorType& type : program.output_types()) dtype = promote(dtype, type.dtype);
  for (std::size_t i = 0; i < input_types.size(); ++i) {
    if (active[i] && input_types[i].dtype.is_float()) dtype = promote(dtype, input_types[i].dtype);
  }
  const auto count = static_cast<std::int64_t>(places.size());

  Capture capture(at);
  const LocationScope line(at);
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < input_types.size(); ++i)
    inputs.push_back(capture.input(input_types[i], program.input_names()[i]));
  Tensor values = zeros({count}, dtype);
  if (count > 0) {
    std::vector<bool> varies = active;
    std::vector<Tensor> operands = inputs;
    if (parts != nullptr) {
      varies.assign(inputs.size(), false);
      varies.resize(inputs.size() + parts->part_count, true);
      const std::vector<Tensor> chosen = apply(parts->parts, inputs, at);
      operands.insert(operands.end(), chosen.begin(), chosen.end());
    }
    const Program& differentiated = parts != nullptr ? parts->rest : program;
    const std::vector<bool> wanted(differentiated.outputs().size(), true);
    const Linearization lin = linearize(differentiated, varies, &wanted);
    const std::vector<Tensor> primal = apply(lin.primal, operands, at);
    const std::vector<Tensor> residuals(primal.begin() + static_cast<std::ptrdiff_t>(wanted.size()),
                                        primal.end());
    const std::vector<Piece> pieces =
        compressed(forward ? lin.linear : pullback_of(lin), residuals, colouring, used, at);
    std::vector<PlacedTensor> sources;
    std::int64_t size = 0;
    for (const Piece& piece : pieces) size = std::max(size, piece.first + piece.elements.size());
    for (const Piece& piece : pieces)
      sources.push_back({convert(piece.elements, dtype), piece.colour * size + piece.first});
    values = elements_at(sources, places, dtype);
  }
  return capture.finish(std::vector{values}, {derived_name("entries_of_", program), {}, {}}, at)
      .program;
}

/// i64, from numbers of any kind.
template <class Numbers>
Tensor integer_list(const Numbers& numbers) {
  const auto list = Array::allocate(i64[{static_cast<std::int64_t>(numbers.size())}]);
  std::copy(numbers.begin(), numbers.end(), list->template data<std::int64_t>());
  return Tensor(list);
}

/// The Jacobian by rows of the function of the parts that results read, where that takes fewer
/// passes than `passes`.
std::optional<SparseProgram> by_parts_in_reverse(
    const Program& program, const std::vector<bool>& active, const std::vector<Tensor>& known,
    const SparsityPattern& pattern, std::int64_t passes, Parts wanted, const Location& at) {
  const std::optional<Selections> split = selections(program, active, wanted);
  if (!split) return std::nullopt;
  std::vector<bool> of_parts(program.inputs().size(), false);
  of_parts.resize(of_parts.size() + split->part_count, true);
  std::vector<Tensor> known_inputs = known;
  known_inputs.resize(of_parts.size());
  const SparsityPattern read = sparsity(split->rest, of_parts, known_inputs, at);
  const Colouring colouring = colour_columns(transpose(read));
  if (colouring.count >= passes) return std::nullopt;
  const SparsityPattern choice = sparsity(split->parts, active, known, at);
  // At positions that are not known, any input may be meant.
  if (choice.widest_row() > 1) return std::nullopt;

  std::vector<std::int64_t> places;
  places.reserve(pattern.columns.size());
  std::vector<std::int64_t> element_of(static_cast<std::size_t>(pattern.column_count), -1);
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t element : read.row(i)) {
      for (std::uint32_t column : choice.row(element)) {
        // An input that is read twice has the sum of both for its derivative.
        if (element_of[column] >= 0) return std::nullopt;
        element_of[column] = element;
      }
    }
    const std::int64_t colour = colouring.colours[static_cast<std::size_t>(i)];
    for (std::uint32_t column : pattern.row(i)) {
      const std::int64_t element = element_of[column];
      places.push_back(element < 0 ? -1 : colour * read.column_count + element);
    }
    for (std::uint32_t element : read.row(i)) {
      for (std::uint32_t column : choice.row(element)) element_of[column] = -1;
    }
  }
  Program values = values_program(program, &*split, active, false, colouring,
                                  used_columns(transpose(read)), places, at);
  return SparseProgram{std::move(values), pattern, colouring.count, false};
}

}  // namespace

SparseProgram sparse_jacobian(const Program& program, const std::vector<bool>& active,
                              const std::vector<Tensor>& known, const SparseOptions& options,
                              const Location& at) {
  SparsityPattern pattern = pattern_of("sparse_jacobian", program, active, known, options, at);
  const auto [forward, colouring] = planned(pattern, options.mode);
  if (options.mode != Mode::forward) {
    for (const Parts wanted : {Parts::smallest, Parts::first}) {
      auto by_parts =
          by_parts_in_reverse(program, active, known, pattern, colouring.count, wanted, at);
      if (by_parts) return *std::move(by_parts);
    }
  }
  std::vector<std::int64_t> places;
  places.reserve(pattern.columns.size());
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t j : pattern.row(i)) {
      const std::uint32_t colour = colouring.colours[forward ? j : static_cast<std::size_t>(i)];
      places.push_back(forward ? colour * pattern.row_count + i
                               : colour * pattern.column_count + j);
    }
  }
  const std::vector<bool> used = used_columns(forward ? pattern : transpose(pattern));
  return {values_program(program, nullptr, active, forward, colouring, used, places, at),
          std::move(pattern), colouring.count, forward};
}

SparseProgram sparse_hessian(const Program& gradient, const std::vector<bool>& active,
                             const std::vector<Tensor>& known, const SparseOptions& options,
                             const Location& at) {
  const SparsityPattern found = pattern_of("sparse_hessian", gradient, active, known, options, at);
  // A second derivative that is zero may be seen to be so in one order only.
  SparsityPattern pattern = unite(found, transpose(found), at);
  const Colouring colouring = colour_symmetric(pattern, at);
  const std::vector<bool> in_place = read_in_place(pattern, colouring);
  std::vector<std::int64_t> places;
  places.reserve(pattern.columns.size());
  for (std::int64_t i = 0; i < pattern.row_count; ++i) {
    for (std::uint32_t j : pattern.row(i)) {
      // Both triangles are read at the same place: above the diagonal's if that is alone there.
      const auto low = std::min<std::int64_t>(i, j);
      const auto high = std::max<std::int64_t>(i, j);
      const auto row = pattern.row(low);
      const auto entry = pattern.starts[static_cast<std::size_t>(low)] +
                         (std::lower_bound(row.begin(), row.end(), high) - row.begin());
      const bool alone = in_place[static_cast<std::size_t>(entry)];
      const std::int64_t pass = colouring.colours[static_cast<std::size_t>(alone ? high : low)];
      places.push_back(pass * pattern.row_count + (alone ? low : high));
    }
  }
  const std::vector<bool> used = used_columns(pattern);
  return {values_program(gradient, nullptr, active, true, colouring, used, places, at),
          std::move(pattern), colouring.count, true};
}

PreparedSparse::PreparedSparse(const char* operation, SparseProgram program,
                               std::vector<Tensor> known, std::vector<Tensor> captured_operands,
                               const Location& at) {
  Tensor rows = integer_list(program.pattern.starts);
  Tensor columns = integer_list(program.pattern.columns);
  made_ = std::make_shared<const Made>(Made{operation, std::move(program), std::move(known),
                                            std::move(captured_operands), std::move(rows),
                                            std::move(columns), at});
}

Csr PreparedSparse::at_point(std::vector<Tensor> inputs) const {
  const std::string name = made_->operation;
  const Program& values = program();
  const std::size_t count = values.inputs().size() - made_->captured_operands.size();
  require(inputs.size() == count, made_->at, [&] {
    return Complaint{name + ": prepared for " + std::to_string(count) + " tensors, called with " +
                         std::to_string(inputs.size()),
                     "prepare(x...) takes arguments of the same structure"};
  });
  for (std::size_t i = 0; i < count; ++i) {
    const TensorType type = inputs[i].type(made_->at);
    const TensorType& prepared = values.type(values.inputs()[i]);
    require(type == prepared, made_->at, [&] {
      return Complaint{name + ": argument " + std::to_string(i) + " is " + to_string(type) +
                           ", and the pattern is for " + to_string(prepared),
                       "call prepare(x...) again for other types"};
    });
    const Tensor& known = made_->known[i];
    if (known.is_empty() || inputs[i].array_pointer() == known.array_pointer()) continue;
    require(inputs[i].is_concrete() && array_equal(inputs[i], known), made_->at, [&] {
      return Complaint{name + ": argument " + std::to_string(i) + ", " + to_string(type) +
                           ", differs from the integers that the pattern is for",
                       "call prepare(x...) again, or with the type of that argument in its place"};
    });
  }
  inputs.insert(inputs.end(), made_->captured_operands.begin(), made_->captured_operands.end());
  const std::vector<Tensor> entries = apply(values, inputs, made_->at);
  return {made_->rows, made_->columns, entries[0], {pattern().row_count, pattern().column_count}};
}

Tensor to_dense(const Csr& matrix, const Location& at) {
  require(matrix.shape.size() == 2, at, [&] {
    return Complaint{"to_dense: the shape of a Csr is " + to_string(matrix.shape),
                     "it has two extents, rows and columns"};
  });
  const std::int64_t m = matrix.shape[0];
  const std::int64_t n = matrix.shape[1];
  const std::int64_t count = matrix.values.size(at);
  // The row of entry k: how many rows start at or before it, less one.
  const Tensor starts = scatter(zeros({count + 1}, i64), expand_dims(matrix.rows, 1),
                                ones({m + 1}, i64), {0}, Combine::add);
  const Tensor row = slice(cumsum(starts), {0}, {count}, {1}) - 1;
  const Tensor places = stack({row, matrix.columns}, 1);
  return scatter(zeros({m, n}, matrix.values.dtype(at)), places, matrix.values, {0, 1},
                 Combine::add);
}

}  // namespace hom
