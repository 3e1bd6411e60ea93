// tests/errors/run/duplicate_primitive.cc -- a primitive declared twice in one table
// expect: primitive `triple` is declared twice
// expect: hint: choose another name, or another table
// no line: a declaration in a table is not an operation
#include "tests/errors/fails.h"

MISTAKE(duplicate_primitive) {
  PrimitiveTable table;
  table.add({.name = "triple"});
#ifdef ALLOWED
  table.add({.name = "quadruple"});
#else
  table.add({.name = "triple"});
#endif
}
