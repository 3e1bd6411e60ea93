// categories/read.cc -- which slots of a program are in use where
#include <hom/categories/read.h>

#include <algorithm>

namespace hom::categories {

Positions LiveSlots::places_of(std::span<const Slot> wanted) const {
  Positions places;
  for (Slot slot : wanted) {
    const auto found = std::find(slots.begin(), slots.end(), slot);
    ensure(found != slots.end(), "a slot is in use until its last use");
    places.push_back(static_cast<std::size_t>(found - slots.begin()));
  }
  return places;
}

Environment LiveSlots::types(const Program& program) const {
  Environment list;
  for (Slot slot : slots) list.push_back(program.type(slot));
  return list;
}

Positions LiveSlots::needed_after(std::size_t index,
                                  const std::vector<std::size_t>& last_use) const {
  Positions places;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (last_use[slots[i]] > index) places.push_back(i);
  }
  return places;
}

std::vector<std::size_t> last_uses(const Program& program) {
  std::vector<std::size_t> last(program.slot_count(), 0);
  for (std::size_t i = 0; i < program.step_count(); ++i) {
    for (Slot slot : program.step(i).operands) last[slot] = i;
  }
  for (Slot slot : program.outputs()) last[slot] = program.step_count();
  return last;
}

}  // namespace hom::categories
