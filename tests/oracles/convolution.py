#!/usr/bin/env python3
# tests/oracles/convolution.py -- prints the numbers of NumPy and JAX in tests/unit/convolution_test.cc, pooling_test.cc,
# einsum_test.cc and tests/cases/reports_pooling_test.cc, ready to paste into C++
#
# Recorded with Python 3.11.7, NumPy 2.4.6 and JAX 0.10.2 (pip install numpy jax). Everything is computed twice, by loops
# in NumPy and by JAX in f64, and compared before it is printed.
import itertools

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def show(name, *values):
    print(f"{name}:")
    for value in values:
        print("  {" + ", ".join(repr(float(v)) for v in np.ravel(value)) + "}")


def waves(shape, function=np.sin):
    return function(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)


def agreed(loops, by_jax):
    assert np.allclose(loops, by_jax, rtol=1e-13, atol=1e-13), (loops, by_jax)
    return loops


def convolved(x, w, stride, low, high, dilation, groups):
    """x [n, h, w, c], w [h, w, c / groups, o]: the definition, element by element."""
    x = np.pad(x, [(0, 0), *zip(low, high), (0, 0)])
    span = [(w.shape[a] - 1) * dilation[a] + 1 for a in range(2)]
    shape = [(x.shape[1 + a] - span[a]) // stride[a] + 1 for a in range(2)]
    each, out = w.shape[2], w.shape[3] // groups
    y = np.zeros((x.shape[0], *shape, w.shape[3]))
    for n, i, j, o in np.ndindex(y.shape):
        for p, q, c in itertools.product(range(w.shape[0]), range(w.shape[1]), range(each)):
            at = x[n, i * stride[0] + p * dilation[0], j * stride[1] + q * dilation[1], o // out * each + c]
            y[n, i, j, o] += at * w[p, q, c, o]
    return y


def convolutions():
    x = waves((1, 5, 4, 4))
    w = waves((2, 3, 2, 2), np.cos)
    how = dict(stride=(2, 1), low=(1, 0), high=(0, 2), dilation=(2, 1), groups=2)

    def by_jax(x, w):
        return jax.lax.conv_general_dilated(
            x, w, how["stride"], list(zip(how["low"], how["high"])), rhs_dilation=how["dilation"],
            feature_group_count=how["groups"], dimension_numbers=("NHWC", "HWIO", "NHWC"))

    y = agreed(convolved(x, w, **how), by_jax(x, w))
    ct = waves(y.shape, lambda t: np.cos(2 * t))
    pulled_x, pulled_w = jax.vjp(by_jax, x, w)[1](ct)
    # The product with the cotangent is linear in each: its slope along single elements is a difference.
    for pulled, along in ((pulled_x, lambda d: convolved(d, w, **how)), (pulled_w, lambda d: convolved(x, d, **how))):
        for place in list(np.ndindex(pulled.shape))[::7]:
            unit = np.zeros(pulled.shape)
            unit[place] = 1
            agreed(np.sum(along(unit) * ct), pulled[place])
    show("convolution", y)
    show("its pullback, in x and in the kernel", pulled_x, pulled_w)

    y = waves((1, 3, 2))
    w = waves((3, 1, 2), np.cos)
    x = np.zeros(7)
    for o, k, c in np.ndindex(3, 3, 2):
        x[2 * o + k] += y[0, o, c] * w[k, 0, c]
    # JAX's transpose takes the kernel [k, channels of the result, channels of y] with transpose_kernel.
    show("transpose with stride 2",
         agreed(x, jax.lax.conv_transpose(y, w, (2,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"),
                                          transpose_kernel=True)[0, :, 0]))


def windows(n, size, stride, low, high):
    starts = range(-low, n + high - size + 1, stride)
    return [[p for p in range(s, s + size) if 0 <= p < n] for s in starts]


def pooling():
    x = np.array([-2.0, -1.0, 0.0, 1.0])
    places = windows(4, 3, 3, 1, 1)
    show("row 100, largest", [x[w].max() for w in places])
    show("row 100, mean without and with the padding", [x[w].mean() for w in places], [x[w].sum() / 3 for w in places])

    x = waves((6,))
    places = windows(6, 3, 1, 1, 1)

    def by_jax(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3,), (1,), [(1, 1)])

    y = agreed(np.array([x[w].max() for w in places]), by_jax(x))
    pulled = np.zeros(6)
    for weight, w in zip(range(1, 7), places):
        pulled[w[np.argmax(x[w])]] += weight
    show("overlapping windows", y, agreed(pulled, jax.vjp(by_jax, x)[1](np.arange(1.0, 7.0))[0]))

    x = waves((1, 5, 4, 1))
    expected = [[x[0, p, :, 0][:, q].mean() for q in windows(4, 2, 2, 0, 0)] for p in windows(5, 3, 2, 1, 1)]

    def mean_by_jax(x):
        window = ((1, 3, 2, 1), (1, 2, 2, 1), [(0, 0), (1, 1), (0, 0), (0, 0)])
        total = jax.lax.reduce_window(x, 0.0, jax.lax.add, *window)
        return total / jax.lax.reduce_window(jnp.ones_like(x), 0.0, jax.lax.add, *window)

    show("mean of an image", agreed(np.array(expected), mean_by_jax(x)[0, :, :, 0]))


def einsums():
    q, k, v = waves((2, 2, 3)), waves((2, 2, 3), np.cos), waves((2, 2, 2))
    show("einsum of three", agreed(np.einsum("bqd,bkd,bke->bqe", q, k, v), jnp.einsum("bqd,bkd,bke->bqe", q, k, v)))
    x = waves((3, 2, 3))
    show("einsum with a diagonal", agreed(np.einsum("iji->ji", x), jnp.einsum("iji->ji", x)))
    show("its pullback at ones", jax.vjp(lambda t: jnp.einsum("iji->", t), x)[1](jnp.ones(()))[0])
    show("einsum with an ellipsis", agreed(np.einsum("...i,ji->j...", q, x[:, 0]), jnp.einsum("...i,ji->j...", q, x[:, 0])))


convolutions()
pooling()
einsums()
