"""tests/benchmarks/peers/mlx_rows.py -- rows in MLX on its CPU backend, by mx.compile"""
import math

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.utils import tree_flatten, tree_map

import inputs


def start(threads):
    mx.set_default_device(mx.cpu)
    mx.eval(mx.compile(lambda x: x + 1)(mx.ones(8)))


def arrays(tree):
    return tree_map(lambda a: mx.array(a) if isinstance(a, (np.ndarray, np.floating)) else a, tree)


def leaves(tree):
    return [leaf for _, leaf in tree_flatten(tree)]


class FunctionRow:
    def __init__(self, f, *args, compiled=True):
        self.f = mx.compile(f) if compiled else f
        self.args = arrays(list(args))
        mx.eval(self.args)

    def run(self, n):
        for _ in range(n):
            mx.eval(self.f(*self.args))

    def check(self):
        y = self.f(*self.args)
        return inputs.summary(leaves(list(y) if isinstance(y, tuple) else [y]))


class TrainingRow:
    def __init__(self, loss, parameters, x, y):
        slope_of = mx.value_and_grad(loss)

        def step(p, rate, x, y):
            value, slope = slope_of(p, x, y)
            return value, tree_map(lambda w, dw: w - rate * dw, p, slope)

        self.step = mx.compile(step)
        self.initial = parameters
        self.parameters, self.x, self.y = arrays([parameters, x, y])
        self.rate = mx.array(2.0**-10)
        mx.eval(self.parameters, self.x, self.y, self.rate)

    def run(self, n):
        for _ in range(n):
            value, self.parameters = self.step(self.parameters, self.rate, self.x, self.y)
            mx.eval(value, self.parameters)

    def check(self):
        p, rate, losses = arrays(self.initial), mx.array(0.125), []
        for _ in range(5):
            value, p = self.step(p, rate, self.x, self.y)
            mx.eval(value, p)
            losses.append(value.item())
        return losses


ACTIVATIONS = {
    "relu": nn.relu,
    "tanh": mx.tanh,
    "sigmoid": mx.sigmoid,
    "gelu": nn.gelu,
    "silu": nn.silu,
    "softsign": nn.softsign,
    "none": lambda x: x,
}


def cross_entropy(logits, labels):
    return nn.losses.cross_entropy(logits, labels, reduction="mean")


def mean_squared_error(x, y):
    return mx.mean(mx.square(x - y))


def mlp(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, x):
        x = act(mx.addmm(p["b0"], x, p["w0"]))
        x = act(mx.addmm(p["b1"], x, p["w1"]))
        return mx.addmm(p["b2"], x, p["w2"])

    return forward, cross_entropy


def cnn(spec):
    act = ACTIVATIONS[spec["activation"]]
    pool = nn.MaxPool2d(2, 2)

    def forward(p, x):
        for k, c in (("k0", "c0"), ("k1", "c1")):
            x = pool(act(mx.conv2d(x, p[k], padding=2) + p[c]))
        return mx.addmm(p["b"], x.reshape(x.shape[0], -1), p["w"])

    return forward, cross_entropy


def lstm(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, xs):
        gates = xs @ p["input"] + p["bias"]
        h = c = mx.zeros((spec["batch"], spec["hidden"]))
        for t in range(spec["length"]):
            i, f, g, o = mx.split(mx.addmm(gates[t], h, p["recurrent"]), 4, axis=1)
            c = mx.sigmoid(f) * c + mx.sigmoid(i) * act(g)
            h = mx.sigmoid(o) * act(c)
        return h

    return forward, mean_squared_error


def gpt(spec):
    act = ACTIVATIONS[spec["activation"]]
    batch, length, width, heads = (spec[k] for k in ("batch", "length", "width", "heads"))
    scale = 1 / math.sqrt(width // heads)

    def attend(p, x):
        q, k, v = (
            a.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3)
            for a in mx.split(x @ p["qkv"], 3, axis=-1)
        )
        y = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask="causal")
        return y.transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["output"]

    def forward(p, x):
        x = x + attend(p, mx.fast.layer_norm(x, p["scale0"], p["shift0"], 1e-5))
        up = mx.addmm(p["up_bias"], mx.fast.layer_norm(x, p["scale1"], p["shift1"], 1e-5), p["up"])
        return x + mx.addmm(p["down_bias"], act(up), p["down"])

    return forward, mean_squared_error


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "gpt": gpt}


