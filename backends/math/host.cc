// backends/math/host.cc -- the rare operands, one at a time
#include <hom/backends/math/host.h>

#include <cmath>

namespace hom::math {
namespace {

template <class T>
T remainder(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(T{0}, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

template <class T>
T ask(Rare function, T x, T y) {
  switch (function) {
    case Rare::sin:
      return std::sin(x);
    case Rare::cos:
      return std::cos(x);
    case Rare::tan:
      return std::tan(x);
    case Rare::rem:
      break;
  }
  return remainder(x, y);
}

}  // namespace

float ask_host(Rare function, float x, float y) { return ask(function, x, y); }
double ask_host(Rare function, double x, double y) { return ask(function, x, y); }

}  // namespace hom::math
