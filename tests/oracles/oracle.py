#!/usr/bin/env python3
# tests/oracles/oracle.py -- values and pullbacks of every function of Hom by JAX and NumPy, for oracle_test.cc
#
#     python3 -m venv /tmp/oracles && /tmp/oracles/bin/pip install jax==0.10.2 scipy==1.17.1
#     /tmp/oracles/bin/python tests/oracles/oracle.py     # writes tests/oracles/values.npz
#
# Recorded with Python 3.11, JAX 0.10.2, NumPy 2.4.6, SciPy 1.17.1; the file says so in the first line of its index.
# An entry is a function with the shapes and values that it is tried on. f32 is computed in f64 on inputs that are f32, and
# rounded once at the end, so that the values are those of the function and not of another library's f32. The tensors of a
# case are NAME/DTYPE/NUMBER/x0 … (inputs), y0 … (results), and, where there is a derivative, c0 … (cotangents of the
# results), d0 … (their pullback to the float inputs).
import json
import platform
import sys
from pathlib import Path

import jax
import numpy as np
import scipy

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
import jax.numpy as jnp  # noqa: E402  (after the configuration)
from jax import lax  # noqa: E402
from jax.scipy import special  # noqa: E402

FLOATS = ("f32", "f64")
INTEGERS = ("i32", "i64", "u8")
NUMPY = {"f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
         "u32": np.uint32, "u64": np.uint64, "bool": np.bool_}
SHAPES = ((), (1,), (5,), (3, 7), (2, 1, 3), (0,), (2, 0))
arrays = {}


def real(low=-2.0, high=2.0):
    """Elements drawn uniformly from low … high; integers from the same range."""
    def draw(rng, shape, dtype):
        if dtype == "bool":
            return rng.random(shape) < 0.5
        if dtype in FLOATS:
            return rng.uniform(low, high, shape).astype(NUMPY[dtype])
        return rng.integers(max(int(low), np.iinfo(NUMPY[dtype]).min), int(high) + 1, shape).astype(NUMPY[dtype])
    return draw


def integers(low, high, dtype="i64"):
    """Elements low … high, both included, of a dtype of their own."""
    return lambda rng, shape, _: rng.integers(low, high + 1, shape).astype(NUMPY[dtype])


def booleans(rng, shape, _):
    return rng.random(shape) < 0.5


def exactly(*values):
    """The same elements in each case."""
    return lambda rng, shape, dtype: np.array(values, NUMPY[dtype]).reshape(shape)


def is_float(x):
    return np.asarray(x).dtype.kind == "f"


def store(key, x, dtype):
    x = np.asarray(x)
    if x.dtype.kind == "f" and dtype in FLOATS:
        x = x.astype(NUMPY[dtype])
    arrays[key] = np.ascontiguousarray(x).reshape(x.shape)


def entry(name, f, draw=real(), shapes=SHAPES, dtypes=FLOATS, grad=True, oracle=jnp):
    """A function of as many inputs as `draw` has, on one list of shapes for each case. An `oracle` of np computes in the
    dtype itself, as integers need."""
    draws = draw if isinstance(draw, (list, tuple)) else [draw]
    for dtype in dtypes:
        for number, case in enumerate(shapes):
            case = case if len(draws) > 1 or (case and isinstance(case[0], tuple)) else [case]
            rng = np.random.default_rng([sum(map(ord, name)), number, len(dtype)])
            x = [d(rng, shape, dtype) for d, shape in zip(draws, case, strict=True)]
            key = f"{name}/{dtype}/{number}"
            exact = oracle is np
            wide = [v if exact or not is_float(v) else v.astype(np.float64) for v in x]
            for i, v in enumerate(x):
                arrays[f"{key}/x{i}"] = v
            y = f(*(wide if exact else map(jnp.asarray, wide)))
            y = list(y) if isinstance(y, (list, tuple)) else [y]
            for i, v in enumerate(y):
                store(f"{key}/y{i}", v, dtype)
            if not grad or dtype not in FLOATS:
                continue
            vary = [i for i, v in enumerate(wide) if is_float(v)]

            def floats_of(*v):
                full = list(wide)
                for i, value in zip(vary, v, strict=True):
                    full[i] = value
                out = f(*full)
                out = list(out) if isinstance(out, (list, tuple)) else [out]
                return [o for o in out if o.dtype.kind == "f"]

            results, pullback = jax.vjp(floats_of, *[jnp.asarray(wide[i]) for i in vary])
            c = [rng.uniform(-1, 1, r.shape).astype(NUMPY[dtype]) for r in results]
            for i, v in enumerate(c):
                arrays[f"{key}/c{i}"] = v
            for i, v in zip(vary, pullback([jnp.asarray(v.astype(np.float64)) for v in c]), strict=True):
                store(f"{key}/d{i}", v, dtype)


