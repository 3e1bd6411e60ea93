// backends/nests/liveness.cc -- when the buffers of a plan hold what is still needed
#include <hom/backends/nests/liveness.h>

#include <algorithm>

namespace hom::nest {

Segments united(const Segments& a, const Segments& b) {
  Segments result;
  const Segment* p = a.begin();
  const Segment* q = b.begin();
  while (p != a.end() || q != b.end()) {
    const bool first = q == b.end() || (p != a.end() && p->begin <= q->begin);
    const Segment next = first ? *p++ : *q++;
    if (!result.empty() && next.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, next.end);
    } else {
      result.push_back(next);
    }
  }
  return result;
}

Liveness::Liveness(const Plan& plan) : plan_(plan) {
  scopes_.push_back({.parent = 0, .depth = 0, .begin = 0});
  start(nullptr, 0);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const PlannedBuffer::Place place = plan.buffers[b].place;
    if (place == PlannedBuffer::Place::input || place == PlannedBuffer::Place::constant)
      add({b}, plan.buffers[b].bytes(), false, true);
  }
  walk(plan.body, 0);
  start(nullptr, 0);
  for (std::uint32_t b = 0; b < plan.buffers.size(); ++b) {
    const PlannedBuffer::Place place = plan.buffers[b].place;
    if (place == PlannedBuffer::Place::output || place == PlannedBuffer::Place::constant)
      add({b}, plan.buffers[b].bytes(), true, false);
  }
  for (const std::uint32_t b : plan.outputs) {
    if (plan.buffers[b].place == PlannedBuffer::Place::input)
      add({b}, plan.buffers[b].bytes(), true, false);
  }
  first_access_.push_back(static_cast<std::uint32_t>(accesses_.size()));
  scopes_[0].end = end();
  find_segments();
}

std::span<const Access> Liveness::accesses(Position position) const {
  const std::uint32_t begin = first_access_[position];
  return {accesses_.data() + begin, first_access_[position + 1] - begin};
}

Position Liveness::start(const Instruction* instruction, std::uint32_t scope) {
  instructions_.push_back(instruction);
  scope_of_.push_back(scope);
  first_access_.push_back(static_cast<std::uint32_t>(accesses_.size()));
  return end();
}

void Liveness::add(const Address& address, std::int64_t bytes, bool reads, bool writes) {
  Access access{address.buffer, end(), reads, writes};
  access.whole = address.moves.empty() && address.offset == 0 &&
                 bytes == plan_.buffers[address.buffer].bytes();
  accesses_.push_back(access);
  SmallVector<LoopId, 1> loops;
  for (const Address::Move& move : address.moves) loops.push_back(move.loop);
  // Strips run at any time while others do.
  if (strips_ != no_loop) loops.push_back(strips_);
  moves_.push_back(std::move(loops));
}

void Liveness::add(const Launch& launch) {
  const Kernel& kernel = plan_.kernels[launch.kernel];
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Buffer& buffer = kernel.buffers[i];
    // A kernel need not write all of what it writes, but it is given the whole.
    const std::int64_t bytes = plan_.buffers[launch.arguments[i].buffer].bytes();
    add(launch.arguments[i], bytes, buffer.is_read, buffer.is_written);
  }
}

