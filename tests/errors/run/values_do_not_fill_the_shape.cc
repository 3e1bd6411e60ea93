// tests/errors/run/values_do_not_fill_the_shape.cc -- fewer values than the shape has elements
// expect: tensor: 2 values cannot fill shape [3], which has 3 elements
#include <vector>

#include "tests/errors/fails.h"

MISTAKE(values_do_not_fill_the_shape) {
#ifdef ALLOWED
  tensor(std::vector{1.0, 2.0}, {2});
#else
  tensor(std::vector{1.0, 2.0}, {3});  // here
#endif
}
