// core/operations/fft.h -- discrete Fourier transforms, of any length in O(n log n)
//
// Of f32 and f64 (computed in f64, rounded once), along one axis, which is the last unless named
// and counts from the end where negative, or along several. Real tensors count as complex ones with
// im = 0. An integer, bool or 16-bit tensor is an `Error` that says astype; so is an axis outside
// the rank. All of them are linear, with derivatives and batches.
#pragma once

#include <cstdint>

#include <hom/core/operations/complex.h>
#include <hom/core/operations/reductions.h>

namespace hom {

/// Where the factor 1/n stands: in the transform back, in both as 1/√n, or in the transform
/// forward.
enum class Norm { backward, ortho, forward };

/// yₖ = Σⱼ xⱼ·e^(−2πijk/n): [shape] → [shape].
Complex fft(const Complex& x, std::int64_t axis = -1, Norm norm = Norm::backward,
            const Location& at = Location::current());
Complex fft(const Operand& x, std::int64_t axis = -1, Norm norm = Norm::backward);
/// xⱼ = 1/n·Σₖ yₖ·e^(2πijk/n), the inverse of fft.
Complex ifft(const Complex& y, std::int64_t axis = -1, Norm norm = Norm::backward,
             const Location& at = Location::current());
/// Of real x, k = 0, …, ⌊n/2⌋ only; the others are conjugates of these: [..., n, ...] → [...,
/// ⌊n/2⌋ + 1, ...]. Throws for n = 0.
Complex rfft(const Operand& x, std::int64_t axis = -1, Norm norm = Norm::backward);
/// The inverse of rfft, real of length n; the imaginary part of y₀ (and, for even n, of the last)
/// does not matter. Throws unless y has ⌊n/2⌋ + 1 elements along the axis, and for n < 1.
Tensor irfft(const Complex& y, std::int64_t n, std::int64_t axis = -1, Norm norm = Norm::backward,
             const Location& at = Location::current());
/// Along several axes, one after the other: all of them, or the last two.
Complex fftn(const Complex& x, const Axes& axes = {}, Norm norm = Norm::backward,
             const Location& at = Location::current());
Complex ifftn(const Complex& y, const Axes& axes = {}, Norm norm = Norm::backward,
              const Location& at = Location::current());
Complex fft2(const Complex& x, Norm norm = Norm::backward,
             const Location& at = Location::current());
Complex ifft2(const Complex& y, Norm norm = Norm::backward,
              const Location& at = Location::current());

/// The frequencies of fft's results, k/(n·spacing), with those above n/2 as negative ones: [n]. Of
/// rfft's: [⌊n/2⌋ + 1]. Throws for n < 1.
Tensor fftfreq(std::int64_t n, double spacing = 1, Dtype dtype = f64,
               const Location& at = Location::current());
Tensor rfftfreq(std::int64_t n, double spacing = 1, Dtype dtype = f64,
                const Location& at = Location::current());
/// Frequency 0 moves to the middle, ⌊n/2⌋, of each axis; `ifftshift` moves it back.
Tensor fftshift(const Operand& x, const Axes& axes = {});
Complex fftshift(const Complex& x, const Axes& axes = {});
Tensor ifftshift(const Operand& x, const Axes& axes = {});
Complex ifftshift(const Complex& x, const Axes& axes = {});

}  // namespace hom