std::uint32_t Liveness::open(std::uint32_t parent) {
  scopes_.push_back({.parent = parent, .depth = scopes_[parent].depth + 1, .begin = end() + 1});
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

void Liveness::walk(const Instructions& instructions, std::uint32_t scope) {
  for (const Instruction& instruction : instructions) {
    if (const auto* launch = std::get_if<Launch>(&instruction.is)) {
      start(&instruction, scope);
      add(*launch);
    } else if (const auto* call = std::get_if<Call>(&instruction.is)) {
      start(&instruction, scope);
      for (const Address& operand : call->operands) add(operand, 0, true, false);
      for (const Address& result : call->results)
        add(result, plan_.buffers[result.buffer].bytes(), false, true);
      if (call->scratch) add(*call->scratch, 0, false, true);
      if (call->epilogue) add(*call->epilogue);
    } else if (const auto* copy = std::get_if<Copy>(&instruction.is)) {
      start(&instruction, scope);
      add(copy->from, copy->bytes, true, false);
      add(copy->to, copy->bytes, false, true);
    } else if (const auto* repeat = std::get_if<Repeat>(&instruction.is)) {
      const std::uint32_t loop = open(scope);
      start(nullptr, loop);
      scopes_[loop].is_loop = true;
      scopes_[loop].id = repeat->id;
      walk(repeat->body, loop);
      scopes_[loop].end = start(nullptr, loop);
    } else if (const auto* strips = std::get_if<Strips>(&instruction.is)) {
      const std::uint32_t loop = open(scope);
      start(nullptr, loop);
      scopes_[loop].is_loop = true;
      scopes_[loop].id = strips->id;
      strips_ = strips->id;
      walk(strips->body, loop);
      strips_ = no_loop;
      scopes_[loop].end = start(nullptr, loop);
    } else if (const auto* loop_while = std::get_if<While>(&instruction.is)) {
      const std::uint32_t loop = open(scope);
      start(nullptr, loop);
      scopes_[loop].is_loop = true;
      walk(loop_while->condition, loop);
      start(nullptr, loop);
      add(loop_while->predicate, 1, true, false);
      scopes_[loop].condition_end = end();
      walk(loop_while->body, loop);
      scopes_[loop].end = start(nullptr, loop);
    } else {
      const Branch& branch = std::get<Branch>(instruction.is);
      start(nullptr, scope);
      add(branch.predicate, 1, true, false);
      for (const Instructions* way : {&branch.then, &branch.otherwise}) {
        const std::uint32_t arm = open(scope);
        walk(*way, arm);
        scopes_[arm].end = end();
      }
    }
  }
}

void Liveness::find_segments() {
  // Accesses by buffer, in order.
  std::vector<std::uint32_t> first(plan_.buffers.size() + 1);
  for (const Access& access : accesses_) ++first[access.buffer + 1];
  for (std::size_t b = 0; b < plan_.buffers.size(); ++b) first[b + 1] += first[b];
  std::vector<std::uint32_t> sorted(accesses_.size());
  std::vector<std::uint32_t> next = first;
  for (std::uint32_t i = 0; i < accesses_.size(); ++i) sorted[next[accesses_[i].buffer]++] = i;
  segments_.resize(plan_.buffers.size());
  for (std::uint32_t b = 0; b < plan_.buffers.size(); ++b)
    find_segments(b, std::span(sorted).subspan(first[b], first[b + 1] - first[b]));
}

std::uint32_t Liveness::loop_around(std::uint32_t scope) const {
  while (scope != 0 && !scopes_[scope].is_loop) scope = scopes_[scope].parent;
  return scope;
}

std::uint32_t Liveness::common(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    std::uint32_t& deeper = scopes_[a].depth >= scopes_[b].depth ? a : b;
    deeper = scopes_[deeper].parent;
  }
  return a;
}

std::uint32_t Liveness::child_of(std::uint32_t outer, std::uint32_t inner) const {
  while (inner != outer && scopes_[inner].parent != outer) inner = scopes_[inner].parent;
  return inner;
}

void Liveness::find_segments(std::uint32_t buffer, std::span<const std::uint32_t> accesses) {
  if (accesses.empty()) return;
  // The loop in whose iterations it lives: each of them writes it before it reads it.
  std::uint32_t home = scope_of_[accesses_[accesses[0]].position];
  for (const std::uint32_t i : accesses) home = common(home, scope_of_[accesses_[i].position]);
  home = loop_around(home);
  while (home != 0) {
    bool outlives = accesses_[accesses[0]].reads;
    for (const std::uint32_t i : accesses) {
      for (const LoopId loop : moves_[i]) outlives = outlives || loop == scopes_[home].id;
    }
    if (!outlives) break;
    home = loop_around(scopes_[home].parent);
  }

  // Inside loops of that one, from their begin to their end.
  Segment hull{UINT32_MAX, 0};
  for (const std::uint32_t i : accesses) {
    const Position position = accesses_[i].position;
    Segment span{position, position};
    for (std::uint32_t s = loop_around(scope_of_[position]); s != home;
         s = loop_around(scopes_[s].parent)) {
      span = {scopes_[s].begin, scopes_[s].end};
    }
    hull = {std::min(hull.begin, span.begin), std::max(hull.end, span.end)};
  }

  // Before a copy to the whole of it, back to the last use in the same iteration, it is dead.
  Segments& segments = segments_[buffer];
  Position begin = hull.begin;
  for (std::size_t k = 1; k < accesses.size(); ++k) {
    const Access& access = accesses_[accesses[k]];
    const Instruction* instruction = instructions_[access.position];
    const bool replaces = access.whole && access.writes && !access.reads && instruction &&
                          std::holds_alternative<Copy>(instruction->is);
    if (!replaces) continue;
    const Access& before = accesses_[accesses[k - 1]];
    const std::uint32_t scope = scope_of_[access.position];
    const std::uint32_t scope_before = scope_of_[before.position];
    if (common(scope, scope_before) != scope) continue;
    const std::uint32_t child = child_of(scope, scope_before);
    Position last = child == scope ? before.position : scopes_[child].end;
    // The loop may end after its condition, and what follows it may read.
    if (access.position > scopes_[scope].condition_end)
      last = std::max(last, scopes_[scope].condition_end);
    if (last >= access.position) continue;
    segments.push_back({begin, last});
    begin = access.position;
  }
  segments.push_back({begin, hull.end});
}

}  // namespace hom::nest
