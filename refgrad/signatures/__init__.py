"""What PyTorch's public functions and methods accept, in tables of signature texts.

A line `name(arguments)` is one signature; names on lines of their own share the indented ones below them.
The order is the one in which PyTorch tries them. `|deprecated` marks a signature that is tried last and
never shown, and `<options>` stands for the arguments of every factory. A method is not listed if it
accepts what its function does less `input` and `out`; an in-place twin is not listed if it accepts what
its method does.
"""

import re

from refgrad.signatures import functions, methods, submodules

_OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=False, bool? requires_grad=False"
)
_OUT = re.compile(r"(, )?Tensor(\[\d?\])? out=None")


def _read(table: str) -> dict[str, list[str]]:
    """Map each name to its signature texts without the name."""
    found: dict[str, list[str]] = {}
    sharing: list[str] = []
    complete = True  # whether signatures followed the names that share
    for line in table.strip().replace("<options>", _OPTIONS).split("\n"):
        if line.startswith(" "):
            complete = True
            for name in sharing:
                found[name].append(line.strip())
        elif "(" in line:
            name, _, inside = line.partition("(")
            found.setdefault(name, []).append(f"({inside}")
        else:
            sharing = line.split() if complete else sharing + line.split()
            complete = False
            found.update({name: [] for name in line.split()})
    return found


FUNCTIONS = _read(functions.TABLE) | _read(submodules.TABLE)
METHODS = _read(methods.TABLE)


def of_function(name: str) -> list[str]:
    """The signatures of a function, in the order they are tried; empty if the tables have none.

    Functions of submodules carry its name: `linalg_det`, `fft_fft`; those of `torch.nn.functional` do not.
    """
    inside = FUNCTIONS.get(name)
    if inside is None and name.endswith("_"):
        inside = [_without_out(text) for text in FUNCTIONS.get(name[:-1], ())]
    return [f"{name}{text}" for text in inside or ()]


def of_method(name: str) -> list[str]:
    """The signatures of a method, without the tensor itself; empty if the tables have none."""
    return [f"{name}{text}" for text in _inside_of_method(name)]


def _inside_of_method(name: str) -> list[str]:
    if name in METHODS:
        return METHODS[name]
    if name in FUNCTIONS:
        return [_without_input(_without_out(text)) for text in FUNCTIONS[name] if "Tensor input" in text]
    return _inside_of_method(name[:-1]) if name.endswith("_") else []


def _without_out(text: str) -> str:
    return _OUT.sub("", text).replace(", *)", ")").replace("(*)", "()")


def _without_input(text: str) -> str:
    for written in ("Tensor input, ", ", Tensor input", "Tensor input"):
        if written in text:
            return text.replace(written, "", 1).replace("(*)", "()")
    return text
