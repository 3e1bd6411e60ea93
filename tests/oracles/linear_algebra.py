#!/usr/bin/env python3
# tests/oracles/linear_algebra.py -- prints the table of tests/unit/linear_algebra_oracle_test.cc, ready to paste
#
# Values, gradients and Hessian-vector products by JAX in f64. Recorded with Python 3.11.7, NumPy 2.4.6, SciPy 1.17.1
# and JAX 0.10.2. Signs of vectors differ between libraries, so that squares of them are compared.
import jax
import jax.numpy as np
import jax.scipy.linalg as linalg

jax.config.update("jax_enable_x64", True)

square = np.array([[3.0, 0.5, -0.25], [1.0, 2.0, 0.75], [-0.5, 0.25, 1.25]])
tall = np.array([[1.0, 0.5], [-0.75, 2.0], [0.25, 1.5], [2.0, -1.0]])
right = np.array([1.0, -2.0, 0.5, 1.5])


def weighted(y):
    """Σ y·cos(1, 2, …): sees every element."""
    return np.sum(y * np.cos(np.arange(y.size) + 1.0).reshape(y.shape))


def positive_qr(a):
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diagonal(r))
    return q * sign, r * sign[:, None]


functions = {
    "cholesky": (lambda a: np.linalg.cholesky(a), square),
    "triangular_solve": (lambda a: linalg.solve_triangular(a, right[:3], lower=True), square),
    "lu": (lambda a: linalg.lu_factor(a)[0], square),
    "q": (lambda a: positive_qr(a)[0], tall),
    "r": (lambda a: positive_qr(a)[1], tall),
    "eigenvalues": (lambda a: np.linalg.eigvalsh(a), square),
    "squares of eigenvectors": (lambda a: np.linalg.eigh(a)[1] ** 2, square),
    "singular values": (lambda a: np.linalg.svd(a, compute_uv=False), tall),
    "squares of u": (lambda a: np.linalg.svd(a, full_matrices=False)[0] ** 2, square),
    "squares of vt": (lambda a: np.linalg.svd(a, full_matrices=False)[2] ** 2, tall),
    "solve": (lambda a: np.linalg.solve(a, right[:3]), square),
    "inverse": (lambda a: np.linalg.inv(a), square),
    "determinant": (lambda a: np.linalg.det(a), square),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], square),
    "pinv": (lambda a: np.linalg.pinv(a), tall),
    "lstsq": (lambda a: np.linalg.pinv(a) @ right, tall),
    "expm": (lambda a: linalg.expm(a), square),
    "expm of 8a": (lambda a: linalg.expm(8 * a), square),
    "power -3": (lambda a: np.linalg.matrix_power(a, -3), square),
    "nuclear norm": (lambda a: np.linalg.norm(a, "nuc"), tall),
    "spectral norm": (lambda a: np.linalg.norm(a, 2), tall),
    "frobenius norm": (lambda a: np.linalg.norm(a), tall),
    "one norm": (lambda a: np.linalg.norm(a, 1), tall),
    "infinity norm": (lambda a: np.linalg.norm(a, np.inf), tall),
}


def show(values):
    return "{" + ", ".join(repr(float(v)) for v in np.ravel(values)) + "}"


for name, (f, a) in functions.items():
    scalar = lambda x: weighted(f(x))
    direction = np.sin(np.arange(a.size) + 1.0).reshape(a.shape)
    gradient = jax.grad(scalar)
    product = jax.grad(lambda x: np.sum(gradient(x) * direction))(a)
    print(f'{{"{name}", {show(scalar(a))},\n{show(gradient(a))},\n{show(product)}}},')
