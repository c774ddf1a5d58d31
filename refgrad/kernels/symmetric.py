"""Eigenvectors of small symmetric matrices with the signs that PyTorch's library gives them.

The method is LAPACK's: reflections make the matrix tridiagonal, then shifted rotations chase away what is
beside the diagonal (G. Golub and C. Van Loan, Matrix Computations, 8.3). NumPy's library does the same, but
since LAPACK 3.10 its rotations keep another sign, and so do the vectors.

*Edge*: the element beside the diagonal between two neighbours. *Near* and *far* are seen from the end of a
block where its eigenvalues come out first.
"""

import math
from math import hypot
from typing import Any

import numpy as np

LARGEST = 25  # larger matrices are divided first, which is not done here
SWEEPS = 30  # for each row, before it is given up


def decomposed(matrices: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues, in rising order, and the eigenvectors of matrices of which one triangle counts."""
    values = np.empty(matrices.shape[:-1], matrices.real.dtype)
    vectors = np.empty(matrices.shape, matrices.dtype)
    for place in np.ndindex(matrices.shape[:-2]):
        diagonal, edges, transform = tridiagonal(matrices[place], lower)
        block = Tridiagonal(diagonal, edges)
        block.diagonalize()
        order = rising(block.diagonal)
        values[place] = np.array(block.diagonal)[order]
        vectors[place] = (transform @ block.vectors)[:, order]
    return values, vectors


def rising(numbers: list) -> list[int]:
    """The places of the numbers in rising order; which of equal ones comes first is as LAPACK has it."""
    order = list(range(len(numbers)))
    for at in range(len(order) - 1):
        least = min(range(at, len(order)), key=lambda i: numbers[order[i]])
        order[at], order[least] = order[least], order[at]
    return order


# Reflections ------------------------------------------------------------------------------------------------


def tridiagonal(matrix: np.ndarray, lower: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The diagonal and the edges of a tridiagonal matrix, and the unitary one that leads to it."""
    size, kind = len(matrix), matrix.dtype
    half = np.tril(matrix, -1) if lower else np.triu(matrix, 1).T.conj()
    work = half + half.T.conj() + np.diag(matrix.diagonal().real)
    transform = np.eye(size, dtype=kind)
    edges = np.zeros(max(size - 1, 0), matrix.real.dtype)
    for step in range(size - 1):
        if lower:
            place, head, rest = step, step + 1, slice(step + 2, None)
            column = work[:, step]
        else:
            place, head, rest = size - 2 - step, size - 2 - step, slice(0, size - 2 - step)
            column = work[:, place + 1]
        vector = np.zeros(size, kind)
        edges[place], scale, vector[rest] = reflector(column[head], column[rest])
        vector[head] = 1
        scale = kind.type(scale)
        # LAPACK reflects from both sides by one sum of two products, and its bits decide ties.
        moved = scale * (work @ vector)
        moved -= scale * kind.type(0.5) * np.vdot(moved, vector) * vector
        work -= np.outer(vector, moved.conj()) + np.outer(moved, vector.conj())
        transform = transform - scale * np.outer(transform @ vector, vector.conj())
    return work.diagonal().real, edges, transform


def reflector(head: Any, rest: np.ndarray) -> tuple[Any, Any, np.ndarray]:
    """What is left of a vector that is reflected onto its first axis, and the scale and rest of the reflector
    that does it."""
    length = float(np.linalg.norm(rest))
    if not length and not head.imag:
        return head.real, 0.0, rest
    left = head.real.dtype.type(-signed(hypot(head.real, head.imag, length), head.real))
    return left, (left - head) / left, rest / (head - left)


# Rotations --------------------------------------------------------------------------------------------------


def signed(size: float, number: Any) -> float:
    """The size with the sign of a number; zero counts as positive, minus zero too."""
    return -size if number < 0 else size


def rotation(first: Any, second: Any) -> tuple[Any, Any, Any]:
    """Cosine, sine and what is left when a pair is rotated onto its first axis.

    The cosine of a pair whose first number is the larger one is positive, which LAPACK gave up in 3.10.
    """
    kind = type(first)
    if not second:
        return kind(1), kind(0), first
    if not first:
        return kind(0), kind(1), second
    length = kind(hypot(first, second))
    if abs(first) > abs(second) and first < 0:
        length = -length
    return first / length, second / length, length


def pair(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any, Any]:
    """The eigenvalues of `[[a, b], [b, c]]`, the larger size first, and cosine and sine of its vector."""
    kind = type(a)
    total, difference = a + c, a - c
    large, small = (a, c) if abs(a) > abs(c) else (c, a)
    root = kind(hypot(difference, 2 * b))
    first = (total - root if total < 0 else total + root) / 2
    second = (large / first) * small - (b / first) * b if total else -first
    side = difference + root if difference >= 0 else difference - root
    if abs(side) > abs(2 * b):
        tangent = -2 * b / side
        sine = kind(1 / math.sqrt(1 + tangent * tangent))
        cosine = tangent * sine
    elif not b:
        cosine, sine = kind(1), kind(0)
    else:
        tangent = -side / (2 * b)
        cosine = kind(1 / math.sqrt(1 + tangent * tangent))
        sine = tangent * cosine
    if (total >= 0) == (difference >= 0):
        cosine, sine = -sine, cosine
    return first, second, cosine, sine


class Tridiagonal:
    """A symmetric tridiagonal matrix on its way to a diagonal one, and the product of its rotations.

    `diagonal` and `edges` are lists of NumPy scalars: all arithmetic rounds to their type.
    """

    __slots__ = ("budget", "diagonal", "edges", "precision", "smallest", "vectors")

    def __init__(self, diagonal: np.ndarray, edges: np.ndarray):
        kind = diagonal.dtype
        self.diagonal, self.edges = list(diagonal), list(edges)
        self.vectors = np.eye(len(diagonal), dtype=kind)
        self.precision = np.finfo(kind).eps / 2
        self.smallest = np.finfo(kind).tiny
        self.budget = SWEEPS * len(diagonal)

    def diagonalize(self) -> None:
        """Split the matrix into blocks at edges that are next to nothing, and shrink each to nothing."""
        start, zero = 0, self.diagonal[0].dtype.type(0) if self.diagonal else 0
        while start < len(self.diagonal):
            near, far = start, self.block_end(start)
            start = far + 1
            if abs(self.diagonal[far]) < abs(self.diagonal[near]):
                near, far = far, near
            self.shrink(near, far)
            if start < len(self.diagonal):
                self.edges[start - 1] = zero

    def block_end(self, start: int) -> int:
        """Where the block ends that begins here."""
        for at in range(start, len(self.edges)):
            sizes = [math.sqrt(abs(number)) for number in self.diagonal[at : at + 2]]
            if abs(self.edges[at]) <= sizes[0] * sizes[1] * self.precision:
                return at
        return len(self.edges)

    def shrink(self, near: int, far: int) -> None:
        """Split eigenvalues off the near end of a block until none is left."""
        step = 1 if far > near else -1
        while (far - near) * step >= 0 and self.budget:
            self.budget -= 1
            stop = near
            while stop != far and not self.vanishes(stop, stop + step):
                stop += step
            if stop == near:
                near += step
            elif stop == near + step:
                at = min(near, stop)
                diagonal = self.diagonal
                diagonal[at], diagonal[at + 1], cosine, sine = pair(
                    diagonal[at], self.edges[at], diagonal[at + 1]
                )
                self.rotate(at, cosine, sine)
                near += 2 * step
            else:
                self.sweep(near, stop, step)

    def vanishes(self, first: int, second: int) -> bool:
        """Whether the edge between two neighbours is next to nothing."""
        product = self.precision * self.precision * abs(self.diagonal[first]) * abs(self.diagonal[second])
        return self.edges[min(first, second)] ** 2 <= product + self.smallest

    def sweep(self, near: int, stop: int, step: int) -> None:
        """One shifted sweep of rotations from the far end of a block to the near one."""
        diagonal, edges = self.diagonal, self.edges
        kind = type(diagonal[near])
        edge = edges[min(near, near + step)]
        ahead = (diagonal[near + step] - diagonal[near]) / (2 * edge)
        ahead = diagonal[stop] - diagonal[near] + edge / (ahead + kind(signed(hypot(ahead, 1), ahead)))
        sine, cosine, shift = kind(1), kind(1), kind(0)
        for at in range(stop - step, near - step, -step):
            far = at + step
            edge = edges[min(at, far)]
            beside, kept = sine * edge, cosine * edge
            cosine, sine, left = rotation(ahead, beside)
            if far != stop:
                edges[min(far, far + step)] = left
            ahead = diagonal[far] - shift
            left = (diagonal[at] - ahead) * sine + 2 * cosine * kept
            shift = sine * left
            diagonal[far] = ahead + shift
            ahead = cosine * left - kept
            self.rotate(min(at, far), cosine, -sine * step)
        diagonal[near] -= shift
        edges[min(near, near + step)] = ahead

    def rotate(self, at: int, cosine: Any, sine: Any) -> None:
        """Rotate two neighbouring vectors."""
        first, second = self.vectors[:, at].copy(), self.vectors[:, at + 1].copy()
        self.vectors[:, at + 1] = cosine * second - sine * first
        self.vectors[:, at] = sine * second + cosine * first
