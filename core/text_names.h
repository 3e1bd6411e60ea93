// core/text_names.h -- how the text form spells names: what its printer and its reader have to
// agree on
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hom/core/program.h>

namespace hom::text_form {

inline constexpr std::int64_t version = 1;

/// A letter or `_`, then letters, digits and `_`.
bool is_identifier(std::string_view name);

/// The longest prefix of `text` that is a path of fields: `x`, `p.weight`, `layers[0].bias`,
/// `pair[1]`.
std::size_t path_length(std::string_view text);

/// What inputs are called unless the text says otherwise: the paths of the leaves of the domain.
std::vector<std::string> input_paths(const Object& domain);

/// Whether `object` says what the slots with these types are. Programs that were built without a
/// signature have the unit as domain and codomain, which says nothing.
bool describes(const Object& object, const std::vector<TensorType>& types);

/// The programs in the attributes of `program`, and in theirs, each once and after those that it
/// uses.
std::vector<const Program*> programs_inside(const Program& program);

}  // namespace hom::text_form
