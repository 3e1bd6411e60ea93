#!/usr/bin/env python3
"""tests/benchmarks/peers/smoke_test.py WORKER -- Hom's worker answers as the driver expects, and
what it computes equals what plain Python does

Rows are tiny. Python's standard library is enough: neither NumPy nor a peer is needed.
"""
import math
import subprocess
import sys
import unittest

MASK = 2**64 - 1


def uniform(stream, count, scale=1.0):
    """As inputs.py has it, one number after the other."""
    def number(i):
        z = ((stream << 32) + i) * 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return (z ^ z >> 31) >> 40
    return [(number(i) * 2.0**-23 - 1) * scale for i in range(count)]


def integers(stream, count, below):
    return [round((u + 1) * 2**23) % below for u in uniform(stream, count)]


def matrix(values, columns):
    return [values[i:i + columns] for i in range(0, len(values), columns)]


def product(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def turned(a):
    return [list(column) for column in zip(*a)]


def summary(x):
    n = len(x)
    weighted = sum(v * (i % 7 + 1) for i, v in enumerate(x)) / n
    return [weighted, sum(map(abs, x)) / n, x[1 % n], x[-1]]


def perceptron_losses(batch, width, act, slope, steps=5, rate=0.125):
    """Losses of gradient descent on cross-entropy, with derivatives by hand."""
    sizes = [(width, width), (width, width), (width, 10)]
    w = [matrix(uniform(3 + i, a * b, 1 / math.sqrt(a)), b) for i, (a, b) in enumerate(sizes)]
    bias = [[0.0] * b for _, b in sizes]
    x, labels = matrix(uniform(1, batch * width), width), integers(2, batch, 10)
    losses = []
    for _ in range(steps):
        inputs, z = [x], []
        for i in range(3):
            z.append([[v + c for v, c in zip(row, bias[i])] for row in product(inputs[-1], w[i])])
            inputs.append([[act(v) for v in row] for row in z[-1]])
        logits = z[2]
        sums = [math.log(sum(map(math.exp, row))) for row in logits]
        losses.append(sum(s - row[k] for s, row, k in zip(sums, logits, labels)) / batch)
        d = [[(math.exp(v - s) - (j == k)) / batch for j, v in enumerate(row)] for s, row, k in zip(sums, logits, labels)]
        for i in (2, 1, 0):
            dw, db = product(turned(inputs[i]), d), [sum(column) for column in zip(*d)]
            if i > 0:
                back = product(d, turned(w[i]))
                d = [[g * slope(v) for g, v in zip(r, s)] for r, s in zip(back, z[i - 1])]
            w[i] = [[v - rate * g for v, g in zip(r, s)] for r, s in zip(w[i], dw)]
            bias[i] = [v - rate * g for v, g in zip(bias[i], db)]
    return losses


def likelihood(n, length, noise):
    """−log p(y) of a Gaussian process, by Cholesky's algorithm."""
    x, y = uniform(1, n, 3), uniform(2, n)
    l = [[0.0] * n for _ in range(n)]
    white = []
    for i in range(n):
        for j in range(i + 1):
            k = math.exp(-0.5 * ((x[i] - x[j]) / math.exp(length))**2) + (i == j) * math.exp(2 * noise)
            rest = k - sum(l[i][m] * l[j][m] for m in range(j))
            l[i][j] = math.sqrt(rest) if i == j else rest / l[j][j]
        white.append((y[i] - sum(l[i][m] * white[m] for m in range(i))) / l[i][i])
    return sum(0.5 * v * v + math.log(l[i][i]) for i, v in enumerate(white)) + n / 2 * math.log(2 * math.pi)


class WorkerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.process = subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @classmethod
    def tearDownClass(cls):
        cls.process.communicate("quit\n", timeout=60)
        assert cls.process.returncode == 0

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def values(self, row):
        self.assertEqual(self.ask("prepare " + row), ["ready"])
        kind, *values = self.ask("check")
        self.assertEqual(kind, "values", values)
        return [float(v) for v in values]

    def assertClose(self, got, wanted, error=2e-5):
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertLess(abs(a - b), error * (1 + abs(b)), f"{got} is not {wanted}")

    def test_answers_every_command(self):
        self.assertEqual(self.ask("prepare kind=mlp mode=train batch=2 width=3 activation=relu"), ["ready"])
        for command in ("first", "run 10"):
            kind, seconds = self.ask(command)
            self.assertEqual(kind, "seconds")
            self.assertGreater(float(seconds), 0)
        kind, count = self.ask("memory")
        self.assertEqual(kind, "bytes")
        self.assertGreater(int(count), 0)

    def test_says_what_is_wrong_and_goes_on(self):
        for command in ("prepare kind=none", "prepare mode=train", "prepare kind", "stop",
                        "prepare kind=array rows=2 columns=2 operation=none"):
            self.assertEqual(self.ask(command)[0], "error", command)
        self.assertEqual(self.ask("prepare kind=scalar activation=none"), ["ready"])

    def test_training_does_not_change_what_check_says(self):
        row = "kind=mlp mode=train batch=2 width=3 activation=tanh"
        fresh = self.values(row)
        self.ask("run 20")
        self.assertEqual([float(v) for v in self.ask("check")[1:]], fresh)

    def test_perceptrons_equal_derivatives_by_hand(self):
        relu = (lambda v: max(v, 0.0), lambda v: float(v > 0))
        tanh = (math.tanh, lambda v: 1 - math.tanh(v)**2)
        for name, batch, width, (act, slope) in (("relu", 3, 5, relu), ("tanh", 1, 7, tanh), ("relu", 1, 4, relu)):
            row = f"kind=mlp mode=train batch={batch} width={width} activation={name}"
            self.assertClose(self.values(row), perceptron_losses(batch, width, act, slope))

    def test_operations_over_arrays(self):
        x, rows = uniform(1, 24), matrix(uniform(1, 24), 6)
        y = uniform(2, 24)
        e = [math.exp(-a * a) for a in x]
        chain = [max(math.tanh(a * b + 0.5) * c - b, 0.1 * a)**2 + c for a, b, c in zip(x, y, e)]
        centred = [[v - sum(r) / 6 for v in r] for r in rows]
        wanted = {
            "chain": chain,
            "softmax": [math.exp(v) / sum(map(math.exp, r)) for r in rows for v in r],
            "layer_norm": [v / math.sqrt(sum(u * u for u in r) / 6 + 1e-5) for r in centred for v in r],
            "sum": [sum(x)],
            "row_max": [max(r) for r in rows],
            "column_sum": [sum(c) for c in zip(*rows)],
            "transpose": [v for c in zip(*rows) for v in c],
            "gather": [x[i] for i in integers(2, 24, 24)],
            "gather_rows": [v for i in integers(2, 4, 4) for v in rows[i]],
        }
        for operation, values in wanted.items():
            with self.subTest(operation):
                self.assertClose(self.values(f"kind=array rows=4 columns=6 operation={operation}"), summary(values))

    def test_gradients_of_numbers(self):
        wanted = []
        for a, b, c in matrix(uniform(1, 192), 3):
            e, q = math.exp(-c * c), 1 + c * c
            wanted += [b * math.cos(a * b) + e, a * math.cos(a * b) + 2 * b / (1 + b * b) / q,
                       -2 * c * a * e - 2 * c * math.log1p(b * b) / q**2]
        self.assertClose(self.values("kind=scalar activation=none"), wanted)

    def test_curvature_of_rosenbrocks_valley(self):
        n = 6
        x, v = uniform(1, n), uniform(2, n)
        wanted = [0.0] * n
        for i in range(n - 1):
            wanted[i] += (2 - 400 * (x[i + 1] - 3 * x[i]**2)) * v[i] - 400 * x[i] * v[i + 1]
            wanted[i + 1] += -400 * x[i] * v[i] + 200 * v[i + 1]
        self.assertClose(self.values("kind=hvp function=rosenbrock size=6 activation=none"), summary(wanted), 1e-4)

    def test_likelihood_of_a_gaussian_process(self):
        n, h = 9, 1e-5
        slope = lambda f: (f(h) - f(-h)) / (2 * h)
        wanted = [likelihood(n, -0.5, -1), slope(lambda d: likelihood(n, -0.5 + d, -1)),
                  slope(lambda d: likelihood(n, -0.5, -1 + d))]
        self.assertClose(self.values(f"kind=gp size={n} kernel=squares"), [s for v in wanted for s in summary([v])], 2e-4)


WORKER = sys.argv.pop(1)
unittest.main()
