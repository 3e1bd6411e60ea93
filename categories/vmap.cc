// categories/vmap.cc -- lanes along any axis: moved to the front, and results from there
#include <hom/categories/vmap.h>

#include <algorithm>

#include <hom/core/axes.h>
#include <hom/core/operations/shaping.h>

namespace hom {
namespace {

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// One entry for each output, not negative.
Shape out_axes(const OutAxes& out, const std::vector<TensorType>& types, const Location& at) {
  require(!out.is_list || out.entries.size() == types.size(), at, [&] {
    return Complaint{"vmap: " + counted(out.entries.size(), "out-axis", "out-axes") +
                         " for a function with " + counted(types.size(), "result", "results"),
                     "one axis for all results, or one for each leaf of the result"};
  });
  Shape axes;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::int64_t given = out.is_list ? out.entries[k] : out.entries[0];
    const std::int64_t rank = types[k].rank() + 1;
    require(-rank <= given && given < rank, at, [&] {
      return Complaint{"vmap: out-axis " + std::to_string(given) + " of a result that is " +
                           to_string(types[k]) + " in each lane",
                       "with the lanes it has rank " + std::to_string(rank) +
                           "; axes go from 0 to rank − 1, or from −rank to −1"};
    });
    axes.push_back(given < 0 ? given + rank : given);
  }
  return axes;
}

/// The type for all lanes.
TensorType with_lanes(TensorType type, std::int64_t axis, std::int64_t size) {
  type.shape.insert(type.shape.begin() + axis, size);
  return type;
}

}  // namespace

Program vmap(const Program& program, const Lanes& in, const OutAxes& out, const Location& at) {
  const std::vector<TensorType> output_types = program.output_types();
  const Shape to = out_axes(out, output_types, at);
  ensure(in.axes.size() == program.inputs().size(), "vmap: lanes of every input");
  Capture capture(at);
  std::vector<Tensor> inputs;
  std::vector<bool> batched;
  for (std::size_t i = 0; i < program.inputs().size(); ++i) {
    const TensorType type = program.type(program.inputs()[i]);
    const auto axis = in.axes[i];
    batched.push_back(axis.has_value());
    const Tensor x =
        capture.input(axis ? with_lanes(type, *axis, in.size) : type, program.input_names()[i]);
    inputs.push_back(axis ? move_axis(Operand(x, at), *axis, 0) : x);
  }
  std::vector<Tensor> outputs;
  if (in.size == 0) {
    for (std::size_t k = 0; k < output_types.size(); ++k)
      outputs.push_back(zeros(with_lanes(output_types[k], to[k], 0), at));
  } else {
    const std::vector<bool> all(output_types.size(), true);
    outputs = apply(batch(program, batched, in.size, false, &all).program, inputs, at);
    for (std::size_t k = 0; k < outputs.size(); ++k)
      outputs[k] = move_axis(Operand(outputs[k], at), 0, to[k]);
  }
  return capture.finish(outputs, {derived_name("vmap_", program), {}, {}}, at).program;
}

namespace detail {
namespace {

/// The entries for the leaves of one argument.
std::vector<LaneAxis> leaf_axes(const ArgumentAxes& axes, const std::vector<std::string>& paths,
                                const std::string& argument, const Location& at) {
  if (!axes.is_list) return std::vector(paths.size(), axes.entries[0]);
  require(axes.entries.size() == paths.size(), at, [&] {
    std::string list;
    for (const std::string& path : paths) list += (list.empty() ? "" : ", ") + path;
    return Complaint{"vmap: " + counted(axes.entries.size(), "in-axis", "in-axes") + " for " +
                         counted(paths.size(), "leaf", "leaves") + " of `" + argument + "`",
                     "one axis for all of them, or one for each: " + list};
  });
  return axes.entries;
}

/// The axis of a leaf, not negative.
std::int64_t normal_lane_axis(std::int64_t axis, const TensorType& type, const std::string& path,
                              const Location& at) {
  require(type.rank() > 0, at, [&] {
    return Complaint{"vmap: `" + path + "` is " + to_string(type) + ", and has no axis of lanes",
                     "`unmapped` in place of its axis makes it the same for all lanes"};
  });
  require(-type.rank() <= axis && axis < type.rank(), at, [&] {
    return Complaint{
        "vmap: axis " + std::to_string(axis) + " of `" + path + "`, which is " + to_string(type),
        "axes go from 0 to rank − 1, or from −rank to −1"};
  });
  return axis < 0 ? axis + type.rank() : axis;
}

}  // namespace

Lanes lanes_of(const InAxes& axes, const std::vector<std::vector<std::string>>& paths,
               const std::vector<TensorType>& types, const Location& at) {
  require(!axes.is_list || axes.entries.size() == paths.size(), at, [&] {
    return Complaint{"vmap: " + counted(axes.entries.size(), "in-axis", "in-axes") + " for " +
                         counted(paths.size(), "argument", "arguments"),
                     "one axis for all arguments, or a list with an entry for each"};
  });
  const std::vector<std::string> names = argument_names(paths.size());
  Lanes lanes;
  std::string first;  // which leaf has set the size
  for (std::size_t a = 0; a < paths.size(); ++a) {
    const ArgumentAxes& argument = axes.entries[axes.is_list ? a : 0];
    const std::vector<LaneAxis> entries = leaf_axes(argument, paths[a], names[a], at);
    for (std::size_t l = 0; l < entries.size(); ++l) {
      const TensorType& type = types[lanes.axes.size()];
      if (!entries[l].axis) {
        lanes.axes.emplace_back();
        continue;
      }
      const std::int64_t axis = normal_lane_axis(*entries[l].axis, type, paths[a][l], at);
      const std::int64_t extent = type.shape[static_cast<std::size_t>(axis)];
      const std::string leaf = "axis " + std::to_string(axis) + " of `" + paths[a][l] + "`, " +
                               to_string(type) + ", has extent " + std::to_string(extent);
      if (first.empty()) {
        first = leaf;
        lanes.size = extent;
      }
      require(extent == lanes.size, at, [&] {
        return Complaint{"vmap: the numbers of lanes differ: " + first + ", but " + leaf,
                         "all mapped leaves have one extent along their axes; `unmapped` marks "
                         "what is the same for all lanes"};
      });
      lanes.axes.emplace_back(axis);
    }
  }
  require(!first.empty(), at, [] {
    return Complaint{"vmap: no argument is mapped, so that there are no lanes",
                     "give an axis to at least one leaf, or call the function itself"};
  });
  return lanes;
}

}  // namespace detail
}  // namespace hom
