"""tests/benchmarks/peers/jax_rows.py -- rows in JAX: one jitted function each, parameters donated"""
import math
import os

import jax
import jax.numpy as jnp
from jax import lax

import inputs


def start(threads):
    if directory := os.environ.get("PEERS_CACHE"):
        jax.config.update("jax_compilation_cache_dir", directory)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.jit(lambda x: x + 1)(jnp.ones(8)).block_until_ready()


class FunctionRow:
    def __init__(self, f, *args):
        self.f = jax.jit(f)
        self.args = jax.tree.map(jnp.asarray, args)

    def run(self, n):
        for _ in range(n):
            y = self.f(*self.args)
        jax.block_until_ready(y)

    def check(self):
        return inputs.summary(jax.tree.leaves(self.f(*self.args)))


class TrainingRow:
    def __init__(self, loss, parameters, x, y):
        def step(p, rate, x, y):
            value, slope = jax.value_and_grad(loss)(p, x, y)
            return value, jax.tree.map(lambda w, dw: w - rate * dw, p, slope)

        self.step = jax.jit(step, donate_argnums=0)
        self.initial = parameters
        self.parameters = jax.tree.map(jnp.array, parameters)
        self.x, self.y = jnp.asarray(x), jnp.asarray(y)
        self.rate = jnp.float32(2.0**-10)

    def run(self, n):
        for _ in range(n):
            value, self.parameters = self.step(self.parameters, self.rate, self.x, self.y)
        jax.block_until_ready((value, self.parameters))

    def check(self):
        p, rate, losses = jax.tree.map(jnp.array, self.initial), jnp.float32(0.125), []
        for _ in range(5):
            value, p = self.step(p, rate, self.x, self.y)
            losses.append(float(value))
        return losses


ACTIVATIONS = {
    "relu": jax.nn.relu,
    "tanh": jnp.tanh,
    "sigmoid": jax.nn.sigmoid,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "silu": jax.nn.silu,
    "softsign": jax.nn.soft_sign,
    "none": lambda x: x,
}


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def mean_squared_error(x, y):
    return jnp.mean((x - y) ** 2)


def mlp(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, x):
        x = act(x @ p["w0"] + p["b0"])
        x = act(x @ p["w1"] + p["b1"])
        return x @ p["w2"] + p["b2"]

    return forward, cross_entropy


def cnn(spec):
    act = ACTIVATIONS[spec["activation"]]

    def stage(x, kernel, bias):
        x = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return lax.reduce_window(act(x + bias), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def forward(p, x):
        x = stage(stage(x, p["k0"], p["c0"]), p["k1"], p["c1"])
        return x.reshape(x.shape[0], -1) @ p["w"] + p["b"]

    return forward, cross_entropy


def lstm(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, xs):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x + h @ p["recurrent"], 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * act(g)
            return (jax.nn.sigmoid(o) * act(c), c), None

        zero = jnp.zeros((spec["batch"], spec["hidden"]), jnp.float32)
        return lax.scan(cell, (zero, zero), xs @ p["input"] + p["bias"])[0][0]

    return forward, mean_squared_error


def gpt(spec):
    act = ACTIVATIONS[spec["activation"]]
    batch, length, width, heads = (spec[k] for k in ("batch", "length", "width", "heads"))

    def norm(x, scale, shift):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale + shift

    def attend(p, x):
        q, k, v = (a.reshape(batch, length, heads, -1) for a in jnp.split(x @ p["qkv"], 3, axis=-1))
        y = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return y.reshape(batch, length, width) @ p["output"]

    def forward(p, x):
        x = x + attend(p, norm(x, p["scale0"], p["shift0"]))
        up = norm(x, p["scale1"], p["shift1"]) @ p["up"] + p["up_bias"]
        return x + act(up) @ p["down"] + p["down_bias"]

    return forward, mean_squared_error


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "gpt": gpt}


def chain(x, y):
    c = jnp.exp(-(x * x))
    d = jnp.maximum(jnp.tanh(x * y + 0.5) * c - y, 0.1 * x)
    return d * d + c


