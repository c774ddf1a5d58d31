"""Runs a program in PyTorch and in refgrad and compares all that a user can see of it.

`agree(program)` is the assertion for tests; `differences(program)` gives the list of texts, for scratch runs.
"""

import ast
import math
import re
import warnings
from typing import Any

import numpy as np
import torch

import refgrad

torch.set_num_threads(1)
TOLERANCES = {"float16": 1e-3, "float32": 1.3e-6, "float64": 1e-7, "complex64": 1.3e-6, "complex128": 1e-7}
TOLERANCES["bfloat16"] = 1.6e-2
ABSOLUTE = {"float16": 1e-5, "float32": 1e-5, "float64": 1e-7, "complex64": 1e-5, "complex128": 1e-7}
ABSOLUTE["bfloat16"] = 1e-5
TENSORS = (torch.Tensor, refgrad.Tensor)
DEPTH = 6  # how far the graph is followed


def agree(program: str) -> None:
    """Assert that both engines do the same, step by step.

    Raises:
        AssertionError: with the first differences.
    """
    found = differences(program)
    assert not found, "\n".join([*found[:8], "--- in", program])


def differences(program: str) -> list[str]:
    """What differs, as texts; empty when nothing does."""
    expected, actual = run(program, torch), run(program, refgrad)
    found: list[str] = []
    for step in dict.fromkeys([*expected, *actual]):
        compare(step, expected.get(step, "missing"), actual.get(step, "missing"), found)
    return found


def run(program: str, engine: Any) -> dict[str, Any]:
    """What each statement raised and warned, and at the end what each variable is."""
    namespace: dict[str, Any] = {"torch": engine, "np": np, "inf": math.inf, "nan": math.nan}
    record: dict[str, Any] = {}
    before = engine.is_warn_always_enabled()
    engine.set_warn_always(True)
    try:
        for number, statement in enumerate(ast.parse(program).body, 1):
            place = f"step {number} `{ast.unparse(statement)}`"
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                try:
                    exec(compile(ast.Module([statement], []), "<program>", "exec"), namespace)
                    outcome = "done"
                except Exception as error:
                    outcome = f"{type(error).__name__}: {error}"
            record[f"outcome of {place}"] = outcome
            texts = [
                f"{w.category.__name__}: {str(w.message).split('(Triggered')[0].rstrip()}" for w in warned
            ]
            record[f"warnings of {place}"] = texts
    finally:
        engine.set_warn_always(before)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(namespace):
            if not name.startswith("__") and name not in ("torch", "np", "inf", "nan"):
                record[name] = snapshot(namespace[name])
    return record


def snapshot(value: Any) -> Any:
    """A value as plain data."""
    if isinstance(value, TENSORS):
        return tensor_snapshot(value)
    if isinstance(value, (list, tuple)):
        return [snapshot(item) for item in value]
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    if callable(value):
        return "a function"
    return re.sub(" at 0x[0-9a-f]+", "", repr(value))


def attempt(read: Any) -> Any:
    """What a reading gives, or the error that it raises."""
    try:
        return read()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def tensor_snapshot(tensor: Any) -> dict:
    """Everything about a tensor."""
    grad = attempt(lambda: tensor.grad if tensor.is_leaf or tensor.retains_grad else None)
    return {
        "data": data_of(tensor),
        "stride": tuple(tensor.stride()),
        "storage_offset": tensor.storage_offset(),
        "requires_grad": attempt(lambda: tensor.requires_grad),
        "is_leaf": attempt(lambda: tensor.is_leaf),
        "output_nr": attempt(lambda: tensor.output_nr),
        "version": attempt(lambda: tensor._version),
        "is_view": tensor._is_view(),
        "graph": attempt(lambda: graph_of(tensor.grad_fn, DEPTH)),
        "grad": tensor_snapshot(grad) if isinstance(grad, TENSORS) else grad,
    }


class Data:
    """Elements with their type, compared within the type's tolerance."""

    def __init__(self, dtype: str, array: np.ndarray):
        self.dtype, self.array = dtype, array

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Data) or self.dtype != other.dtype or self.array.shape != other.array.shape:
            return False
        kind = self.dtype.removeprefix("torch.")
        if kind not in TOLERANCES:
            return bool((self.array == other.array).all())
        return np.allclose(self.array, other.array, TOLERANCES[kind], ABSOLUTE[kind], equal_nan=True)

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.array.shape)} {self.array.tolist()}"


def data_of(tensor: Any) -> Data:
    """A tensor's elements."""
    plain = tensor.detach()
    if isinstance(tensor, torch.Tensor):
        plain = plain.resolve_conj().resolve_neg()
    if str(tensor.dtype) == "torch.bfloat16":  # which NumPy does not have
        plain = plain.float()
    return Data(str(tensor.dtype), np.array(plain.numpy(force=True)))


def graph_of(node: Any, depth: int) -> Any:
    """A node with its saved values and what lies behind it."""
    if node is None:
        return None
    name = type(node).__name__
    if name == "AccumulateGrad" or depth == 0:
        return name
    saved = {}
    for attribute in sorted(dir(node)):
        if attribute.startswith("_saved_"):
            saved[attribute] = saved_snapshot(attempt(lambda at=attribute: getattr(node, at)))
    return [name, saved, [[graph_of(after, depth - 1), number] for after, number in node.next_functions]]


def saved_snapshot(value: Any) -> Any:
    """A saved value; of a tensor, its elements."""
    if isinstance(value, TENSORS):
        return data_of(value)
    if isinstance(value, (list, tuple)):
        return [saved_snapshot(item) for item in value]
    return value if isinstance(value, (bool, int, float, complex, str, type(None))) else repr(value)


def compare(place: str, expected: Any, actual: Any, found: list[str]) -> None:
    """Collect the innermost differences of two pieces of plain data."""
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        for key in expected:
            compare(f"{place}.{key}", expected[key], actual[key], found)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for i, (first, second) in enumerate(zip(expected, actual, strict=True)):
            compare(f"{place}[{i}]", first, second, found)
    elif not same(expected, actual):
        found.append(f"{place} is {actual!r}, should be {expected!r}")


def same(expected: Any, actual: Any) -> bool:
    """Equality in which NaN equals NaN."""
    if isinstance(expected, float) and isinstance(actual, float):
        return expected == actual or expected != expected and actual != actual
    return type(expected) is type(actual) and expected == actual
