// tests/errors/fails.h -- a name for each program that must fail
//
//     MISTAKE(mismatched_shapes) {
//       const Tensor x = ones({3});
//     #ifdef ALLOWED
//       x + ones({3});
//     #else
//       x + ones({4});  // here
//     #endif
//     }
//
// Many programs are compiled as one file: names at namespace scope are unique.
#pragma once

#include <map>
#include <string>

#include <hom/hom.h>

namespace mistakes {

/// Every program that is linked in, by name.
inline std::map<std::string, void (*)()>& programs() {
  static std::map<std::string, void (*)()> all;
  return all;
}

struct Registration {
  Registration(const char* name, void (*run)()) { programs().emplace(name, run); }
};

}  // namespace mistakes

#define MISTAKE(name)                                                             \
  static void name##_program();                                                   \
  static const mistakes::Registration name##_registration(#name, name##_program); \
  static void name##_program()

using namespace hom;
