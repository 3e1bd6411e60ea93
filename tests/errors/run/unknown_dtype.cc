// tests/errors/run/unknown_dtype.cc -- a dtype that does not exist
// expect: unknown dtype `f31`
// expect: hint: the dtypes are bool, i8
// no line: names of dtypes come from files, not from source lines
#include "tests/errors/fails.h"

MISTAKE(unknown_dtype) {
#ifdef ALLOWED
  dtype_named("f32");
#else
  dtype_named("f31");
#endif
}
