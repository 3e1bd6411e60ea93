// categories/cost.cc -- one walk over the steps; programs inside are counted once each
#include <hom/categories/cost.h>

#include <unordered_map>

#include <hom/core/primitive.h>

namespace hom {
namespace {

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
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
    if (name == "call") {
      own += of(*step.attributes.program("program"));
    } else if (name == "cond") {
      own.work = 1;
      own.by_primitive[name] = 1;
      const Cost& then = of(*step.attributes.program("then"));
      const Cost& otherwise = of(*step.attributes.program("otherwise"));
      own += then.work < otherwise.work ? otherwise : then;
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
