"""Calls are bound, or refused with a text, as PyTorch does it: every expectation here is asked of PyTorch."""

import ast
import random
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from refgrad import signatures
from refgrad.binding import Parser, Signature, Types
from refgrad.overloads import Binder
from refgrad.schema import Schema

CALLS = (Path(__file__).parent / "calls.txt").read_text(encoding="utf-8").split("\n")
OWNERS = (torch, torch._C._nn, torch._C._linalg, torch._C._fft, torch._C._special)
# What a TypeError says when it is about the arguments; others come from the op itself.
ABOUT_ARGUMENTS = (
    "positional argument",
    "argument '",
    "unexpected keyword",
    "multiple values",
    "invalid combination",
    "failed to unpack",
    "expected Tensor as element",
    "expected tuple of",
    "takes no",
)


def torch_types() -> Types:
    types = Types()
    for word, cls in {
        "Tensor": torch.Tensor,
        "ScalarType": torch.dtype,
        "Device": torch.device,
        "Layout": torch.layout,
        "MemoryFormat": torch.memory_format,
        "Generator": torch.Generator,
        "Storage": torch.UntypedStorage,
    }.items():
        types.register(word, cls)
    types.dtype_of.update(
        {float: torch.float64, int: torch.int64, bool: torch.bool, complex: torch.complex128}
    )
    return types


TYPES = torch_types()


class Junk:
    """Fits no type."""


class Index:
    """Not an integer, but can stand for one."""

    def __index__(self) -> int:
        return 1


def parser_of(name: str, method: bool) -> Parser:
    texts = signatures.of_method(name) if method else signatures.of_function(name)
    assert texts, f"no signature of {name}"
    return Parser(name, texts, method=method, types=TYPES)


def error_of(function, *args: Any, **kwargs: Any) -> str:
    """The text of the TypeError about the arguments, or nothing."""
    try:
        function(*args, **kwargs)
    except TypeError as error:
        if any(words in str(error) for words in ABOUT_ARGUMENTS):
            return str(error)
    except Exception:
        return ""  # bound, then refused by the op
    return ""


def names() -> dict[str, Any]:
    """What the calls in calls.txt may speak of; new at each call, since some write to it."""
    return {
        "torch": torch,
        "np": np,
        "Junk": Junk,
        "Index": Index,
        "x": torch.ones(2, 3),
        "leaf": torch.ones((), requires_grad=True),
        "int0": torch.tensor(1),
        "int1": torch.tensor([1]),
        "float0": torch.tensor(1.0),
        "bool0": torch.tensor(True),
    }


