// backends/optimise/smaller_scan.cc -- a scan that takes, carries and stacks less
#include <memory>

#include <hom/backends/optimise/smaller_loops.h>
#include <hom/backends/optimise/vocabulary.h>
#include <hom/core/axes.h>
#include <hom/core/primitives/rules.h>

namespace hom::optimiser {

using Kind = Source::Kind;

Slot Site::literal(const Attribute& value, const TensorType& type) const {
  return append_literal(builder, value, type, step.at, step.scope);
}

std::optional<Attribute> Site::literal_of(std::size_t operand) const {
  const Attribute* value = builder.literal(operands[operand]);
  return value ? std::optional(*value) : std::nullopt;
}

/// Inputs, in order, whose operands are literals or the same as those of inputs before.
void find_sources(const Builder& builder, std::span<const Slot> operands,
                  const std::vector<std::size_t>& inputs, std::vector<Source>& sources) {
  Firsts firsts;
  for (std::size_t i : inputs) {
    if (sources[i].kind != Kind::input) continue;
    if (const Attribute* value = builder.literal(operands[i])) {
      sources[i] = {Kind::literal, *value, 0};
    } else if (const auto first = firsts.before(operands[i], i)) {
      sources[i] = {Kind::same, {}, *first};
    }
  }
}

namespace {

class SmallerScan {
 public:
  explicit SmallerScan(const Site& site)
      : site_(site),
        body_(*site.step.attributes.program("body")),
        carries_(site.step.attributes.count("carries")),
        scanned_(site.step.attributes.count("scanned")),
        length_(site.step.attributes.integer("length")),
        operands_(site.operands.begin(), site.operands.end()),
        sources_(body_.inputs().size()),
        results_(site.step.result_count, Slot{0}),
        is_done_(site.step.result_count, false) {}

  Results run() {
    resolve_stacked();
    drop_what_is_not_needed();
    classify_carries();
    classify_scanned();
    merge_constants();
    return append();
  }

 private:
  Slot input(std::size_t i) const { return body_.inputs()[i]; }
  Slot output(std::size_t k) const { return body_.outputs()[k]; }
  bool is_wanted(std::size_t k) const { return site_.used[k] && !is_done_[k]; }
  void resolve(std::size_t k, Slot slot) {
    results_[k] = slot;
    is_done_[k] = true;
  }
  TensorType stacked_type(std::size_t k) const {
    TensorType type = body_.type(output(k));
    type.shape.insert(type.shape.begin(), length_);
    return type;
  }

  /// Stacked results that are known without the loop.
  void resolve_stacked() {
    std::unordered_map<Slot, std::size_t> unchanged;
    for (std::size_t j = carries_; j < body_.inputs().size(); ++j) unchanged.emplace(input(j), j);
    for (std::size_t k = carries_; k < results_.size(); ++k) {
      if (!site_.used[k]) continue;
      const TensorType type = stacked_type(k);
      const auto found = unchanged.find(output(k));
      if (const auto value = literal_in(body_, output(k))) {
        resolve(k, site_.literal(*value, type));
      } else if (found != unchanged.end() && found->second < carries_ + scanned_) {
        resolve(k, operands_[found->second]);
      } else if (found != unchanged.end()) {
        const Attributes repeated{{"shape", {type.shape}},
                                  {"axes", {iota_shape(type.shape.size() - 1, 1)}}};
        resolve(k, site_.append(words().broadcast, {&operands_[found->second], 1}, repeated));
      }
    }
  }

  void drop_what_is_not_needed() {
    std::vector<bool> wanted;
    for (std::size_t k = 0; k < results_.size(); ++k) wanted.push_back(is_wanted(k));
    const std::vector<bool> needed = needed_inputs(body_, wanted, carries_);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      // A carry that is wanted but that the body does not read still starts the loop.
      const bool stays = needed[i] || (i < carries_ && wanted[i]);
      if (!stays) sources_[i].kind = Kind::none;
    }
  }

  void classify_carries() {
    Firsts firsts;
    for (std::size_t i = 0; i < carries_; ++i) {
      if (sources_[i].kind != Kind::input) continue;
      const auto first = site_.literal_of(i);
      const auto next = literal_in(body_, output(i));
      if (first && ((next && *first == *next) || output(i) == input(i))) {
        sources_[i] = {Kind::literal, *first, 0};
        resolve(i, operands_[i]);
      } else if (output(i) == input(i)) {
        becomes_constant(i);
        resolve(i, operands_[i]);
      } else if (const auto j = firsts.before(pair_of(operands_[i], output(i)), i)) {
        sources_[i] = {Kind::same, {}, *j};
        same_carry_.emplace_back(i, *j);
      }
    }
  }

