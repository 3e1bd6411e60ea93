"""tests/benchmarks/peers/rows.py -- the rows of the benchmark

A row is a name and what workers are told to prepare. Each objective comes twice: as it is, and
perturbed (another activation or operation, other and odd sizes), to show that nothing knows the
benchmark: both have to be won.
"""


class Row:
    def __init__(self, name, perturbed=False, **spec):
        self.name = name + ("′" if perturbed else "")
        self.perturbed = perturbed
        self.spec = spec

    def command(self):
        return " ".join(f"{name}={value}" for name, value in self.spec.items())


def _pair(name, spec, **changes):
    return [Row(name, **spec), Row(name, True, **{**spec, **changes})]


def _perceptrons():
    for batch in (1, 32, 256):
        for width in (32, 256, 1024):
            spec = dict(kind="mlp", mode="train", batch=batch, width=width, activation="relu")
            odd = dict(activation="tanh", batch=batch + batch // 8, width=width + width // 8 + 1)
            yield from _pair(f"mlp step, batch {batch}, width {width}", spec, **odd)


def _convolutions():
    for mode in ("forward", "train"):
        spec = dict(kind="cnn", mode=mode, batch=32, side=28, channels=8, activation="relu")
        yield from _pair(f"cnn 28×28, {mode}", spec, batch=27, side=32, channels=9, activation="tanh")


def _sequences():
    for mode in ("forward", "train"):
        for length, hidden in ((32, 64), (64, 256)):
            spec = dict(kind="lstm", mode=mode, length=length, batch=16, hidden=hidden, activation="tanh")
            odd = dict(length=length + 3, batch=13, hidden=hidden + 9, activation="softsign")
            yield from _pair(f"lstm {length}×{hidden}, {mode}", spec, **odd)
    for mode in ("forward", "train"):
        for width in (128, 384):
            for length in (64, 256):
                spec = dict(kind="gpt", mode=mode, batch=1, length=length, width=width, heads=width // 64, activation="gelu")
                odd = dict(batch=2, length=length - 7, width=width + 40, heads=width // 64 * 2, activation="silu")
                odd["width"] = odd["heads"] * (width // 128 * 9 + 8)
                yield from _pair(f"gpt d {width}, T {length}, {mode}", spec, **odd)


# Each operation, and the one that stands beside it as the perturbed.
OPERATIONS = {
    "chain": "chain2",
    "softmax": "log_softmax",
    "layer_norm": "rms_norm",
    "sum": "sum_of_squares",
    "row_sum": "row_max",
    "column_sum": "column_mean_square",
    "transpose": "transpose3",
    "gather": "gather_rows",
}


def _arrays():
    for operation, other in OPERATIONS.items():
        for power, rows, columns in ((3, 10, 100), (5, 250, 400), (7, 4000, 2500)):
            spec = dict(kind="array", operation=operation, rows=rows, columns=columns)
            odd = dict(operation=other, rows=rows + rows // 10 + 1, columns=columns - columns // 10 + 3)
            if other == "transpose3":
                odd.update(depth=3, columns=odd["columns"] // 3 * 3)
            if other == "gather_rows":
                odd.update(rows=odd["rows"] * 50, columns=max(odd["columns"] // 50, 1))
            yield from _pair(f"{operation.replace('_', ' ')}, 10^{power}", spec, **odd)


def _derivatives():
    yield from _pair("gradient of 3 numbers", dict(kind="scalar", activation="none"), activation="tanh")
    yield from _pair("Hessian · v, Rosenbrock, n 1000",
                     dict(kind="hvp", function="rosenbrock", size=1000, activation="none"),
                     size=1237, activation="tanh")
    yield from _pair("Hessian · v, perceptron of 64", dict(kind="hvp", function="mlp", size=64, activation="tanh"),
                     size=77, activation="sigmoid")
    for n in (64, 256):
        yield from _pair(f"Gaussian process, n {n}", dict(kind="gp", size=n, kernel="squares"),
                         size=n + 13, kernel="matern")


def rows():
    """All rows, in the order of the table."""
    return [*_perceptrons(), *_convolutions(), *_sequences(), *_arrays(), *_derivatives()]
