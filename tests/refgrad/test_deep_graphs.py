"""Graphs of a million nodes: built, run and freed without recursion."""

import gc
import sys
import weakref

import pytest

import refgrad as torch

LENGTH = 1_000_000


def chain(leaf, length=LENGTH):
    value = leaf
    for _ in range(length):
        value = value + leaf
    return value


@pytest.mark.slow
def test_a_million_nodes_run_and_die():
    leaf = torch.ones((), requires_grad=True, dtype=torch.float64)
    root = chain(leaf)
    node = weakref.ref(root.grad_fn)
    root.backward()
    assert leaf.grad.item() == LENGTH + 1
    del root
    assert node() is None


def test_a_deep_graph_dies_unused():
    leaf = torch.ones((), requires_grad=True)
    root = chain(leaf, 200_000)
    first = weakref.ref(root.grad_fn)
    limit = sys.getrecursionlimit()
    del root
    gc.collect()
    assert first() is None and sys.getrecursionlimit() == limit


def test_grad_with_inputs_walks_a_deep_graph():
    leaf = torch.ones((), requires_grad=True)
    root = chain(leaf, 100_000)
    (gradient,) = torch.autograd.grad(root, leaf)
    assert gradient.item() == 100_001
