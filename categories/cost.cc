// categories/cost.cc -- one walk over the steps; programs inside are counted once each
#include <hom/categories/cost.h>

#include <algorithm>
#include <unordered_map>

#include <hom/core/primitive.h>

namespace hom {
namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

Cost times(std::int64_t count, const Cost& one) {
  const auto product = [&](std::int64_t x) {
    std::int64_t result;
    return __builtin_mul_overflow(count, x, &result) ? INT64_MAX : result;
  };
  Cost all{product(one.steps), product(one.work), {}};
  for (const auto& [name, part] : one.by_primitive) all.by_primitive[name] = product(part);
  return all;
}

class Count {
 public:
  const Cost& of(const Program& program) {
    if (const auto known = programs_.find(&program); known != programs_.end()) return known->second;
    Cost sum;
    for (std::size_t i = 0; i < program.step_count(); ++i) sum += of(program, program.step(i));
    return programs_.emplace(&program, std::move(sum)).first->second;
  }

  Cost of(const Program& program, const Step& step) {
    const std::string& name = step.primitive.name;
    Cost own{1, 0, {}};
    const auto inside = [&](const char* attribute) -> const Cost& {
      return of(*step.attributes.program(attribute));
    };
    if (name == "cond") {
      own.work = 1;
      own.by_primitive[name] = 1;
      const Cost& then = inside("then");
      const Cost& otherwise = inside("otherwise");
      own += then.work < otherwise.work ? otherwise : then;
    } else if (name == "scan") {
      own += times(step.attributes.integer("length"), inside("body"));
      // Carries stay where they are; what is stacked is written once more.
      for (auto r = static_cast<std::uint32_t>(step.attributes.integer("carries"));
           r < step.result_count; ++r) {
        own.work = plus(own.work, program.type(step.first_result + r).size());
      }
    } else if (name == "while") {
      Cost iteration = inside("condition");
      iteration += inside("body");
      own += times(std::max<std::int64_t>(step.attributes.integer("bound"), 1), iteration);
    } else if (step.primitive.run) {
      if (step.attributes.has("program")) own += inside("program");
      if (step.attributes.has("forward") && !step.attributes.has("program"))
        own += inside("forward");
    } else if (name != "captured") {
      for (Slot slot : step.operands) own.work = plus(own.work, program.type(slot).size());
      for (std::uint32_t r = 0; r < step.result_count; ++r) {
        own.work = plus(own.work, program.type(step.first_result + r).size());
      }
      own.by_primitive[name] = own.work;
    }
    return own;
  }

 private:
  std::unordered_map<const Program*, Cost> programs_;
};

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  steps = plus(steps, other.steps);
  work = plus(work, other.work);
  for (const auto& [name, part] : other.by_primitive) {
    by_primitive[name] = plus(by_primitive[name], part);
  }
  return *this;
}

Cost cost(const Program& program) { return Count().of(program); }
Cost cost(const Program& program, const Step& step) { return Count().of(program, step); }

}  // namespace hom
