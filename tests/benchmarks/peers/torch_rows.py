"""tests/benchmarks/peers/torch_rows.py -- rows in PyTorch: eager, or by torch.compile where PEERS_TORCH=compile"""
import math
import os

import numpy as np
import torch
import torch.nn.functional as F

import inputs

COMPILE = os.environ.get("PEERS_TORCH") == "compile"


def compiled(f):
    return torch.compile(f, dynamic=False) if COMPILE else f


def start(threads):
    torch.set_num_threads(threads)
    compiled(lambda x: x + 1)(torch.ones(8))


def tensors(tree):
    if isinstance(tree, (list, tuple)):
        return [tensors(a) for a in tree]
    if isinstance(tree, dict):
        return {k: tensors(a) for k, a in tree.items()}
    a = torch.tensor(tree)
    return a.long() if a.dtype == torch.int32 else a


def leaves(tree):
    return [t for a in tree for t in leaves(a)] if isinstance(tree, (list, tuple)) else [tree]


class FunctionRow:
    def __init__(self, f, *args, library=False):
        """library: one of PyTorch's own kernels, which compilation would only replace."""
        self.f = f if library else compiled(f)
        self.args = tensors(args)

    def run(self, n):
        with torch.no_grad():
            for _ in range(n):
                self.f(*self.args)

    def check(self):
        with torch.no_grad():
            return inputs.summary([t.numpy() for t in leaves(self.f(*self.args))])


class TrainingRow:
    """Parameters are updated in place."""

    def __init__(self, loss, parameters, x, y):
        self.loss = compiled(loss)
        self.initial = parameters
        self.parameters = self.fresh()
        self.x, self.y = tensors(x), tensors(y)

    def fresh(self):
        return {k: t.requires_grad_() for k, t in tensors(self.initial).items()}

    def step(self, parameters, rate):
        values = list(parameters.values())
        value = self.loss(parameters, self.x, self.y)
        slopes = torch.autograd.grad(value, values)
        with torch.no_grad():
            torch._foreach_sub_(values, torch._foreach_mul(slopes, rate))
        return value

    def run(self, n):
        for _ in range(n):
            self.step(self.parameters, 2.0**-10)

    def check(self):
        p = self.fresh()
        return [float(self.step(p, 0.125).detach()) for _ in range(5)]


ACTIVATIONS = {
    "relu": F.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "silu": F.silu,
    "softsign": F.softsign,
    "none": lambda x: x,
}


def mlp(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, x):
        x = act(torch.addmm(p["b0"], x, p["w0"]))
        x = act(torch.addmm(p["b1"], x, p["w1"]))
        return torch.addmm(p["b2"], x, p["w2"])

    return forward, F.cross_entropy


def cnn(spec):
    act = ACTIVATIONS[spec["activation"]]

    def forward(p, x):
        for k, c in (("k0", "c0"), ("k1", "c1")):
            x = F.max_pool2d(act(F.conv2d(x, p[k], p[c], padding=2)), 2)
        return torch.addmm(p["b"], x.flatten(1), p["w"])

    return forward, F.cross_entropy


def channels_first(spec, parameters, x):
    """NCHW, and the rows of the dense weight in that order."""
    p = dict(parameters)
    for k in ("k0", "k1"):
        p[k] = np.ascontiguousarray(p[k].transpose(3, 2, 0, 1))
    left, channels = spec["side"] // 2 // 2, 2 * spec["channels"]
    w = p["w"].reshape(left, left, channels, -1).transpose(2, 0, 1, 3)
    p["w"] = np.ascontiguousarray(w.reshape(left * left * channels, -1))
    return p, np.ascontiguousarray(x.transpose(0, 3, 1, 2))


def lstm(spec):
    act = ACTIVATIONS[spec["activation"]]
    shape = (1, spec["batch"], spec["hidden"])

    def library(p, xs):
        zero = torch.zeros(shape)
        weights = [p["input"], p["recurrent"], p["bias"], torch.zeros_like(p["bias"])]
        _, h, _ = torch._VF.lstm(xs, (zero, zero), weights, True, 1, 0.0, True, False, False)
        return h[0]

    def cells(p, xs):
        gates = xs @ p["input"].T + p["bias"]
        h = c = torch.zeros(shape[1:])
        for t in range(spec["length"]):
            i, f, g, o = torch.addmm(gates[t], h, p["recurrent"].T).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * act(g)
            h = torch.sigmoid(o) * act(c)
        return h

    return (library if spec["activation"] == "tanh" else cells), F.mse_loss