@pytest.mark.parametrize("text", [line for line in CALLS if line and not line.startswith("#")])
def test_a_call_is_bound_or_refused_as_in_torch(text):
    scope = names()
    call = ast.parse(text, mode="eval").body
    owner = ast.unparse(call.func.value)
    call.func = ast.parse("collect", mode="eval").body
    scope["collect"] = lambda *args, **kwargs: (args, kwargs)
    args, kwargs = eval(compile(ast.Expression(ast.fix_missing_locations(call)), "call", "eval"), scope)
    parser = parser_of(text.partition("(")[0].rpartition(".")[2], owner == "x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = error_of(lambda: eval(text, scope))
        assert error_of(parser.bind, args, kwargs) == expected


def listed() -> list[tuple[str, Any, bool]]:
    """Every name of the tables with what PyTorch has under it: (name, function or method, is a method)."""
    found = []
    for name in signatures.FUNCTIONS:
        owner = next((owner for owner in OWNERS if hasattr(owner, name)), None)
        if owner is not None:
            found.append((name, getattr(owner, name), False))
    for name in dir(torch.Tensor):
        method = getattr(torch.Tensor, name)
        if type(method).__name__ == "method_descriptor" and signatures.of_method(name):
            found.append((name, method, True))
    return found


LISTED = listed()


def test_nearly_every_listed_name_exists_in_torch():
    functions = {name for name, _, is_method in LISTED if not is_method}
    assert len(functions) > 0.99 * len(signatures.FUNCTIONS)
    assert len(LISTED) > 950


def test_all_signatures_are_shown_as_torch_shows_them():
    """Far too many arguments make PyTorch show everything it knows."""
    junk = [Junk() for _ in range(40)]
    for name, function, is_method in LISTED:
        if type(function).__name__ == "function":
            continue  # written in Python in this release
        start = [torch.ones(2, 3)] if is_method else []
        expected = error_of(function, *start, *junk)
        assert error_of(parser_of(name, is_method).bind, junk, {}) == expected, name


# ---------------------------------------------------------------- random calls

FITTING = {
    "Tensor": lambda draw: torch.ones(2, 3),
    "Scalar": lambda draw: draw.choice([1, 1.5, True]),
    "int": lambda draw: draw.choice([0, 1, -1]),
    "SymInt": lambda draw: draw.choice([0, 1]),
    "float": lambda draw: draw.choice([0.5, 1]),
    "bool": lambda draw: draw.choice([True, False]),
    "str": lambda draw: "mean",
    "int[]": lambda draw: draw.choice([(0,), [0, 1], 1]),
    "SymInt[]": lambda draw: draw.choice([(1,), [2, 3], 1]),
    "Tensor[]": lambda draw: (torch.ones(2, 3), torch.ones(2, 3)),
    "Tensor?[]": lambda draw: (torch.tensor([1]),),
    "ScalarType": lambda draw: draw.choice([torch.float32, float]),
    "Device": lambda draw: "cpu",
    "Layout": lambda draw: torch.strided,
    "MemoryFormat": lambda draw: torch.contiguous_format,
    "float[]": lambda draw: (1.0,),
}
ANYTHING = [
    *(1, -1, 1.5, True, None, "a", 1j, (1,), [0, 1], (0, "a"), [1.5], (), (True,), {}, b"a", float),
    *(np.int64(1), np.float64(0.5), np.bool_(True), np.ones(2), torch.float32, torch.device("cpu")),
    *(torch.strided, torch.contiguous_format, Junk(), torch.tensor(1), torch.tensor(1.0), torch.tensor([1])),
    *(torch.ones((), requires_grad=True), (torch.ones(2), 1)),
]
STRANGE_NAMES = ["foo", "dim", "axis", "input", "x", "keepdim", "alpha"]
# Functions that work on memory, files or settings, or that may run long.
NOT_AT_RANDOM = (
    "set",
    "resize",
    "strided",
    "empty",
    "storage",
    "data_ptr",
    "embedding",
    "pool",
    "conv",
    "fft",
    "linalg",
)


def draw_call(draw: random.Random, signature: Signature) -> tuple[list[Any], dict[str, Any]]:
    """Arguments that nearly fit the signature."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter in signature.parameters:
        if draw.random() < (0.6 if parameter.is_optional else 0.04):
            continue
        fits = draw.random() < 0.8 and parameter.type in FITTING
        value = FITTING[parameter.type](draw) if fits else draw.choice(ANYTHING)
        if parameter.keyword_only or kwargs or draw.random() < 0.15:
            kwargs[draw.choice([parameter.name, *parameter.numpy_names])] = value
        else:
            args.append(value)
    if draw.random() < 0.08:
        kwargs[draw.choice(STRANGE_NAMES)] = draw.choice(ANYTHING)
    if draw.random() < 0.05:
        args.append(draw.choice(ANYTHING))
    return args, kwargs


@pytest.mark.parametrize("seed", range(4))
def test_random_calls_are_bound_or_refused_as_in_torch(seed):
    draw = random.Random(seed)
    candidates = [entry for entry in LISTED if not any(word in entry[0] for word in NOT_AT_RANDOM)]
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function, is_method in draw.choices(candidates, k=500):
            parser = parser_of(name, is_method)
            args, kwargs = draw_call(draw, draw.choice(parser.signatures))
            start = [torch.ones(2, 3)] if is_method else []
            expected = error_of(function, *start, *args, **kwargs)
            assert error_of(parser.bind, args, kwargs) == expected, (name, args, kwargs)
            refused += bool(expected)
    assert 50 < refused < 450


# ---------------------------------------------------------------- values


def schemas_of(name: str, *overloads: str) -> list[Schema]:
    packet = getattr(torch.ops.aten, name)
    return [Schema.parse(str(getattr(packet, overload)._schema)) for overload in overloads]


def test_values_come_in_the_order_of_the_schema_with_defaults():
    x = torch.ones(2, 3)
    binder = Binder("sum", schemas_of("sum", "default", "dim_IntList"), method=True, types=TYPES)
    assert binder.bind((x, 0), {"keepdims": True}) == (1, [x, (0,), True, None], {})
    assert binder.bind((x,), {"dtype": float}) == (0, [x, torch.float64], {})


def test_numbers_become_plain_python_numbers():
    x = torch.ones(2, 3)
    binder = Binder("transpose", schemas_of("transpose", "int"), types=TYPES)
    _, values, _ = binder.bind((x, np.int64(0), torch.tensor(1)), {})
    assert [type(value) for value in values[1:]] == [int, int]
    _, values, _ = Binder("pow", schemas_of("pow", "Tensor_Scalar"), types=TYPES).bind((x, np.float32(2)), {})
    assert type(values[1]) is float


def test_spread_integers_become_one_tuple():
    x = torch.ones(2, 3)
    binder = Binder("view", schemas_of("view", "dtype", "default"), method=True, types=TYPES)
    assert binder.bind((x, 3, torch.tensor(2)), {}) == (1, [x, (3, 2)], {})
    assert binder.bind((x, torch.int32), {}) == (0, [x, torch.int32], {})


def test_what_the_schema_lacks_is_extra():
    binder = Binder("zeros", schemas_of("zeros", "default"), types=TYPES)
    assert binder.bind((2, 3), {"requires_grad": True}) == (
        0,
        [(2, 3), None, None, None, False],
        {"requires_grad": True},
    )
    x, out = torch.ones(2), torch.ones(2)
    binder = Binder("add", schemas_of("add", "Tensor"), types=TYPES)
    assert binder.bind((x, 2), {"out": out}) == (0, [x, 2, 1], {"out": out})


def test_the_tensor_of_a_method_stands_where_the_schema_has_self():
    x, condition = torch.ones(2), torch.ones(2) > 0
    binder = Binder("where", schemas_of("where", "self"), method=True, types=TYPES)
    _, values, _ = binder.bind((x, condition, 2 * x), {})
    assert values[0] is condition
    assert values[1] is x


def test_a_schema_that_is_not_declared_is_said_to_be_missing():
    binder = Binder("max", schemas_of("max", "default"), types=TYPES)
    with pytest.raises(
        NotImplementedError, match=r"max: no schema is declared for max\(Tensor input, int dim"
    ):
        binder.bind((torch.ones(2), 0), {})


def test_a_name_outside_the_tables_takes_its_signature_from_the_schema():
    schema = Schema.parse("my_op(Tensor self, int[] dims, *, float eps=1.0) -> Tensor")
    x = torch.ones(2)
    assert Binder("my_op", [schema], types=TYPES).bind((x, (0,)), {}) == (0, [x, (0,), 1.0], {})
    assert Binder("my_op", [schema], method=True, types=TYPES).bind((x, 0, 1), {}) == (
        0,
        [x, (0, 1), 1.0],
        {},
    )


def test_the_first_deprecated_call_of_a_process_warns(monkeypatch):
    monkeypatch.setattr(sys.modules["refgrad.binding"], "_deprecations_warned", [])
    x = torch.ones(2)
    parser = parser_of("add", method=False)
    with pytest.warns(UserWarning) as caught:
        assert parser.bind((x, 2, x), {})[1][:3] == [x, 2, x]
        parser.bind((x, 2, x), {})
    assert [str(warning.message) for warning in caught] == [
        "This overload of add is deprecated:\n"
        "\tadd(Tensor input, Number alpha, Tensor other, *, Tensor out = None)\n"
        "Consider using one of the following signatures instead:\n"
        "\tadd(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"
    ]


def test_every_deprecated_call_warns_when_warnings_are_always_given(monkeypatch):
    monkeypatch.setattr(sys.modules["refgrad.binding"], "_deprecations_warned", ["add"])
    monkeypatch.setattr(sys.modules["refgrad.modes"], "warn_always", [True])
    x = torch.ones(2)
    parser = parser_of("add", method=False)
    with pytest.warns(UserWarning) as caught:
        parser.bind((x, 2, x), {})
        parser.bind((x, 2, x), {})
    assert len(caught) == 2
