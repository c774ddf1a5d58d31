"""What an op's declaration asks for: which values its node saves, for whom, and where gradients go.

*Recipe*: that, worked out from one entry; the modules apply_source, call_source and inplace_source write the
functions from it, compiler.py compiles them. Names in generated code: `a_x` the array of argument x, `e_x`
its edge, `s_x`, `v_x`, `c_x` the saved value, its version and (of results) its version cell in the node,
`p_x` a saved plain value.
"""

import keyword
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from refgrad.schema import Argument, Schema

RAW_NAMES = {"conj", "conjugate"}  # what a formula may ask of its operands and still be given raw arrays

HIDDEN = "hidden"  # the kind of a saved value that users do not see as `_saved_*`
DERIVED = {
    "sym_sizes": ("SymInt[]", "tuple({0}._array.shape)"),
    "sym_strides": ("SymInt[]", "{0}.stride()"),
    "sym_numel": ("SymInt", "{0}._array.size"),
    "scalar_type": (HIDDEN, "{0}.dtype"),
    "dim": ("int", "{0}._array.ndim"),
    "storage_offset": ("SymInt", "{0}.storage_offset()"),
    "sym_argsize_0": ("SymInt", "{0}._array.shape[0]"),
    "sym_argsize_1": ("SymInt", "{0}._array.shape[1]"),
    "sym_argsize_2": ("SymInt", "{0}._array.shape[2]"),
    "sym_argsize_minus_1": ("SymInt", "{0}._array.shape[-1]"),
    "sym_argsize_minus_3": ("SymInt", "{0}._array.shape[-3]"),
    "sym_argsize_minus_2": ("SymInt", "{0}._array.shape[-2]"),
    "sym_sizes_opt": ("SymInt[]", "(0,) if {0} is None else tuple({0}._array.shape)"),
    "options": (HIDDEN, "{0}.dtype"),
    "info": (HIDDEN, "tuple({0}._array.shape)"),
    "args_scalartypes": (HIDDEN, "[t.dtype for t in {0}]"),
    "geometry": (HIDDEN, "layout_of({0}._array)"),
    "args_sizes": (HIDDEN, "[tuple(t._array.shape) for t in {0}]"),
}


# Note [Saved inputs and saved results]
# A value that one formula alone reads is saved if that formula's gradient is wanted, one that several read
# always: of a product with a constant, only the constant. A saved input is the tensor itself (`_saved_self is
# x`). A result of the node's own is saved as memory and counter, since the tensor would hold its node in a
# cycle; whoever looks gets a new tensor in the result's place of the graph. Both remember the version they
# had, and are refused when it has risen.


class Formula:
    """One gradient formula and what its parameters ask for."""

    def __init__(self, targets: tuple[str, ...], function: Callable):
        code = function.__code__
        self.targets = targets
        self.function = function
        self.parameters = code.co_varnames[: code.co_argcount]
        self.has_numbers = any(isinstance(each, (int, float)) for each in code.co_consts)
        self.raw = not code.co_freevars and RAW_NAMES.issuperset(code.co_names) and len(targets) == 1


def usable(argument: Argument) -> Argument:
    """The argument under a name that Python code can use: `from` becomes `from_`."""
    return replace(argument, name=argument.name + "_") if keyword.iskeyword(argument.name) else argument


class Recipe:
    """What an entry saves and for whom, worked out from its schema and formulas."""

    def __init__(self, op: Any):
        self.op = op
        self.schema: Schema = op.schema
        self.arguments = tuple([usable(argument) for argument in self.schema.arguments])
        self.names = [argument.name for argument in self.arguments]
        self.types = {argument.name: argument.type for argument in self.arguments}
        self.formulas = [
            Formula(tuple(target.split(", ")), function)
            for target, function in op.formulas.items()
            if function
        ]
        self.targets = [name for name in self.names if any(name in f.targets for f in self.formulas)]
        self.results = [r.name or ("result" if len(self.schema.returns) == 1 else f"result{i}")
                        for i, r in enumerate(self.schema.returns)]  # fmt: skip
        self.saved_inputs: list[str] = []
        self.saved_results: dict[str, int] = {}
        self.plain: dict[str, tuple[str, str]] = {}  # name -> (schema type, expression)
        for formula in self.formulas:
            for parameter in formula.parameters:
                self._classify(parameter)
        self.saved_inputs.sort()

    def _classify(self, parameter: str) -> None:
        if parameter in ("grad", "grads", "needs_input_grad", "node"):
            return
        if parameter in self.types:
            if self.types[parameter].startswith("Tensor"):
                if parameter not in self.saved_inputs:
                    self.saved_inputs.append(parameter)
            else:
                optional = any(a.name == parameter and a.optional for a in self.arguments)
                kind = self.types[parameter]
                unseen = kind == "ScalarType" or kind == "bool" and optional
                self.plain[parameter] = (HIDDEN if unseen else kind, parameter)
        elif parameter in self.results:
            self.saved_results[parameter] = self.results.index(parameter)
        else:
            many = len(self.results) > 1
            sources = {name: f"outs[{i}]" if many else "out" for i, name in enumerate(self.results)}
            sources |= {name: name for name in self.names}
            source = max((name for name in sources if parameter.startswith(name + "_")), key=len, default="")
            suffix = parameter[len(source) + 1 :]
            if suffix not in DERIVED:
                raise TypeError(
                    f"{self.op.name}: a formula asks for {parameter!r}, which is no argument and no result"
                )
            kind, expression = DERIVED[suffix]
            expression = expression.format(sources.get(source, source))
            if self.op.promote and source in self.types:  # a number may stand there
                expression = f"({expression}) if isinstance({source}, Tensor) else None"
            self.plain[parameter] = (kind, expression)

    def guard(self, name: str) -> str | None:
        """The one target for whose gradient alone this input is saved; None when it is always saved."""
        users = [formula for formula in self.formulas if name in formula.parameters]
        optional = any(argument.name == name and argument.optional for argument in self.arguments)
        if optional or "backward" in self.op.function_name:
            return None  # as PyTorch's generator of these classes decides
        if len(self.formulas) > 1 and len(users) == 1 and len(users[0].targets) == 1:
            target = users[0].targets[0]
            return target if self.types[target] == "Tensor" else None
        return None

    def is_list(self, name: str) -> bool:
        """Whether an argument is a list of tensors."""
        return self.types[name].endswith("[]")
