// tests/errors/run/symbol_on_another_thread.cc -- a symbol used on a second thread
// expect: symbol_on_another_thread.cc:{made} is used on another thread than the one that
// expect: hint: capture the whole function on one thread
#include <exception>
#include <thread>

#include "tests/errors/fails.h"

MISTAKE(symbol_on_another_thread) {
  std::exception_ptr failure;
  program(
      [&](Tensor x) {
        const Tensor y = sin(x);  // made here
        std::thread other([&] {
          try {
#ifdef ALLOWED
            cos(Tensor(1.0));
#else
            cos(y);  // here
#endif
          } catch (const Error&) {
            failure = std::current_exception();
          }
        });
        other.join();
        return y;
      },
      f64[{}]);
  if (failure) std::rethrow_exception(failure);
}