def chain(x, y):
    c = mx.exp(-(x * x))
    d = mx.maximum(mx.tanh(x * y + 0.5) * c - y, 0.1 * x)
    return d * d + c


def chain2(x, y):
    c = mx.log1p(x * x)
    d = mx.minimum(mx.sin(x * y + 0.5) * c - y, 0.2 * x)
    return d / (c + 2.0) + c


OPERATIONS = {
    "chain": chain,
    "chain2": chain2,
    "softmax": lambda x: mx.softmax(x, axis=-1),
    "log_softmax": lambda x: nn.log_softmax(x, axis=-1),
    "layer_norm": lambda x: mx.fast.layer_norm(x, None, None, 1e-5),
    "rms_norm": lambda x: mx.fast.rms_norm(x, None, 1e-5),
    "sum": mx.sum,
    "sum_of_squares": lambda x: mx.sum(x * x),
    "row_sum": lambda x: x.sum(1),
    "row_max": lambda x: x.max(1),
    "column_sum": lambda x: x.sum(0),
    "column_mean_square": lambda x: (x * x).mean(0),
    "transpose": lambda x: mx.contiguous(x.T),
    "transpose3": lambda x: mx.contiguous(x.transpose(2, 0, 1)),
    "gather": lambda x, i: mx.take(x, i, axis=0),
    "gather_rows": lambda x, i: mx.take(x, i, axis=0),
}


class ScalarRow:
    def __init__(self, spec):
        def f(a, b, c):
            if spec["activation"] == "tanh":
                return mx.tanh(a * b) * mx.cos(c) + mx.sqrt(1 + a * a) / (1 + b * b)
            return mx.sin(a * b) + a * mx.exp(-(c * c)) + mx.log1p(b * b) / (1 + c * c)

        self.slope = mx.compile(mx.grad(f, argnums=(0, 1, 2)))
        self.points = [tuple(mx.array(float(v)) for v in p) for p in inputs.scalar(spec)]
        mx.eval(self.points)
        self.next = 0

    def run(self, n):
        for i in range(self.next, self.next + n):
            mx.eval(self.slope(*self.points[i % 64]))
        self.next += n

    def check(self):
        return [s.item() for p in self.points for s in self.slope(*p)]


def hvp_row(spec):
    act = ACTIVATIONS[spec["activation"]]
    if spec["function"] == "rosenbrock":

        def valley(x):
            head = x[:-1]
            a, b = 1.0 - act(head), x[1:] - head * head
            return mx.sum(a * a + 100.0 * b * b)

        return FunctionRow(lambda x, v: mx.jvp(mx.grad(valley), [x], [v])[1][0], *inputs.hvp(spec))

    def product(w, v, x, y):
        def slope(w0, w1):
            return mx.grad(lambda w: mean_squared_error(act(x @ w[0]) @ w[1], y))([w0, w1])

        return mx.jvp(slope, w, v)[1]

    return FunctionRow(product, *inputs.hvp(spec))


def gp_row(spec):
    n = spec["size"]

    def loss(length, noise, x, y):
        distance = (x[:, None] - x) / mx.exp(length)
        far = math.sqrt(3.0) * mx.abs(distance)
        matern = spec["kernel"] == "matern"
        k = (1.0 + far) * mx.exp(-far) if matern else mx.exp(-0.5 * distance * distance)
        l = mx.linalg.cholesky(k + mx.exp(2.0 * noise) * mx.eye(n))
        white = mx.linalg.solve_triangular(l, y[:, None])[:, 0]
        return 0.5 * white @ white + mx.log(mx.diag(l)).sum() + 0.5 * n * math.log(2.0 * math.pi)

    return FunctionRow(mx.value_and_grad(loss, argnums=(0, 1)), *inputs.gp(spec))


def make_row(spec):
    kind = spec["kind"]
    if kind in MODELS:
        forward, loss = MODELS[kind](spec)
        parameters, x, y = inputs.MODELS[kind](spec)
        for name in ("k0", "k1"):  # MLX has kernels as [out, height, width, in]
            if name in parameters:
                parameters[name] = np.ascontiguousarray(parameters[name].transpose(3, 0, 1, 2))
        if spec["mode"] == "forward":
            return FunctionRow(forward, parameters, x)
        return TrainingRow(lambda p, x, y: loss(forward(p, x), y), parameters, x, y)
    if kind == "array":
        return FunctionRow(OPERATIONS[spec["operation"]], *inputs.array(spec))
    return {"scalar": ScalarRow, "hvp": hvp_row, "gp": gp_row}[kind](spec)