  void classify_scanned() {
    Firsts firsts;
    for (std::size_t i = carries_; i < carries_ + scanned_; ++i) {
      if (sources_[i].kind != Kind::input) continue;
      if (const auto value = site_.literal_of(i)) {
        sources_[i] = {Kind::literal, *value, 0};
      } else if (const auto element = same_in_all_iterations(i)) {
        operands_[i] = *element;
        becomes_constant(i);
      } else if (const auto j = firsts.before(operands_[i], i)) {
        sources_[i] = {Kind::same, {}, *j};
      }
    }
  }

  /// The element of a scanned operand that is repeated along its first axis.
  std::optional<Slot> same_in_all_iterations(std::size_t i) const {
    const auto step = site_.builder.definition(operands_[i]);
    if (!step || &step->primitive != &words().broadcast) return std::nullopt;
    Shape shape = step->attributes.shape("shape");
    Shape axes = step->attributes.shape("axes");
    if (contains(axes, 0)) return std::nullopt;
    shape.erase(shape.begin());
    for (std::int64_t& axis : axes) --axis;
    const Slot source = step->operands[0];
    return site_.append(words().broadcast, {&source, 1}, {{"shape", {shape}}, {"axes", {axes}}});
  }

  void becomes_constant(std::size_t i) {
    is_constant_[i] = true;
    moved_.push_back(i);
  }

  void merge_constants() {
    std::vector<std::size_t> all = moved_;
    for (std::size_t i = carries_ + scanned_; i < sources_.size(); ++i) all.push_back(i);
    find_sources(site_.builder, operands_, all, sources_);
    for (std::size_t i : all) {
      if (sources_[i].kind == Kind::input) constants_.push_back(i);
    }
  }

  Results append() {
    std::vector<std::size_t> order;
    std::vector<Slot> operands;
    std::vector<Slot> outputs;
    std::vector<std::size_t> result_of;  // for each new result, the old one
    const auto take = [&](std::size_t i) {
      order.push_back(i);
      operands.push_back(operands_[i]);
    };
    for (std::size_t i = 0; i < carries_; ++i) {
      if (sources_[i].kind != Kind::input || is_constant_[i]) continue;
      take(i);
      outputs.push_back(output(i));
      result_of.push_back(i);
    }
    const std::size_t carries = order.size();
    for (std::size_t i = carries_; i < carries_ + scanned_; ++i) {
      if (sources_[i].kind == Kind::input && !is_constant_[i]) take(i);
    }
    const std::size_t scanned = order.size() - carries;
    for (std::size_t i : constants_) take(i);
    std::vector<std::pair<std::size_t, std::size_t>> same_result;
    Firsts firsts;
    for (std::size_t k = carries_; k < results_.size(); ++k) {
      if (!is_wanted(k)) continue;
      if (const auto j = firsts.before(output(k), k)) {
        same_result.emplace_back(k, *j);
        continue;
      }
      outputs.push_back(output(k));
      result_of.push_back(k);
    }
    if (!outputs.empty()) append_scan(order, operands, outputs, result_of, carries, scanned);
    for (const auto& [k, j] : same_result) results_[k] = results_[j];
    for (const auto& [i, j] : same_carry_) results_[i] = results_[j];
    return results_;
  }

  void append_scan(const std::vector<std::size_t>& order, const std::vector<Slot>& operands,
                   const std::vector<Slot>& outputs, const std::vector<std::size_t>& result_of,
                   std::size_t carries, std::size_t scanned) {
    const bool is_as_it_was = order.size() == sources_.size() &&
                              outputs.size() == results_.size() && carries == carries_ &&
                              scanned == scanned_;
    Attributes attributes = site_.step.attributes;
    if (!is_as_it_was) {
      attributes.set("body", {std::make_shared<const Program>(
                                 rebuilt_body(body_, sources_, order, outputs, site_.step.at))});
      attributes.set("carries", {static_cast<std::int64_t>(carries)});
      attributes.set("scanned", {static_cast<std::int64_t>(scanned)});
    }
    const Slot first = site_.append(words().scan, operands, attributes);
    for (std::size_t n = 0; n < result_of.size(); ++n)
      results_[result_of[n]] = first + static_cast<Slot>(n);
  }

  const Site& site_;
  const Program& body_;
  std::size_t carries_, scanned_;
  std::int64_t length_;
  std::vector<Slot> operands_;
  std::vector<Source> sources_;
  Results results_;
  std::vector<bool> is_done_;
  std::vector<bool> is_constant_ = std::vector<bool>(sources_.size(), false);
  /// Carries and scanned operands that became constants, in order.
  std::vector<std::size_t> moved_;
  /// All constants that stay inputs, in order.
  std::vector<std::size_t> constants_;
  std::vector<std::pair<std::size_t, std::size_t>> same_carry_;
};

}  // namespace

Results smaller_scan(const Site& site) { return SmallerScan(site).run(); }

}  // namespace hom::optimiser