def chain2(x, y):
    c = jnp.log1p(x * x)
    d = jnp.minimum(jnp.sin(x * y + 0.5) * c - y, 0.2 * x)
    return d / (c + 2.0) + c


def layer_norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


OPERATIONS = {
    "chain": chain,
    "chain2": chain2,
    "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax,
    "layer_norm": layer_norm,
    "rms_norm": lambda x: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5),
    "sum": jnp.sum,
    "sum_of_squares": lambda x: jnp.sum(x * x),
    "row_sum": lambda x: x.sum(1),
    "row_max": lambda x: x.max(1),
    "column_sum": lambda x: x.sum(0),
    "column_mean_square": lambda x: (x * x).mean(0),
    "transpose": lambda x: x.T,
    "transpose3": lambda x: x.transpose(2, 0, 1),
    "gather": lambda x, i: jnp.take(x, i, axis=0, mode="clip"),
    "gather_rows": lambda x, i: jnp.take(x, i, axis=0, mode="clip"),
}


class ScalarRow:
    def __init__(self, spec):
        def f(a, b, c):
            if spec["activation"] == "tanh":
                return jnp.tanh(a * b) * jnp.cos(c) + jnp.sqrt(1 + a * a) / (1 + b * b)
            return jnp.sin(a * b) + a * jnp.exp(-(c * c)) + jnp.log1p(b * b) / (1 + c * c)

        self.slope = jax.jit(jax.grad(f, argnums=(0, 1, 2)))
        self.points = [tuple(map(jnp.float32, p)) for p in inputs.scalar(spec)]
        self.next = 0

    def run(self, n):
        for i in range(self.next, self.next + n):
            y = self.slope(*self.points[i % 64])
        self.next += n
        jax.block_until_ready(y)

    def check(self):
        return [float(s) for p in self.points for s in self.slope(*p)]


def hvp_row(spec):
    act = ACTIVATIONS[spec["activation"]]
    if spec["function"] == "rosenbrock":

        def valley(x):
            head = x[:-1]
            a, b = 1.0 - act(head), x[1:] - head * head
            return jnp.sum(a * a + 100.0 * b * b)

        return FunctionRow(lambda x, v: jax.jvp(jax.grad(valley), (x,), (v,))[1], *inputs.hvp(spec))

    def product(w, v, x, y):
        loss = lambda w: mean_squared_error(act(x @ w[0]) @ w[1], y)
        return jax.jvp(jax.grad(loss), (w,), (v,))[1]

    return FunctionRow(product, *inputs.hvp(spec))


def gp_row(spec):
    n = spec["size"]

    def loss(length, noise, x, y):
        distance = (x[:, None] - x) / jnp.exp(length)
        far = math.sqrt(3.0) * jnp.abs(distance)
        matern = spec["kernel"] == "matern"
        k = (1.0 + far) * jnp.exp(-far) if matern else jnp.exp(-0.5 * distance * distance)
        l = jnp.linalg.cholesky(k + jnp.exp(2.0 * noise) * jnp.eye(n))
        white = jax.scipy.linalg.solve_triangular(l, y, lower=True)
        return 0.5 * white @ white + jnp.log(jnp.diag(l)).sum() + 0.5 * n * math.log(2.0 * math.pi)

    return FunctionRow(jax.value_and_grad(loss, argnums=(0, 1)), *inputs.gp(spec))


def make_row(spec):
    kind = spec["kind"]
    if kind in MODELS:
        forward, loss = MODELS[kind](spec)
        parameters, x, y = inputs.MODELS[kind](spec)
        if spec["mode"] == "forward":
            return FunctionRow(forward, parameters, x)
        return TrainingRow(lambda p, x, y: loss(forward(p, x), y), parameters, x, y)
    if kind == "array":
        return FunctionRow(OPERATIONS[spec["operation"]], *inputs.array(spec))
    return {"scalar": ScalarRow, "hvp": hvp_row, "gp": gp_row}[kind](spec)
