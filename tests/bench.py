"""`make bench`: the figures that refgrad and its harness promise, measured side by side in one run.

Times are CPU time of this process, the smallest of several rounds in which the engines take turns; the
garbage collector is off while a round runs, as in `timeit`. A figure is a ratio, so that it can be compared
between machines.
"""

import contextlib
import gc
import importlib.util
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import click
from tabulate import tabulate

Row = tuple[str, str, str, str]


def cpu_times(rounds: int, *runs: Callable[[], Any]) -> list[float]:
    """The smallest CPU time of each run, in seconds; the runs take turns."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            gc.collect()
            gc.disable()
            start = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - start)
            gc.enable()
    return best


def chain(torch: ModuleType, length: int) -> Callable[[], None]:
    """Forward and backward through `length` steps of mul and add on shape (3,)."""
    leaf = torch.ones(3, requires_grad=True)
    factor, term, gradient = torch.full((3,), 1.0), torch.full((3,), 0.5), torch.ones(3)

    def run() -> None:
        value = leaf
        for _ in range(length // 2):
            value = value * factor
            value = value + term
        value.backward(gradient)

    return run


def fixed_cost(torch: ModuleType, repeats: int) -> Callable[[], None]:
    """`backward()` on a graph of one node, over and over."""
    leaf = torch.ones(3, requires_grad=True)
    gradient = torch.ones(3)
    root = leaf + 1

    def run() -> None:
        for _ in range(repeats):
            root.backward(gradient, retain_graph=True)

    return run


def mygrad_chain(length: int) -> Callable[[], None]:
    """The same chain in MyGrad."""
    import mygrad
    import numpy

    leaf = mygrad.tensor(numpy.ones(3, numpy.float32))
    factor, term = numpy.full(3, 1.0, numpy.float32), numpy.full(3, 0.5, numpy.float32)

    def run() -> None:
        value = leaf
        for _ in range(length // 2):
            value = value * factor
            value = value + term
        value.backward(numpy.ones(3, numpy.float32))

    return run


def hips_chain(length: int) -> Callable[[], None]:
    """The same chain in HIPS autograd."""
    import autograd
    import numpy

    factor, term = numpy.full(3, 1.0, numpy.float32), numpy.full(3, 0.5, numpy.float32)

    def forward(value: Any) -> Any:
        for _ in range(length // 2):
            value = value * factor
            value = value + term
        return value

    gradient = autograd.vector_jacobian_product(forward)
    return lambda: gradient(numpy.ones(3, numpy.float32), numpy.ones(3, numpy.float32))


def engine_rows() -> list[Row]:
    """refgrad against torch, and against two other engines written in Python."""
    import torch

    import refgrad

    torch.set_num_threads(1)
    rows = []
    for title, target, rounds, make in (
        ("chain of 1,000 mul/add on shape (3,), forward and backward", 1.0, 15, lambda t: chain(t, 1000)),
        ("fixed cost of backward()", 0.5, 15, lambda t: fixed_cost(t, 300)),
        ("chain of 100,000 nodes", 0.8, 3, lambda t: chain(t, 100_000)),
    ):
        ours, theirs = cpu_times(rounds, make(refgrad), make(torch))
        rows.append(row(f"{title}: refgrad / torch", ours / theirs, "<=", target))
    for name, make in (("mygrad", mygrad_chain), ("autograd", hips_chain)):
        if importlib.util.find_spec(name) is None:
            rows.append((f"chain of 1,000: {name} / refgrad", "not installed", ">= 3", "-"))
            continue
        ours, theirs = cpu_times(5, chain(refgrad, 1000), make(1000))
        rows.append(row(f"chain of 1,000: {name} / refgrad", theirs / ours, ">=", 3))
    return rows


STEPS = 12  # of a generated program: they write 20 statements on average


def harness_rows(count: int = 300) -> list[Row]:
    """Programs of 20 statements: both engines compared after every statement, against torch alone."""
    from harness.engines import engine
    from harness.generate import prng
    from harness.run import examine_each

    torch, refgrad = engine("torch"), engine("refgrad")
    programs = [prng.program(seed, STEPS) for seed in range(count)]

    def compared() -> None:
        for _ in examine_each([(program, False) for program in programs], torch, [refgrad]):
            pass

    def alone() -> None:
        for program in programs:
            run_alone(program, torch)

    compared()
    both, one = cpu_times(9, compared, alone)
    return [
        row("generated programs, run and compared / torch alone", both / one, "<=", 3.0),
        row("generated programs compared per second", count / both, ">=", 700),
    ]


def run_alone(program: Any, engine: Any) -> None:
    """Run a program's statements one by one, without watching."""

    def show(*values: Any, **options: Any) -> None:
        """`print`, which makes the text and shows it to nobody."""
        for value in values:
            str(value)

    engine.reset()
    names = {"__name__": "__main__", "__builtins__": engine.builtins, "print": show}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in program.steps:
            with contextlib.suppress(Exception):
                exec(step.code, names)


def import_rows() -> list[Row]:
    """What `import refgrad` costs over `import numpy`, and that it loads neither torch nor scipy."""

    def seconds(code: str) -> float:
        # Compiled files are to be used, as they are once a package was imported for the first time.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        times = []
        for _ in range(7):
            probe = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"
            times.append(float(subprocess.check_output([sys.executable, "-c", probe], env=environment)))
        return min(times)

    ratio = seconds("import refgrad") / seconds("import numpy")
    loaded = "import refgrad, sys; print(any(m in sys.modules for m in ('torch', 'scipy')))"
    extra = subprocess.check_output([sys.executable, "-c", loaded], text=True).strip()
    return [
        row("import refgrad / import numpy", ratio, "<=", 1.15),
        ("import refgrad loads torch or scipy", extra, "False", "yes" if extra == "False" else "NO"),
    ]


def row(title: str, value: float, relation: str, target: float) -> Row:
    """One figure with its target."""
    holds = value <= target if relation == "<=" else value >= target
    return (title, f"{value:,.2f}", f"{relation} {target:g}", "yes" if holds else "NO")


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(["engine", "harness", "import"]))
def main(parts: tuple[str, ...]) -> None:
    """Measure the figures, or only some PARTS of them."""
    makers = {"engine": engine_rows, "harness": harness_rows, "import": import_rows}
    rows = [row for part in parts or makers for row in makers[part]()]
    print(tabulate(rows, headers=["figure", "measured", "target", "reached"], disable_numparse=True))


if __name__ == "__main__":
    main()
