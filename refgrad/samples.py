"""How ops meet batched tensors: the signal that one was met, and the way to run a function for each
sample.

Generated code, and the fronts of public names, run straight ahead. A batched tensor (func/batching.py)
has no memory: asking it for some raises `Batched`, and whoever catches that runs the same call for each
sample.
"""

from collections.abc import Callable
from typing import Any


class Batched(Exception):
    """A batched tensor was asked for its memory."""


PER_SAMPLE: list[Callable] = []  # func/batching.py puts the function here


def per_sample(function: Callable, args: tuple, kwargs: dict | None = None) -> Any:
    """Run a call, which raised `Batched`, for each sample of its arguments."""
    return PER_SAMPLE[0](function, args, kwargs or {})


def guarded(source: str, names: list[str]) -> str:
    """The source of a function of these parameters, made to run for each sample where it meets a batched
    tensor."""
    head, _, body = source.partition("\n")
    indented = "\n".join("    " + line for line in body.rstrip("\n").split("\n"))
    arguments = "".join(f"{name}, " for name in names)
    again = f"    except Batched:\n        return per_sample(function, ({arguments}))\n"
    return f"{head}\n    try:\n{indented}\n{again}"
