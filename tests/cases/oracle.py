#!/usr/bin/env python3
# tests/cases/oracle.py -- prints the numbers of tests/cases that have no short closed form, ready to paste into C++
#
# NumPy only. Recorded with Python 3.11.7 and NumPy 2.4.6. Gradients are written out by hand and compared with
# central differences before they are printed.
import numpy as np


def show(name, value):
    elements = ", ".join(repr(float(v)) for v in np.ravel(value))
    print(f"{name}:\n  {{{elements}}}")


def central_difference(f, x, h=1e-6):
    """∇f of a scalar function, by central differences."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        gradient[i] = (f(x + step) - f(x - step)) / (2 * h)
    return gradient


def checked(f, x, gradient):
    assert np.allclose(gradient, central_difference(f, x), rtol=1e-6, atol=1e-8), (gradient, central_difference(f, x))
    return gradient


def softmax(x):
    weight = np.exp(x - x.max(-1, keepdims=True))
    return weight / weight.sum(-1, keepdims=True)


def layer_norm(x, epsilon=1e-5):
    deviation = x - x.mean(-1, keepdims=True)
    return deviation / np.sqrt((deviation**2).mean(-1, keepdims=True) + epsilon)


def layer_norm_pullback(x, ct, epsilon=1e-5):
    scale = 1 / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    y = layer_norm(x, epsilon)
    return scale * (ct - ct.mean(-1, keepdims=True) - y * (ct * y).mean(-1, keepdims=True))


def papers():
    x = np.array([0.1, 0.2, 0.3])
    v = np.array([0.2, 0.3, 0.4])
    show("row 11 of the papers, H·v = (I + xxᵀ)·v·f", (v + x * (x @ v)) * np.exp(0.5 * (x @ x)))


def losses():
    logits = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])
    labels = np.array([2, 0])
    one_hot = np.eye(3)[labels]
    loss = lambda z: -np.mean(np.sum(one_hot * np.log(softmax(z)), -1))
    show("row 38, cross entropy", loss(logits))
    show("row 38, its gradient", checked(loss, logits, (softmax(logits) - one_hot) / 2))

    soft = np.array([0.2, 0.5, 0.3])
    x = np.array([0.3, -0.7, 1.1])
    f = lambda z: soft @ softmax(z)
    show("row 36, softmax", softmax(x))
    show("row 36, log_softmax", np.log(softmax(x)))
    show("row 36, gradient of w·softmax", checked(f, x, softmax(x) * (soft - soft @ softmax(x))))


def normalisation():
    x = np.array([[40000.0, 40001.0, 40002.0, 40003.0], [1.0, 2.0, -3.0, 0.5]])
    ct = np.array([[1.0, 2.0, 0.0, -1.0], [0.5, -1.0, 2.0, 3.0]])
    show("row 48, layer_norm", layer_norm(x))
    pullback = layer_norm_pullback(x, ct)
    checked(lambda z: ct[1] @ layer_norm(z), x[1], pullback[1])
    show("row 48, its pullback", pullback)


def attention(q, k, v, mask):
    scores = q @ k.T / np.sqrt(q.shape[-1])
    weight = np.zeros_like(scores)
    for row in range(len(q)):
        if mask[row].any():
            weight[row, mask[row]] = softmax(scores[row, mask[row]])
    return weight, weight @ v


def masked_attention():
    q = np.array([[1.0, 0.5], [-0.3, 2.0], [0.7, -1.1]])
    k = np.array([[0.2, -0.4], [1.5, 0.1], [-0.6, 0.8]])
    v = np.array([[1.0, 2.0], [-1.0, 0.5], [3.0, -2.0]])
    mask = np.array([[True, True, False], [False, False, False], [True, True, True]])
    ct = np.array([[1.0, -2.0], [5.0, 7.0], [0.5, 3.0]])
    weight, out = attention(q, k, v, mask)
    show("row 43, attention", out)
    dweight = ct @ v.T
    dscores = weight * (dweight - (weight * dweight).sum(-1, keepdims=True)) / np.sqrt(2)
    total = lambda **change: np.sum(ct * attention(**({"q": q, "k": k, "v": v} | change), mask=mask)[1])
    show("row 43, dq", checked(lambda z: total(q=z), q, dscores @ k))
    show("row 43, dk", checked(lambda z: total(k=z), k, dscores.T @ q))
    show("row 43, dv", checked(lambda z: total(v=z), v, weight.T @ ct))


papers()
losses()
normalisation()
masked_attention()
