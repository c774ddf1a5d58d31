"""Sorting and selecting as C++ does it, for the one thing that differs from NumPy: where ties end up.

Everything here works on *ranks*: plain integers that order the elements, NaN above all; ties have one rank.
`order` is the list of positions that is rearranged; positions of equal rank end where libstdc++'s algorithms
put them.
"""

from collections.abc import Callable

import numpy as np

INSERTION = 16  # introsort leaves pieces of up to this size to one insertion sort, which is stable


def ranks_of(row: np.ndarray, descending: bool = False) -> np.ndarray:
    """The rank of each element of a row."""
    ranks = np.unique(row, return_inverse=True, equal_nan=True)[1].reshape(-1)
    return -ranks if descending else ranks


def has_ties(array: np.ndarray, axis: int) -> bool:
    """Whether some elements along an axis are equal, NaN counted as equal to NaN."""
    ordered = np.moveaxis(np.sort(array, axis=axis), axis, -1)
    first, second = ordered[..., :-1], ordered[..., 1:]
    return bool((np.equal(first, second) | np.not_equal(second, second) & np.not_equal(first, first)).any())


def along(array: np.ndarray, axis: int, function: Callable, count: int) -> np.ndarray:
    """The positions that `function` gives for each row along an axis, `count` of them."""
    rows = np.moveaxis(array, axis, -1)
    flat = rows.reshape(-1, rows.shape[-1])
    found = np.empty((len(flat), count), np.int64)
    for i, row in enumerate(flat):
        found[i] = function(row)
    return np.moveaxis(found.reshape(*rows.shape[:-1], count), -1, axis)


# Introsort and introselect ----------------------------------------------------------------------------------


def sorted_order(ranks: list[int], order: list[int]) -> list[int]:
    """`std::sort`."""
    pending = [(0, len(order), 2 * (len(order).bit_length() - 1))]
    while pending:
        first, last, depth = pending.pop()
        while last - first > INSERTION:
            if not depth:
                order[first:last] = partly_sorted(ranks, order[first:last], last - first)
                break
            depth -= 1
            cut = partition(ranks, order, first, last)
            pending.append((cut, last, depth))
            last = cut
    return sorted(order, key=ranks.__getitem__)


def selected_order(ranks: list[int], order: list[int], nth: int) -> list[int]:
    """`std::nth_element`."""
    first, last = 0, len(order)
    depth = 2 * (max(last, 1).bit_length() - 1)
    while last - first > 3:
        if not depth:
            order[first:last] = heap_selected(ranks, order[first:last], nth + 1 - first)
            order[first], order[nth] = order[nth], order[first]
            return order
        depth -= 1
        cut = partition(ranks, order, first, last)
        if cut <= nth:
            first = cut
        else:
            last = cut
    order[first:last] = sorted(order[first:last], key=ranks.__getitem__)
    return order


def partition(ranks: list[int], order: list[int], first: int, last: int) -> int:
    """Part a range at the median of three; where the upper part begins."""
    median_to_first(ranks, order, first, first + (last - first) // 2, last - 1)
    pivot = ranks[order[first]]
    first += 1
    while True:
        while ranks[order[first]] < pivot:
            first += 1
        last -= 1
        while pivot < ranks[order[last]]:
            last -= 1
        if first >= last:
            return first
        order[first], order[last] = order[last], order[first]
        first += 1


def median_to_first(ranks: list[int], order: list[int], first: int, middle: int, last: int) -> None:
    """Swap the median of the second, the middle and the last element to the front."""
    a, b, c = (ranks[order[i]] for i in (first + 1, middle, last))
    if a < b:
        chosen = middle if b < c else last if a < c else first + 1
    else:
        chosen = first + 1 if a < c else last if b < c else middle
    order[first], order[chosen] = order[chosen], order[first]


# Heaps ------------------------------------------------------------------------------------------------------


def partly_sorted(ranks: list[int], order: list[int], count: int) -> list[int]:
    """`std::partial_sort`: the first `count` in order."""
    order = heap_selected(ranks, order, count)
    for last in range(count - 1, 0, -1):
        value, order[last] = order[last], order[0]
        sift(ranks, order, 0, last, value)
    return order


def heap_selected(ranks: list[int], order: list[int], count: int) -> list[int]:
    """The smallest `count` as a heap in front."""
    for parent in range((count - 2) // 2, -1, -1):
        sift(ranks, order, parent, count, order[parent])
    for i in range(count, len(order)):
        if ranks[order[i]] < ranks[order[0]]:
            value, order[i] = order[i], order[0]
            sift(ranks, order, 0, count, value)
    return order


def sift(ranks: list[int], order: list[int], hole: int, length: int, value: int) -> None:
    """Move a hole down to the bottom of a heap, and `value` up from there."""
    top = child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if ranks[order[child]] < ranks[order[child - 1]]:
            child -= 1
        order[hole] = order[child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * (child + 1)
        order[hole] = order[child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and ranks[order[parent]] < ranks[value]:
        order[hole] = order[parent]
        hole, parent = parent, (parent - 1) // 2
    order[hole] = value


# PyTorch's own ----------------------------------------------------------------------------------------------


def quickselected(ranks: list[int], order: list[int], nth: int) -> list[int]:
    """Quickselect with the median of three as pivot, as `kthvalue` does it."""

    def greater(i: int, j: int) -> bool:
        return ranks[order[i]] > ranks[order[j]]

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    left, right = 0, len(order) - 1
    while right > left:
        if right == left + 1:
            if greater(left, right):
                swap(left, right)
            break
        swap(left + (right - left) // 2, left + 1)
        for i, j in ((left + 1, right), (left, right), (left + 1, left)):
            if greater(i, j):
                swap(i, j)
        up, down = left + 1, right
        pivot = ranks[order[left]]
        while True:
            up += 1
            while pivot > ranks[order[up]]:
                up += 1
            down -= 1
            while ranks[order[down]] > pivot:
                down -= 1
            if down < up:
                break
            swap(up, down)
        swap(left, down)
        if down <= nth:
            left = up
        if down >= nth:
            right = down - 1
    return order