def pairs(*shapes):
    return [(s, s) for s in (shapes or SHAPES)]


def elementwise():
    entry("neg", lambda x: -x)
    entry("neg of integers", np.negative, dtypes=INTEGERS, oracle=np)
    entry("abs", jnp.abs)
    entry("abs at 0", jnp.abs, exactly(0.0, -0.0), [(2,)], grad=False)  # whose slope is 0 by decision, and 1 for JAX
    entry("sign", jnp.sign)
    for name, f in (("round", jnp.round), ("floor", jnp.floor), ("ceil", jnp.ceil)):
        entry(name, f, real(-5, 5))
        entry(f"{name} at halves", f, exactly(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0), [(7,)])
    positive = real(0.1, 9)
    entry("sqrt", jnp.sqrt, positive)
    entry("rsqrt", lax.rsqrt, positive)
    entry("exp", jnp.exp, real(-20, 20))
    entry("exp far out", jnp.exp, exactly(-800.0, -100.0, 100.0, 800.0, np.inf, -np.inf), [(6,)], ("f64",), grad=False)
    entry("expm1", jnp.expm1, real(-3, 3))
    entry("expm1 near 0", jnp.expm1, real(-1e-6, 1e-6))
    entry("log", jnp.log, positive)
    entry("log of edges", jnp.log, exactly(0.0, 1.0, np.inf, 1e-300, 1e300), [(5,)], ("f64",), grad=False)
    entry("log1p", jnp.log1p, real(-0.9, 5))
    entry("log1p near 0", jnp.log1p, real(-1e-6, 1e-6))
    entry("log2", jnp.log2, positive)
    entry("log10", jnp.log10, positive)
    for name, f in (("sin", jnp.sin), ("cos", jnp.cos)):
        entry(name, f, real(-10, 10))
        entry(f"{name} far out", f, real(-1e5, 1e5), dtypes=("f64",))
    entry("tan", jnp.tan, real(-1.5, 1.5))
    inside = real(-0.95, 0.95)
    entry("asin", jnp.arcsin, inside)
    entry("acos", jnp.arccos, inside)
    entry("atan", jnp.arctan, real(-10, 10))
    entry("sinh", jnp.sinh, real(-5, 5))
    entry("cosh", jnp.cosh, real(-5, 5))
    entry("tanh", jnp.tanh, real(-5, 5))
    entry("tanh far out", jnp.tanh, exactly(-100.0, -20.0, 20.0, 100.0), [(4,)])
    entry("asinh", jnp.arcsinh, real(-10, 10))
    entry("acosh", jnp.arccosh, real(1.2, 10))
    entry("atanh", jnp.arctanh, inside)
    entry("logistic", jax.nn.sigmoid, real(-10, 10))
    entry("logistic far out", jax.nn.sigmoid, exactly(-700.0, -50.0, 50.0, 700.0), [(4,)], ("f64",))
    entry("erf", special.erf, real(-4, 4))
    edges = exactly(0.0, -0.0, 1.5, np.inf, -np.inf, np.nan)
    for name, f in (("is_finite", jnp.isfinite), ("is_nan", jnp.isnan), ("is_inf", jnp.isinf)):
        entry(name, f, edges, [(6,)], grad=False)
    entry("not", np.logical_not, booleans, dtypes=("bool",), oracle=np)
    entry("not of integers", np.invert, dtypes=INTEGERS, oracle=np)
    entry("stop_gradient", lax.stop_gradient)