def gpt(spec):
    act = ACTIVATIONS[spec["activation"]]
    batch, length, width, heads = (spec[k] for k in ("batch", "length", "width", "heads"))

    def attend(p, x):
        q, k, v = (
            a.view(batch, length, heads, -1).transpose(1, 2) for a in (x @ p["qkv"]).chunk(3, -1)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(batch, length, width) @ p["output"]

    def forward(p, x):
        x = x + attend(p, F.layer_norm(x, (width,), p["scale0"], p["shift0"]))
        up = F.layer_norm(x, (width,), p["scale1"], p["shift1"]) @ p["up"] + p["up_bias"]
        return x + act(up) @ p["down"] + p["down_bias"]

    return forward, F.mse_loss


MODELS = {"mlp": mlp, "cnn": cnn, "lstm": lstm, "gpt": gpt}


def chain(x, y):
    c = torch.exp(-(x * x))
    d = torch.maximum(torch.tanh(x * y + 0.5) * c - y, 0.1 * x)
    return d * d + c


def chain2(x, y):
    c = torch.log1p(x * x)
    d = torch.minimum(torch.sin(x * y + 0.5) * c - y, 0.2 * x)
    return d / (c + 2.0) + c


# Whether each is a kernel of PyTorch's own.
OPERATIONS = {
    "chain": (chain, False),
    "chain2": (chain2, False),
    "softmax": (lambda x: torch.softmax(x, -1), True),
    "log_softmax": (lambda x: torch.log_softmax(x, -1), True),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), True),
    "rms_norm": (lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5), False),
    "sum": (torch.sum, True),
    "sum_of_squares": (lambda x: torch.sum(x * x), False),
    "row_sum": (lambda x: x.sum(1), True),
    "row_max": (lambda x: x.amax(1), True),
    "column_sum": (lambda x: x.sum(0), True),
    "column_mean_square": (lambda x: (x * x).mean(0), False),
    "transpose": (lambda x: x.t().contiguous(), True),
    "transpose3": (lambda x: x.permute(2, 0, 1).contiguous(), True),
    "gather": (lambda x, i: torch.take(x, i), True),
    "gather_rows": (lambda x, i: torch.index_select(x, 0, i), True),
}


class ScalarRow:
    def __init__(self, spec):
        def f(a, b, c):
            if spec["activation"] == "tanh":
                return torch.tanh(a * b) * torch.cos(c) + torch.sqrt(1 + a * a) / (1 + b * b)
            return torch.sin(a * b) + a * torch.exp(-(c * c)) + torch.log1p(b * b) / (1 + c * c)

        self.f = compiled(f)
        self.points = [
            [torch.tensor(v, requires_grad=True) for v in p] for p in inputs.scalar(spec)
        ]
        self.next = 0

    def slope(self, point):
        return torch.autograd.grad(self.f(*point), point)

    def run(self, n):
        for i in range(self.next, self.next + n):
            self.slope(self.points[i % 64])
        self.next += n

    def check(self):
        return [float(s) for p in self.points for s in self.slope(p)]


def hvp_row(spec):
    act = ACTIVATIONS[spec["activation"]]
    jvp, grad = torch.func.jvp, torch.func.grad
    if spec["function"] == "rosenbrock":

        def valley(x):
            head = x[:-1]
            a, b = 1.0 - act(head), x[1:] - head * head
            return torch.sum(a * a + 100.0 * b * b)

        return FunctionRow(lambda x, v: jvp(grad(valley), (x,), (v,))[1], *inputs.hvp(spec))

    def product(w, v, x, y):
        slope = grad(lambda w0, w1: F.mse_loss(act(x @ w0) @ w1, y), (0, 1))
        return jvp(slope, tuple(w), tuple(v))[1]

    return FunctionRow(product, *inputs.hvp(spec))


class GaussianProcessRow:
    def __init__(self, spec):
        n = spec["size"]

        def loss(length, noise, x, y):
            distance = (x[:, None] - x) / torch.exp(length)
            far = math.sqrt(3.0) * torch.abs(distance)
            matern = spec["kernel"] == "matern"
            k = (1.0 + far) * torch.exp(-far) if matern else torch.exp(-0.5 * distance * distance)
            l = torch.linalg.cholesky(k + torch.exp(2.0 * noise) * torch.eye(n))
            white = torch.linalg.solve_triangular(l, y[:, None], upper=False)[:, 0]
            return 0.5 * white @ white + l.diagonal().log().sum() + 0.5 * n * math.log(2.0 * math.pi)

        self.loss = compiled(loss)
        length, noise, self.x, self.y = tensors(inputs.gp(spec))
        self.kernel = [length.requires_grad_(), noise.requires_grad_()]

    def call(self):
        value = self.loss(*self.kernel, self.x, self.y)
        return [value, *torch.autograd.grad(value, self.kernel)]

    def run(self, n):
        for _ in range(n):
            self.call()

    def check(self):
        return inputs.summary([t.detach().numpy() for t in self.call()])


def make_row(spec):
    kind = spec["kind"]
    if kind in MODELS:
        forward, loss = MODELS[kind](spec)
        parameters, x, y = inputs.MODELS[kind](spec)
        if kind == "cnn":
            parameters, x = channels_first(spec, parameters, x)
        if kind == "lstm":  # PyTorch has its weights as [outputs, inputs]
            for name in ("input", "recurrent"):
                parameters[name] = np.ascontiguousarray(parameters[name].T)
        if spec["mode"] == "forward":
            return FunctionRow(forward, parameters, x)
        return TrainingRow(lambda p, x, y: loss(forward(p, x), y), parameters, x, y)
    if kind == "array":
        f, library = OPERATIONS[spec["operation"]]
        return FunctionRow(f, *inputs.array(spec), library=library)
    return {"scalar": ScalarRow, "hvp": hvp_row, "gp": GaussianProcessRow}[kind](spec)
