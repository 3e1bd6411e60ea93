// backends/cpu/fourier.h -- fast Fourier transforms of one length
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hom::cpu {

struct ComplexNumber {
  double re;
  double im;

  friend ComplexNumber operator+(ComplexNumber a, ComplexNumber b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend ComplexNumber operator-(ComplexNumber a, ComplexNumber b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend ComplexNumber operator*(ComplexNumber a, ComplexNumber b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};

/// yₖ = Σⱼ xⱼ·e^(−2πijk/n) in O(n log n) for every n ≥ 1: in stages of small prime factors, which
/// leave the order as it is (T. G. Stockham, "High-speed convolution and correlation", 1966); with
/// a prime factor above 61 as a convolution by a chirp (L. I. Bluestein, 1970). Prepared once for
/// any number of transforms.
class FourierTransform {
 public:
  explicit FourierTransform(std::int64_t n);

  /// In place. `scratch` is overwritten, and grows to what is needed.
  void operator()(std::vector<ComplexNumber>& x, std::vector<ComplexNumber>& scratch) const;

 private:
  /// One stage of radix p on parts of length p·m that are s apart.
  void stage(std::size_t p, std::size_t m, std::size_t s, const ComplexNumber* x,
             ComplexNumber* y) const;
  void in_stages(std::vector<ComplexNumber>& x, std::vector<ComplexNumber>& scratch) const;
  void by_chirp(std::vector<ComplexNumber>& x) const;

  std::size_t n_;
  std::vector<std::size_t> factors_;
  /// e^(−2πik/n)
  std::vector<ComplexNumber> roots_;
  /// For a large prime factor: e^(−πik²/n), the transform of its conjugate, and what does it.
  std::vector<ComplexNumber> chirp_;
  std::vector<ComplexNumber> spectrum_;
  std::unique_ptr<FourierTransform> convolution_;
};

}  // namespace hom::cpu
