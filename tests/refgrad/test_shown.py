"""No op is a function of the package, or a method of `Tensor`, where it is none in PyTorch."""

import torch

import refgrad
from refgrad.op import BY_NAME

TWINS = {f"{name}_" for name, entries in BY_NAME.items() if any(entry.inplace for entry in entries)}
NAMES = sorted(set(BY_NAME) | TWINS)


def test_no_method_that_pytorch_lacks():
    tensor = refgrad.ones(2, dtype=refgrad.complex64)
    assert [name for name in NAMES if hasattr(tensor, name) and not hasattr(torch.Tensor, name)] == []


def test_no_function_that_pytorch_lacks():
    assert [name for name in NAMES if hasattr(refgrad, name) and not hasattr(torch, name)] == []