def binary():
    two = [real(), real()]
    apart = [real(0.5, 3), real(-3, -0.5)]
    for name, f, g in (("add", jnp.add, np.add), ("sub", jnp.subtract, np.subtract), ("mul", jnp.multiply, np.multiply)):
        entry(name, f, two, pairs())
        entry(f"{name} of integers", g, [real(0, 100), real(0, 100)], pairs(), INTEGERS, oracle=np)
    entry("add broadcasts", jnp.add, two, [((3, 1), (4,)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((1,), (0,))])
    entry("scale", jnp.multiply, two, pairs())
    entry("div", jnp.divide, apart, pairs())
    entry("div of integers", np.floor_divide, [real(-100, 100), real(1, 9)], pairs(), INTEGERS, oracle=np)
    entry("rem", jnp.remainder, apart, pairs())
    entry("rem of integers", np.remainder, [real(-100, 100), real(1, 9)], pairs(), INTEGERS, oracle=np)
    entry("pow", jnp.power, [real(0.2, 3), real(-3, 3)], pairs())
    entry("pow of negative bases", lambda x: x**3, real(-2, 2))
    entry("max", jnp.maximum, two, pairs())
    entry("min", jnp.minimum, two, pairs())
    entry("max of ties", jnp.maximum, [exactly(1.0, 2.0, 3.0), exactly(1.0, 3.0, 2.0)], [((3,), (3,))])
    entry("max of nan", jnp.maximum, [exactly(np.nan, 1.0), exactly(1.0, np.nan)], [((2,), (2,))], grad=False)
    entry("atan2", jnp.arctan2, [real(-3, 3), real(-3, 3)], pairs())
    entry("atan2 in four quadrants", jnp.arctan2, [exactly(1.0, 1.0, -1.0, -1.0), exactly(1.0, -1.0, 1.0, -1.0)],
          [((4,), (4,))])
    comparisons = (("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater),
                   ("ge", np.greater_equal))
    for name, f in comparisons:
        entry(name, f, [real(-2, 2), real(-2, 2)], pairs(), FLOATS + INTEGERS, grad=False, oracle=np)
        entry(f"{name} of edges", f, [exactly(0.0, np.nan, np.inf, 1.0), exactly(-0.0, np.nan, np.inf, np.nan)],
              [((4,), (4,))], grad=False, oracle=np)
    for name, f in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        entry(name, f, [real(0, 100), real(0, 100)], pairs(), INTEGERS + ("bool",), oracle=np)
    entry("shift_left", np.left_shift, [real(0, 100), real(0, 5)], pairs(), INTEGERS, oracle=np)
    entry("shift_right", np.right_shift, [real(-100, 100), real(0, 5)], pairs(), INTEGERS, oracle=np)
    entry("hypot", jnp.hypot, [real(0.2, 2), real(0.2, 2)], pairs())
    entry("logaddexp", jnp.logaddexp, [real(-30, 30), real(-30, 30)], pairs())
    entry("select", jnp.where, [booleans, real(), real()], [(s, s, s) for s in SHAPES])
    entry("where broadcasts", jnp.where, [booleans, real(), real()], [((3, 1), (4,), ()), ((2,), (), (3, 2))])
    entry("clamp", lambda x: jnp.clip(x, -1, 1), real(-2, 2))


def dtypes():
    entry("convert to f64", lambda x: x.astype(np.float64), dtypes=("f64", "i32", "u8", "bool"), grad=False)
    entry("convert to i32", lambda x: x.astype(np.int32), real(-9, 9), dtypes=FLOATS + ("i64", "bool"), grad=False, oracle=np)
    entry("convert to bool", lambda x: x.astype(np.bool_), real(-2, 2), dtypes=FLOATS + INTEGERS, grad=False, oracle=np)
    entry("bitcast to u32", lambda x: x.view(np.uint32), shapes=((5,), (3, 7)), dtypes=("f32",), grad=False, oracle=np)
    entry("bitcast to i64", lambda x: x.view(np.int64), shapes=((5,), (3, 7)), dtypes=("f64",), grad=False, oracle=np)


def shaping():
    every = FLOATS + ("i32", "bool")
    entry("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (1,)), shapes=[(3,)], dtypes=every)
    entry("broadcast_to", lambda x: jnp.broadcast_to(x, (2, 3, 4)), shapes=[(3, 1), (4,), (), (2, 1, 4)], dtypes=every)
    entry("reshape", lambda x: x.reshape(2, 6), shapes=[(12,), (3, 4), (4, 3)], dtypes=every)
    entry("transpose", lambda x: x.transpose(2, 0, 1), shapes=[(2, 3, 4), (1, 0, 2)], dtypes=every)
    entry("slice", lambda x: x[1:4, 4:0:-2], shapes=[(5, 6), (4, 5)], dtypes=every)
    entry("flip", lambda x: jnp.flip(x, (0, 2)), shapes=[(2, 3, 4), (1, 2, 0)], dtypes=every)
    pad = lambda x: lax.pad(x, jnp.asarray(7, x.dtype), ((1, 2, 0), (0, 1, 2)))  # noqa: E731
    entry("pad", pad, shapes=[(2, 3), (1, 1), (0, 2)], dtypes=FLOATS + ("i32",))
    entry("concat", lambda x, y, z: jnp.concatenate([x, y, z], 1), [real()] * 3,
          [((2, 1), (2, 3), (2, 2)), ((1, 0), (1, 2), (1, 1))], every)
    entry("stack", lambda x, y: jnp.stack([x, y], 1), [real()] * 2, [((2, 3), (2, 3)), ((0,), (0,))], every)
    entry("tile", lambda x: jnp.tile(x, (2, 3)), shapes=[(2, 2), (3,)], dtypes=every)
    entry("repeat", lambda x: jnp.repeat(x, 3, 1), shapes=[(2, 2), (1, 3)], dtypes=every)
    entry("roll", lambda x: jnp.roll(x, 2, 1), shapes=[(2, 5), (1, 3)], dtypes=every)
    entry("tril", lambda x: jnp.tril(x, 1), shapes=[(3, 3), (2, 4, 3)], dtypes=FLOATS + ("i32",))
    entry("triu", lambda x: jnp.triu(x, -1), shapes=[(3, 3), (2, 4, 3)], dtypes=FLOATS + ("i32",))
    entry("diagonal", lambda x: jnp.diagonal(x, axis1=-2, axis2=-1), shapes=[(3, 3), (2, 4, 3)], dtypes=every)
    entry("move_axis", lambda x: jnp.moveaxis(x, 0, 2), shapes=[(2, 3, 4)], dtypes=every)


def indexing():
    every = FLOATS + ("i32",)
    entry("take", lambda x, i: jnp.take(x, i, 1), [real(), integers(0, 3)], [((3, 4), (2, 5)), ((2, 4, 3), ()), ((1, 4), (0,))],
          every)
    entry("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, 1), [real(), integers(0, 3)],
          [((3, 4), (3, 6)), ((2, 4, 2), (2, 3, 2))], every)
    entry("gather", lambda x, i: x[i[..., 0], :, i[..., 1]], [real(), integers(0, 2)], [((3, 4, 3), (5, 2)), ((3, 1, 3), (2, 3, 2))],
          every)
    entry("gather that clips", lambda x, i: x[jnp.clip(i, 0, 3)], [real(), integers(-2, 6)], [((4, 3), (7,))], every)
    entry("scatter that adds", lambda x, i, u: x.at[i].add(u), [real(), integers(0, 3), real()], [((4, 3), (6,), (6, 3))], every)
    entry("scatter that sets", lambda x, i, u: x.at[i].set(u), [real(), exactly_integers(2, 0, 3), real()], [((4, 3), (3,), (3, 3))],
          every)
    entry("scatter that multiplies", lambda x, i, u: x.at[i].mul(u, unique_indices=True), [real(), exactly_integers(2, 0, 3), real()],
          [((4, 3), (3,), (3, 3))], every)
    entry("scatter maximum", lambda x, i, u: x.at[i].max(u), [real(), exactly_integers(2, 0, 3), real()],
          [((4, 3), (3,), (3, 3))], every)
    entry("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i[0], i[1]), (2, 3)), [real(), exactly_integers(1, 2)],
          [((4, 5), (2,))], every)
    entry("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i[0], i[1])),
          [real(), real(), exactly_integers(1, 2)], [((4, 5), (2, 3), (2,))], every)
    entry("update_slice", lambda x, u: x.at[1:4:2, 2:].set(u), [real(), real()], [((4, 5), (2, 3))], every)
    entry("at add", lambda x, u: x.at[::2, 1].add(u), [real(), real()], [((5, 3), (3,))], every)
    for name, f in (("segment_sum", lambda x: jnp.sum(x, 0)), ("segment_prod", lambda x: jnp.prod(x, 0))):
        unit = 1 if name == "segment_prod" else 0
        segments = lambda x, i, f=f, unit=unit: jnp.stack(  # noqa: E731
            [f(jnp.where((i == k).reshape(i.shape + (1,) * (x.ndim - 1)), x, unit)) for k in range(4)])
        entry(name, segments, [real(0.5, 2), integers(0, 3)], [((6, 2), (6,)), ((1,), (1,))])
    for name, f in (("segment_max", jnp.max), ("segment_min", jnp.min)):
        unit = -np.inf if name == "segment_max" else np.inf
        segments = lambda x, i, f=f, unit=unit: jnp.stack(  # noqa: E731
            [f(jnp.where((i == k)[:, None], x, unit), 0) for k in range(2)])
        entry(name, segments, [real(), exactly_integers(0, 1, 1, 0, 1)], [((5, 3), (5,))])
    entry("one_hot", lambda i: jax.nn.one_hot(i, 4, dtype=np.float64), integers(-1, 5), [(7,), (2, 3)], ("f64",), grad=False)


def special_functions():
    entry("erf_inv", special.erfinv, real(-0.99, 0.99))
    entry("erfc", special.erfc, real(-3, 5))
    entry("erfcx", lambda x: jnp.exp(x * x) * special.erfc(x), real(-2, 3))
    entry("erfc_inv", lambda x: -special.ndtri(x / 2) / np.sqrt(2), real(0.01, 1.99))
    entry("ndtr", special.ndtr, real(-6, 4))
    entry("log_ndtr", special.log_ndtr, real(-4, 4))
    entry("ndtri", special.ndtri, real(0.01, 0.99))
    entry("lgamma", special.gammaln, real(0.2, 20))
    entry("lgamma of negatives", special.gammaln, real(-3.9, -3.1))
    entry("polygamma of order 0", special.digamma, real(0.2, 20))
    entry("polygamma of order 1", lambda x: special.polygamma(1, x), real(0.2, 20))
    entry("polygamma of order 3", lambda x: special.polygamma(3, x), real(0.2, 20))


def sorting():
    shapes = [(5,), (3, 7), (2, 3, 4), (1,), (0,), (2, 0)]
    entry("sort", lambda x: jnp.sort(x, -1), shapes=shapes, dtypes=FLOATS + INTEGERS + ("bool",))
    entry("sort along the first", lambda x: jnp.sort(x, 0), shapes=shapes)
    entry("sort descending", lambda x: -jnp.sort(-x, -1), shapes=shapes)
    entry("argsort", lambda x: np.argsort(x, -1, kind="stable"), shapes=shapes, dtypes=FLOATS + INTEGERS, grad=False, oracle=np)
    entry("top_k", lambda x: lax.top_k(x, 2)[0], shapes=[(5,), (3, 7), (2, 2)])
    entry("top_k indices", lambda x: lax.top_k(x, 2)[1].astype(np.int64), shapes=[(5,), (3, 7), (2, 2)], dtypes=FLOATS + ("i32",),
          grad=False)
    entry("sort_by_key", lambda k, v: jnp.take_along_axis(v, jnp.argsort(k, -1), -1), [real(), real()], pairs((5,), (3, 7), (0,)))
    entry("median", lambda x: jnp.median(x, -1), shapes=[(5,), (3, 6), (1,)])
    entry("quantile", lambda x: jnp.quantile(x, 0.3, 0), shapes=[(5,), (4, 3)])
    entry("searchsorted", lambda x, v: np.searchsorted(np.sort(x), v), [real(), real()], [((7,), (3, 2)), ((0,), (2,))], FLOATS,
          grad=False, oracle=np)


def spectra():
    def parts(z):
        return [jnp.real(z), jnp.imag(z)]
    shapes = [(8,), (1,), (7,), (3, 12), (2, 3, 5)]
    complex_pairs = [(s, s) for s in shapes]
    entry("fft", lambda re, im: parts(jnp.fft.fft(re + 1j * im)), [real(), real()], complex_pairs)
    entry("fft inverse", lambda re, im: parts(jnp.fft.ifft(re + 1j * im)), [real(), real()], complex_pairs)
    entry("rfft", lambda x: parts(jnp.fft.rfft(x)), shapes=shapes)
    entry("fft2", lambda re, im: parts(jnp.fft.fft2(re + 1j * im)), [real(), real()], pairs((3, 4), (2, 5, 3)))
    entry("irfft", lambda re, im: jnp.fft.irfft(re + 1j * im, 8), [real(), real()], [((5,), (5,)), ((2, 5), (2, 5))])


def windows():
    def windowed(init, f):
        """Three elements at distance 2 along the last axis, every other window; JAX has no gradient of spread windows."""
        def apply(x):
            padded = jnp.pad(x, ((0, 0), (1, 2)), constant_values=init)
            starts = np.arange(0, padded.shape[1] - 4, 2)
            return f(padded[:, starts[:, None] + 2 * np.arange(3)], -1)
        return apply
    shapes = [(2, 9), (1, 5), (3, 6)]
    entry("window_sum", windowed(0.0, jnp.sum), shapes=shapes)
    entry("window_max", windowed(-np.inf, jnp.max), shapes=shapes)
    entry("window_min", windowed(np.inf, jnp.min), shapes=shapes)
    entry("max_pool", lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), shapes=[(2, 4, 5, 3)])
    entry("avg_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4,
          shapes=[(2, 4, 5, 3)])

    def conv(x, w, groups=1):
        axes = {3: ("NWC", "WIO", "NWC"), 4: ("NHWC", "HWIO", "NHWC"), 5: ("NDHWC", "DHWIO", "NDHWC")}[x.ndim]
        return lax.conv_general_dilated(x, w, (2,) * (x.ndim - 2), ((1, 2),) * (x.ndim - 2), rhs_dilation=(2,) * (x.ndim - 2),
                                        dimension_numbers=axes, feature_group_count=groups)
    entry("conv_general", conv, [real(), real()], [((2, 9, 3), (3, 3, 4)), ((1, 6, 7, 2), (2, 3, 2, 3)), ((2, 4, 5, 3, 1), (2, 1, 2, 1, 2))])
    entry("conv_general by groups", lambda x, w: conv(x, w, 2), [real(), real()], [((2, 9, 4), (3, 2, 6)), ((1, 6, 7, 2), (2, 3, 1, 2))])
    transposed = lambda y, w: jax.vjp(  # noqa: E731
        lambda x: lax.conv_general_dilated(x, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")), jnp.zeros((2, 9, 3)))[1](y)[0]
    entry("conv_transpose", transposed, [real(), real()], [((2, 4, 4), (3, 3, 4))])
    entry("conv to the same extents", lambda x, w: lax.conv_general_dilated(x, w, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
          [real(), real()], [((2, 5, 6, 3), (3, 2, 3, 4)), ((1, 1, 1, 1), (3, 3, 1, 1))])
    for subscripts, shapes in (("ij,jk->ik", ((2, 3), (3, 4))), ("bij,bjk->bik", ((2, 2, 3), (2, 3, 4))), ("i,j->ji", ((2,), (3,))),
                               ("...i,i", ((2, 3, 4), (4,))), ("ab,bc,cd->ad", ((2, 3), (3, 4), (4, 2)))):
        entry(f"einsum {subscripts}", lambda *x, subscripts=subscripts: jnp.einsum(subscripts, *x), [real()] * len(shapes), [shapes])
    for subscripts in ("ii->", "ii->i", "ij->ji", "ij->"):
        entry(f"einsum {subscripts}", lambda x, subscripts=subscripts: jnp.einsum(subscripts, x), shapes=[(3, 3), (1, 1)])


def linear_algebra():
    """Matrices far from singular are made of any others: x·xᵀ + n for positive definite ones, x + 2n for invertible ones."""
    squares = [(3, 3), (1, 1), (2, 4, 4), (0, 0), (5, 5)]
    definite = lambda x: x @ jnp.swapaxes(x, -1, -2) + x.shape[-1] * jnp.eye(x.shape[-1])  # noqa: E731
    invertible = lambda x: x + 2 * x.shape[-1] * jnp.eye(x.shape[-1])  # noqa: E731
    ramp = lambda x: x + x.shape[-1] * 3 * jnp.diag(jnp.arange(1.0, x.shape[-1] + 1))  # noqa: E731  (spectra apart)
    entry("cholesky", lambda x: jnp.linalg.cholesky(definite(x)), shapes=squares)
    entry("triangular_solve", lambda x, b: lax.linalg.triangular_solve(invertible(x), b, left_side=True, lower=True),
          [real(), real()], [((3, 3), (3, 2)), ((2, 4, 4), (2, 4, 1)), ((0, 0), (0, 2))])
    entry("triangular_solve of the transpose",
          lambda x, b: lax.linalg.triangular_solve(invertible(x), b, left_side=True, transpose_a=True, unit_diagonal=True),
          [real(), real()], [((3, 3), (3, 2))])
    entry("lu", lambda x: [lax.linalg.lu(x)[0], lax.linalg.lu(x)[2].astype(np.int64)], shapes=[(3, 3), (4, 2), (2, 4), (2, 3, 3)])
    entry("lu_solve in solve", lambda x, b: jnp.linalg.solve(invertible(x), b), [real(), real()],
          [((3, 3), (3, 2)), ((2, 4, 4), (2, 4, 1)), ((1, 1), (1,))])
    entry("inverse", lambda x: jnp.linalg.inv(invertible(x)), shapes=squares)

    def qr(x):
        q, r = jnp.linalg.qr(x)
        signs = jnp.sign(jnp.diagonal(r, axis1=-2, axis2=-1))
        return [q * signs[..., None, :], r * signs[..., :, None]]
    entry("qr", qr, shapes=[(3, 3), (4, 2), (2, 4, 3)])
    symmetric = lambda x: ramp((x + jnp.swapaxes(x, -1, -2)) / 2)  # noqa: E731
    entry("eigh values", lambda x: jnp.linalg.eigh(symmetric(x))[0], shapes=squares)

    def function_of_symmetric(x):
        values, v = jnp.linalg.eigh(symmetric(x))
        return (v * jnp.log(jnp.abs(values) + 20)[..., None, :]) @ jnp.swapaxes(v, -1, -2)
    entry("eigh of a function", function_of_symmetric, shapes=squares[:3])
    entry("svd values", lambda x: jnp.linalg.svd(ramp(x), compute_uv=False), shapes=[(3, 3), (2, 4, 4)])

    def function_of_singular_values(x):
        u, s, vt = jnp.linalg.svd(ramp(x), full_matrices=False)
        return (u * jnp.log(s + 2)[..., None, :]) @ vt
    entry("svd of a function", function_of_singular_values, shapes=[(3, 3), (2, 4, 4)])
    entry("determinant", jnp.linalg.det, shapes=[s for s in squares if s[0]])
    entry("determinant of a singular matrix", lambda x: x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0], exactly(1.0, 2.0, 2.0, 4.0), [(2, 2)])
    entry("cofactor", lambda x: jnp.linalg.det(invertible(x))[..., None, None] * jnp.swapaxes(jnp.linalg.inv(invertible(x)), -1, -2), shapes=squares[:3])
    entry("slogdet", lambda x: list(jnp.linalg.slogdet(x)), shapes=squares[:3])
    entry("pinv", lambda x: jnp.linalg.pinv(x), shapes=[(3, 3), (4, 2), (2, 4), (2, 3, 2)])
    entry("lstsq", lambda x, b: jnp.linalg.pinv(x) @ b, [real(), real()], [((4, 2), (4, 3)), ((2, 4), (2, 1))])
    entry("expm", jax.scipy.linalg.expm, shapes=[(3, 3), (1, 1), (5, 5)])
    entry("matrix_power", lambda x: jnp.linalg.matrix_power(x, 5), shapes=[(3, 3), (2, 2, 2)])
    entry("inverse power", lambda x: jnp.linalg.matrix_power(invertible(x), -2), shapes=[(3, 3)])
    for kind, order in (("frobenius", "fro"), ("nuclear", "nuc"), ("one", 1), ("infinity", np.inf), ("two", 2)):
        entry(f"matrix_norm {kind}", lambda x, order=order: jnp.linalg.norm(x, order), shapes=[(3, 3), (4, 2)])
    entry("trace", jnp.trace, shapes=[(3, 3), (4, 2)])


def exactly_integers(*values):
    return lambda rng, shape, _: np.array(values, np.int64).reshape(shape)


def reductions():
    shapes = [(4,), (3, 7), (2, 3, 5), (1, 1)]
    empty = [(0, 3), (2, 0)]
    for name, f, g in (("reduce_sum", jnp.sum, np.sum), ("reduce_prod", jnp.prod, np.prod)):
        entry(name, lambda x, f=f: f(x), real(0.5, 1.5), shapes + empty)
        entry(f"{name} along the first", lambda x, f=f: f(x, 0), real(0.5, 1.5), shapes + empty)
        entry(f"{name} along the last of integers", lambda x, g=g: g(x, -1, dtype=x.dtype), real(0, 4), shapes, ("i32", "i64"),
              oracle=np)
    entry("reduce_prod with zeros", lambda x: jnp.prod(x), exactly(2.0, 0.0, 3.0), [(3,)])
    entry("reduce_prod with two zeros", lambda x: jnp.prod(x), exactly(2.0, 0.0, 0.0), [(3,)])
    for name, f in (("reduce_max", jnp.max), ("reduce_min", jnp.min)):
        entry(name, lambda x, f=f: f(x), shapes=shapes, dtypes=FLOATS + ("i32",))
        entry(f"{name} along the last", lambda x, f=f: f(x, -1), shapes=shapes + [(0, 3)], dtypes=FLOATS + ("i32",))
        entry(f"{name} of ties", lambda x, f=f: f(x), exactly(1.0, 3.0, 3.0, 1.0), [(4,)])
        entry(f"{name} of nan", lambda x, f=f: f(x), exactly(1.0, np.nan, 3.0), [(3,)], grad=False)
    entry("reduce_and", lambda x: np.all(x, -1), booleans, [(4,), (3, 2), (2, 0)], ("bool",), oracle=np)
    entry("reduce_or", lambda x: np.any(x, -1), booleans, [(4,), (3, 2), (2, 0)], ("bool",), oracle=np)
    for name, f in (("argmax", np.argmax), ("argmin", np.argmin)):
        entry(name, lambda x, f=f: f(x, -1), shapes=shapes, dtypes=FLOATS + INTEGERS, grad=False, oracle=np)
        entry(f"{name} of ties and nan", lambda x, f=f: f(x, -1), exactly(1.0, 3.0, 3.0, 1.0, np.nan, 5.0, 1.0, 2.0), [(2, 4)],
              grad=False, oracle=np)
    entry("max_or", lambda x: jnp.maximum(jnp.max(x, -1, initial=-np.inf), 0.25), shapes=shapes + [(2, 0)])
    entry("min_or", lambda x: jnp.minimum(jnp.min(x, -1, initial=np.inf), 0.25), shapes=shapes + [(2, 0)])
    entry("mean", lambda x: jnp.mean(x, -1), shapes=shapes)
    entry("variance", lambda x: jnp.var(x, -1), shapes=[(4,), (3, 7)])
    entry("variance with ddof", lambda x: jnp.var(x, 0, ddof=1), shapes=[(4,), (3, 7)])
    entry("standard_deviation", lambda x: jnp.std(x, -1), shapes=[(4,), (3, 7)])
    entry("norm", lambda x: jnp.sqrt(jnp.sum(x * x, -1)), shapes=[(4,), (3, 7)])
    entry("cumsum", lambda x: jnp.cumsum(x, -1), shapes=shapes + [(0,)], dtypes=FLOATS)
    entry("cumsum from the end", lambda x: jnp.flip(jnp.cumsum(jnp.flip(x, 0), 0), 0), shapes=shapes)
    entry("cumprod", lambda x: jnp.cumprod(x, -1), real(0.5, 1.5), shapes + [(0,)])
    entry("cumprod with zeros", lambda x: jnp.cumprod(x), exactly(2.0, 0.0, 3.0, 0.0, 5.0), [(5,)])
    entry("cummax", lambda x: lax.cummax(x, x.ndim - 1), shapes=shapes)
    entry("cummin", lambda x: lax.cummin(x, x.ndim - 1), shapes=shapes)
    entry("logcumsumexp", lambda x: lax.cumlogsumexp(x, x.ndim - 1), real(-20, 20), shapes)


def contractions():
    two = [real(), real()]
    shapes = [((3, 4), (4, 5)), ((1, 1), (1, 1)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((17, 33), (33, 9)), ((4,), (4, 3)), ((3, 4), (4,)),
              ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2))]
    entry("matmul", jnp.matmul, two, shapes)
    entry("matmul of integers", np.matmul, [real(-9, 9), real(-9, 9)], shapes, ("i32", "i64"), oracle=np)
    dims = (((2,), (1,)), ((0,), (2,)))
    entry("dot_general", lambda x, y: lax.dot_general(x, y, dims), two, [((2, 3, 4), (5, 4, 2)), ((1, 2, 3), (0, 3, 1))])
    entry("dot", jnp.dot, two, [((5,), (5,)), ((0,), (0,))])
    entry("outer", jnp.outer, two, [((5,), (3,)), ((0,), (2,))])


def neural():
    rows = [(5,), (3, 7), (2, 3, 4), (1, 1)]
    entry("relu", jax.nn.relu)
    entry("relu at 0", jax.nn.relu, exactly(0.0, -1.0, 1.0), [(3,)])
    entry("log_sigmoid", jax.nn.log_sigmoid, real(-30, 30))
    entry("softplus", jax.nn.softplus, real(-30, 30))
    entry("silu", jax.nn.silu, real(-5, 5))
    entry("gelu", lambda x: jax.nn.gelu(x, approximate=False), real(-4, 4))
    entry("sinc", jnp.sinc, real(0.2, 3))
    entry("square", jnp.square)
    entry("logsumexp", lambda x: special.logsumexp(x, -1), real(-50, 50), rows)
    entry("logsumexp of all", special.logsumexp, real(-50, 50), rows)
    entry("softmax", lambda x: jax.nn.softmax(x, -1), real(-9, 9), rows)
    entry("softmax along the first", lambda x: jax.nn.softmax(x, 0), real(-9, 9), rows)
    entry("log_softmax", lambda x: jax.nn.log_softmax(x, -1), real(-50, 50), rows)
    entry("cross_entropy", lambda x, i: -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x, -1), i[..., None], -1)),
          [real(-9, 9), integers(0, 3)], [((5, 4), (5,)), ((4,), ()), ((2, 3, 4), (2, 3))])
    entry("cross_entropy of probabilities", lambda x, p: -jnp.mean(jnp.sum(p * jax.nn.log_softmax(x, -1), -1)),
          [real(-9, 9), real(0, 1)], [((5, 4), (5, 4))])
    entry("mean_squared_error", lambda x, y: jnp.mean((x - y) ** 2), [real(), real()], pairs((5,), (3, 7)))
    normalised = lambda x, axis, epsilon: (x - x.mean(axis, keepdims=True)) / jnp.sqrt(x.var(axis, keepdims=True) + epsilon)  # noqa: E731
    entry("layer_norm", lambda x: normalised(x, -1, 1e-5), real(-3, 3), [(5,), (3, 7), (2, 3, 4)])
    entry("batch_norm", lambda x: normalised(x, 0, 1e-5), real(-3, 3), [(5,), (6, 7), (4, 3, 2)])

    def attention(q, k, v, mask=True):
        scores = jnp.where(mask, q @ jnp.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]), -jnp.inf)
        return jax.nn.softmax(scores, -1) @ v
    qkv = [((3, 4), (5, 4), (5, 2)), ((2, 3, 4), (2, 5, 4), (2, 5, 2))]
    entry("attention", attention, [real()] * 3, qkv)
    entry("causal attention", lambda q, k, v: attention(q, k, v, np.tril(np.ones((4, 4), bool))), [real()] * 3,
          [((4, 3), (4, 3), (4, 2)), ((2, 4, 3), (2, 4, 3), (2, 4, 1))])


def main():
    groups = (elementwise, binary, dtypes, special_functions, shaping, indexing, sorting, reductions, contractions, spectra, windows,
              linear_algebra, neural)
    for group in groups:
        group()
    versions = {"python": platform.python_version(), "jax": jax.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
    # One array for each dtype, with the elements of all tensors, and an index of them: small files.
    index = [f"versions\t{json.dumps(versions)}"]
    elements = {}
    for key, x in arrays.items():
        index.append("\t".join([key, x.dtype.name, *map(str, x.shape)]))
        elements.setdefault(x.dtype.name, []).append(x.ravel())
    text = np.frombuffer("\n".join(index).encode(), np.uint8)
    path = Path(__file__).with_name("values.npz")
    np.savez_compressed(path, index=text, **{name: np.concatenate(parts) for name, parts in elements.items()})
    print(f"{path}: {len(arrays)} arrays, {path.stat().st_size} bytes, {versions}")


if __name__ == "__main__":
    sys.exit(main())
