// tests/errors/run/unknown_primitive.cc -- a primitive that nobody declared
// expect: unknown primitive `sine`
// expect: hint: did you mean `sin`?
// no line: names of primitives come from program texts, which give their own line
#include "tests/errors/fails.h"

MISTAKE(unknown_primitive) {
#ifdef ALLOWED
  standard_primitives().find("sin");
#else
  standard_primitives().find("sine");
#endif
}
