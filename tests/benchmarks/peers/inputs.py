"""tests/benchmarks/peers/inputs.py -- the numbers that go into rows, the same as row.cc makes

Parameters are dictionaries of NumPy arrays in the layouts of Hom's side; a framework that wants
other layouts converts them once, before anything is timed.
"""
import math

import numpy as np

CLASSES = 10


def _bits(stream, count):
    """24 random bits for each counter: the finaliser of SplitMix64."""
    with np.errstate(over="ignore"):
        z = (np.uint64(stream << 32) + np.arange(count, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (z ^ (z >> np.uint64(31))) >> np.uint64(40)


def uniform(stream, shape, scale=1.0):
    """float32 in ±scale, element i of a stream."""
    values = _bits(stream, math.prod(shape)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return (values * np.float32(scale)).reshape(shape)


def integers(stream, shape, below):
    """int32 in 0 … below − 1."""
    return (_bits(stream, math.prod(shape)) % np.uint64(below)).astype(np.int32).reshape(shape)


def weight(stream, shape, fan_in):
    return uniform(stream, shape, 1 / math.sqrt(fan_in))


def zeros(*shape):
    return np.zeros(shape, np.float32)


def mlp(spec):
    """(parameters, x, labels)"""
    width, batch = spec["width"], spec["batch"]
    sizes = [(width, width), (width, width), (width, CLASSES)]
    parameters = {}
    for i, (inputs, outputs) in enumerate(sizes):
        parameters[f"w{i}"] = weight(3 + i, (inputs, outputs), inputs)
        parameters[f"b{i}"] = zeros(outputs)
    return parameters, uniform(1, (batch, width)), integers(2, (batch,), CLASSES)


def cnn(spec):
    batch, side, channels = spec["batch"], spec["side"], spec["channels"]
    features = (side // 2 // 2) ** 2 * 2 * channels
    parameters = {
        "k0": weight(3, (5, 5, 1, channels), 25),
        "c0": zeros(channels),
        "k1": weight(4, (5, 5, channels, 2 * channels), 25 * channels),
        "c1": zeros(2 * channels),
        "w": weight(5, (features, CLASSES), features),
        "b": zeros(CLASSES),
    }
    return parameters, uniform(1, (batch, side, side, 1)), integers(2, (batch,), CLASSES)


def lstm(spec):
    length, batch, hidden = spec["length"], spec["batch"], spec["hidden"]
    parameters = {
        "input": weight(3, (hidden, 4 * hidden), hidden),
        "recurrent": weight(4, (hidden, 4 * hidden), hidden),
        "bias": zeros(4 * hidden),
    }
    return parameters, uniform(1, (length, batch, hidden)), uniform(2, (batch, hidden))


def gpt(spec):
    batch, length, width = spec["batch"], spec["length"], spec["width"]
    parameters = {
        "scale0": np.ones(width, np.float32),
        "shift0": zeros(width),
        "qkv": weight(3, (width, 3 * width), width),
        "output": weight(4, (width, width), width),
        "scale1": np.ones(width, np.float32),
        "shift1": zeros(width),
        "up": weight(5, (width, 4 * width), width),
        "up_bias": zeros(4 * width),
        "down": weight(6, (4 * width, width), 4 * width),
        "down_bias": zeros(width),
    }
    shape = (batch, length, width)
    return parameters, uniform(1, shape), uniform(2, shape)


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "gpt": gpt}


def array(spec):
    """The arguments of an operation over arrays."""
    rows, columns, operation = spec["rows"], spec["columns"], spec["operation"]
    if operation in ("chain", "chain2"):
        return [uniform(1, (rows, columns)), uniform(2, (rows, columns))]
    if operation == "transpose3":
        depth = spec["depth"]
        return [uniform(1, (rows, columns // depth, depth))]
    if operation == "gather":
        n = rows * columns
        return [uniform(1, (n,)), integers(2, (n,), n)]
    if operation == "gather_rows":
        return [uniform(1, (rows, columns)), integers(2, (rows,), rows)]
    return [uniform(1, (rows, columns))]


def scalar(spec):
    return uniform(1, (64, 3))


def hvp(spec):
    """Rosenbrock: [x, v]; perceptron: [[w0, w1], [v0, v1], x, y]"""
    n = spec["size"]
    if spec["function"] == "rosenbrock":
        return [uniform(1, (n,)), uniform(2, (n,))]
    weights = [[weight(s, (n, n), n), weight(s + 1, (n, n), n)] for s in (5, 7)]
    return weights + [uniform(3, (32, n)), uniform(4, (32, n))]


def gp(spec):
    """[length, noise, x, y], the first two as logarithms"""
    n = spec["size"]
    return [np.float32(-0.5), np.float32(-1.0), uniform(1, (n,), 3), uniform(2, (n,))]


def summary(results):
    """Weighted mean, mean of absolute values, second and last element of each result."""
    values = []
    for result in results:
        x = np.asarray(result, dtype=np.float64).ravel()
        weights = np.arange(x.size) % 7 + 1
        values += [x @ weights / x.size, np.abs(x).mean(), x[1 % x.size], x[-1]]
    return [float(v) for v in values]
