#!/usr/bin/env python3
"""Fits the polynomials of backends/math/ and prints coefficients.h (python3-mpmath).

Each is the interpolation at Chebyshev points of a function that varies little, which is within a
small factor of the best polynomial, with its coefficients rounded to the dtype.
"""
import struct

from mpmath import atan, acos, asin, cos, erfc, exp, log, matrix, mp, mpf, pi, sin, sqrt, tanh, lu_solve

mp.dps = 60


def rounded(x, dtype):
    """x as the nearest number of the dtype."""
    if dtype == "f64":
        return mpf(float(x))
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def fit(f, low, high, degree, dtype):
    """Coefficients of the polynomial that equals f at the Chebyshev points of [low, high], lowest
    first, and how far it is off."""
    count = degree + 1
    at = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
    a = matrix(count, count)
    b = matrix(count, 1)
    for i, x in enumerate(at):
        b[i] = f(x)
        for j in range(count):
            a[i, j] = x**j
    found = [rounded(c, dtype) for c in lu_solve(a, b)]
    return found, max_error(f, found, low, high)


def max_error(f, coefficients, low, high):
    worst = mpf(0)
    for k in range(401):
        x = low + (high - low) * mpf(k) / 400
        value = f(x)
        got = sum(c * x**n for n, c in enumerate(coefficients))
        worst = max(worst, abs(got - value))
    return worst


def series(terms, z):
    """Σ terms(n)·zⁿ, for functions whose closed form cancels near 0."""
    total = mpf(0)
    n = 0
    while n < 80:
        total += terms(n) * z**n
        n += 1
    return total


def exp_rest(r):
    """(eʳ − 1 − r)/r²"""
    return series(lambda n: 1 / mp.factorial(n + 2), r)


def log_rest(z):
    """(2·atanh(s)/s − 2)/z for z = s²"""
    return series(lambda n: mpf(2) / (2 * n + 3), z)


def log_rest2(z):
    """(2·atanh(s)/s − 2 − 2z/3)/z²"""
    return series(lambda n: mpf(2) / (2 * n + 5), z)


def sin_rest(z):
    """(sin r − r)/r³"""
    return series(lambda n: (-1) ** (n + 1) / mp.factorial(2 * n + 3), z)


def cos_rest(z):
    """(cos r − 1 + z/2)/z²"""
    return series(lambda n: (-1) ** n / mp.factorial(2 * n + 4), z)


def tanh_rest(z):
    """(tanh x − x)/x³"""
    if z < mpf(10) ** -12:
        return -mpf(1) / 3 + z * 2 / 15
    x = sqrt(z)
    return (tanh(x) - x) / x**3


def erf_rest(z):
    """erf(x)/x − 2/√π, over z"""
    return series(lambda n: 2 / sqrt(pi) * (-1) ** (n + 1) / (mp.factorial(n + 1) * (2 * n + 3)), z)


def atan_rest(z):
    """(atan x − x)/x³"""
    if z < mpf(10) ** -12:
        return -mpf(1) / 3 + z / 5
    x = sqrt(z)
    return (atan(x) - x) / x**3


def asin_rest(z):
    """(asin x − x)/x³"""
    if z < mpf(10) ** -12:
        return mpf(1) / 6 + z * 3 / 40
    x = sqrt(z)
    return (asin(x) - x) / x**3


erfc_centre = mpf("3.75")


def erfc_scaled(t):
    """(1 + 2x)·exp(x²)·erfc(x) for t = (x − 3.75)/(x + 3.75)"""
    if t >= 1:
        return 2 / sqrt(pi)
    x = erfc_centre * (1 + t) / (1 - t)
    if x > 60:
        total = mpf(0)
        term = mpf(1)
        for n in range(1, 20):
            total += term
            term *= -(2 * n - 1) / (2 * x * x)
        return (1 + 2 * x) * total / (x * sqrt(pi))
    return (1 + 2 * x) * exp(x * x) * erfc(x)


half_log2 = log(mpf(2)) / 2
log_high = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2
quarter = (pi / 4) ** 2
eighth = (sqrt(mpf(2)) - 1) ** 2
# Margins for reductions that round.
fits = [
    ("exp_rest", exp_rest, -half_log2 * 1.01, half_log2 * 1.01, {"f32": 4, "f64": 10}),
    ("log_rest", log_rest, mpf(0), log_high * 1.02, {"f32": 3, "f64": 7}),
    ("log_rest2", log_rest2, mpf(0), log_high * 1.02, {"f32": 2, "f64": 6}),
    ("sin_rest", sin_rest, mpf(0), quarter * 1.02, {"f32": 2, "f64": 6}),
    ("cos_rest", cos_rest, mpf(0), quarter * 1.02, {"f32": 2, "f64": 6}),
    ("tanh_rest", tanh_rest, mpf(0), mpf("0.625") ** 2, {"f32": 4, "f64": 10}),
    ("erf_rest", erf_rest, mpf(0), mpf(1), {"f32": 6, "f64": 14}),
    ("erfc_scaled", erfc_scaled, mpf(-1), mpf(1), {"f32": 11, "f64": 28}),
    ("atan_rest", atan_rest, mpf(0), eighth * 1.02, {"f32": 4, "f64": 11}),
    ("asin_rest", asin_rest, mpf(0), mpf("0.25"), {"f32": 5, "f64": 14}),
]

print("""// backends/math/coefficients.h -- printed by fit.py
#pragma once

namespace hom::math::coefficients {
""")
for name, f, low, high, degrees in fits:
    for dtype, degree in degrees.items():
        found, error = fit(f, low, high, degree, dtype)
        kind = "double" if dtype == "f64" else "float"
        suffix = "" if dtype == "f64" else "f"
        numbers = ",\n    ".join(float(c).hex() + suffix for c in found)
        print(f"/// {f.__doc__ or name}, within {float(error):.1e} on [{float(low):.4g}, {float(high):.4g}].")
        print(f"inline constexpr {kind} {name}_{dtype}[] = {{\n    {numbers}}};\n")
print("}  // namespace hom::math::coefficients")
