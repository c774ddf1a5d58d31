"""Declaring ops: `@op`, `@composite`, and the registry.

*Entry*: one declaration: schema text, one formula per input, a NumPy kernel. *Kernel*: gets arrays for
tensors (for a view op: the layout) and returns arrays (layouts). *Composite*: a plain function of other ops,
differentiated through.
*Promotion word*: how a pointwise op brings its operands to one type, see `call.promoted`.

What is declared here is cheap; schemas are parsed and functions generated on first use.
"""

from collections.abc import Callable
from typing import Any

from refgrad.schema import Schema

OPS: dict[str, "Op | Composite"] = {}
"""Every entry by its full name, such as `add.Tensor`."""

BY_NAME: dict[str, list] = {}
"""Entries by the name of the function, in the order in which overloads are tried."""


LOAD: list[Callable] = []
"""Declares all ops, unless that has happened; refgrad/__init__.py puts the function here."""

ON_COMPILE: list[Callable] = []
"""What is told of each op whose function was just generated."""


class Op:
    """One overload of one op.

    Args:
        text: the schema, as PyTorch writes it.
        kernel: NumPy code, see the head of this file.
        formulas: target, or several joined by ", ", to the gradient formula; its parameter names say what is
            saved. promote: promotion word of a pointwise op. inplace: whether the twin `name_` exists. node:
            name of the node; by default the op's name in CamelCase and `Backward0`. inplace_node: name of the
            twin's node, where it differs. inplace_formulas: formulas of the twin, where they differ.
            nondifferentiable: numbers of results that are never part of the graph. refused: name to give when
            a derivative is asked for that does not exist. may_overlap: the twin accepts targets whose
            elements share memory. cast_any: the twin's result is cast to the target's type whatever it is.
            writes: the kernel writes into its first argument (ops that exist only in place).
            looks_for_overlap: such a kernel itself refuses operands that show the target's memory.
            replay: a view that no strides can express: the kernel maps the array, and the view is repeated to
            refresh it.
            wrapper: what makes the returned tuple of several results. record_if: a condition on the
            arguments, in source form, without which nothing is recorded. ufunc: what the kernel amounts to
            for floating operands when the plain arguments have their defaults. check: called with the
            operands before they are promoted (when their types differ), to refuse some. laid_out_by: names of
            the operands after which the result is laid out in memory, the strongest first, where a number
            stands for an operand without dimensions, None for none; for ops with a promotion word all
            tensors, in their order. unresolved: names of operands that the kernel gets as
            they are: conj views are not written out first. reduced: "own" for a kernel that gets float16 and
            bfloat16 as they are, "vectors" for one that gets bfloat16 so; "number" where, as the second
            operand, a number is not rounded to them.
    """

    def __init__(self, text: str, kernel: Callable, formulas: dict[str, Callable], **options: Any):
        self.text = text
        self.kernel = kernel
        self.formulas = formulas
        self.name = text[: text.index("(")]
        self.function_name = self.name.partition(".")[0]
        self.is_view = "(a)" in text or "(a -> *)" in text
        self.promote: str = options.pop("promote", "")
        self.inplace: bool = options.pop("inplace", False)
        self.node: str = options.pop("node", "") or node_name(self.function_name)
        self.inplace_node: str = options.pop("inplace_node", "") or self.node
        self.inplace_formulas: dict | None = options.pop("inplace_formulas", None)
        self.nondifferentiable: tuple = options.pop("nondifferentiable", ())
        self.refused: str = options.pop("refused", "")
        self.may_overlap: bool = options.pop("may_overlap", False)
        self.cast_any: bool = options.pop("cast_any", False)
        self.writes: bool = options.pop("writes", False)
        self.looks_for_overlap: bool = options.pop("looks_for_overlap", False)
        self.replay: bool = options.pop("replay", False)
        self.wrapper: Callable | None = options.pop("wrapper", None)
        self.record_if: str = options.pop("record_if", "")
        self.check: Callable | None = options.pop("check", None)
        self.laid_out_by: str = options.pop("laid_out_by", "")
        self.unresolved: tuple = options.pop("unresolved", ())
        self.constants: tuple = options.pop("constants", ())
        self.real_gradient: bool = options.pop("real_gradient", False)
        self.reduced: str = options.pop("reduced", getattr(kernel, "reduced", ""))
        self.scalar: str = options.pop("scalar", "")
        self.ufunc: Callable | None = options.pop("ufunc", None)
        self.only_inplace = "(a!)" in text
        self.result_kind: object = options.pop("result", None)
        if options:
            raise TypeError(f"{self.name}: unknown options {sorted(options)}")
        self._nodes: dict[str, type] = {}

    @property
    def schema(self) -> Schema:
        """The parsed schema."""
        schema = self.__dict__.get("_schema")
        if schema is None:
            schema = self._schema = Schema.parse(self.text)
        return schema

    @property
    def call(self) -> Callable:
        """The function of the plain call, generated on first use."""
        return self.__dict__.get("_call") or self._made("_call")

    @property
    def call_inplace(self) -> Callable:
        """The function of the in-place twin, generated on first use."""
        return self.__dict__.get("_call_inplace") or self._made("_call_inplace")

    def _made(self, name: str) -> Callable:
        """One of the two functions, made now unless another thread was faster."""
        from refgrad import compiler

        with compiler.COMPILING:
            function = self.__dict__.get(name)
            if function is None and name == "_call":
                compiled = compiler.compile_inplace if self.only_inplace else compiler.compile_call
                function = self._call = compiled(self)
                for notice in ON_COMPILE:
                    notice(self)
            elif function is None:
                twin = self
                if self.inplace_formulas is not None:
                    twin = Op(self.text, self.kernel, self.inplace_formulas, **self._options())
                function = self._call_inplace = compiler.compile_inplace(twin)
        made: Callable = function
        return made

    def scalar_call(self, *arguments: Any) -> Any:
        """The call of the overload for a number."""
        return OPS[self.scalar].call(*arguments)

    def scalar_call_inplace(self, *arguments: Any) -> Any:
        """The twin of the overload for a number."""
        overload: Any = OPS[self.scalar]
        return overload.call_inplace(*arguments)

    def _options(self) -> dict:
        names = (
            "promote",
            "node",
            "inplace_node",
            "may_overlap",
            "cast_any",
            "writes",
            "record_if",
            "check",
            "ufunc",
            "reduced",
        )
        return {name: getattr(self, name) for name in names}

    def node_for(self, recipe: Any, use: str) -> type:
        """The class of the nodes that a call records."""
        from refgrad.compiler import node_class

        name = self.node if use == "plain" else self.inplace_node
        if name not in self._nodes:
            self._nodes[name] = node_class(recipe, name)
        return self._nodes[name]

    def is_differentiable(self, number: int) -> bool:
        """Whether a result can be part of the graph."""
        return number not in self.nondifferentiable

    def record_condition(self) -> str:
        """The extra condition for recording, ready to be appended in generated code."""
        return f" and ({self.record_if})" if self.record_if else ""

    def result_wrapper(self, results: str) -> str:
        """Source that makes the returned value of several results."""
        return f"result_wrapper({results})" if self.wrapper else results


class Composite:
    """A public function made of other ops; `text` is its schema, for binding its arguments."""

    is_view = inplace = False
    promote = ""

    def __init__(self, text: str, function: Callable):
        self.text = text
        self.call = function
        self.name = text[: text.index("(")]
        self.function_name = self.name.partition(".")[0]

    @property
    def schema(self) -> Schema:
        """The parsed schema."""
        return Schema.parse(self.text)


def node_name(function_name: str) -> str:
    """The default name of an op's node: CamelCase and `Backward0`."""
    return "".join(word.title() for word in function_name.split("_")) + "Backward0"


def register(entry: "Op | Composite") -> None:
    """Put an entry into the registry.

    Raises:
        ValueError: the name is taken.
    """
    if entry.name in OPS:
        raise ValueError(f"op {entry.name} is declared twice")
    OPS[entry.name] = entry
    entries = BY_NAME.setdefault(entry.function_name, [])
    entries.insert(0 if entry.name == entry.function_name else len(entries), entry)


class Calls:
    """The ops as plain functions of their schema's arguments, for formulas and composites:
    `calls.cat(tensors, dim)`.

    A name means its first overload; others are reached with two underscores, as in `calls.max__dim`.
    """

    def __getattr__(self, name: str) -> Callable:
        LOAD[0]()  # a module may be what is used first
        plain, _, overload = name.partition("__")
        if overload and not name.endswith("_"):
            function = OPS[f"{plain}.{overload}"].call
        elif name.endswith("_") and any(entry.inplace for entry in BY_NAME.get(name[:-1], ())):
            function = next(entry for entry in BY_NAME[name[:-1]] if entry.inplace).call_inplace
        else:
            function = BY_NAME[name][0].call
        self.__dict__[name] = function
        return function


calls = Calls()


OPTIONS = frozenset(
    [
        "promote",
        "inplace",
        "node",
        "inplace_node",
        "inplace_formulas",
        "nondifferentiable",
        "refused",
        "may_overlap",
        "cast_any",
        "writes",
        "looks_for_overlap",
        "replay",
        "wrapper",
        "record_if",
        "check",
        "laid_out_by",
        "unresolved",
        "constants",
        "ufunc",
        "scalar",
        "real_gradient",
        "reduced",
        "result",
    ]
)


def op(text: str, *, jointly: tuple[str, Callable] | None = None, **entry: Any) -> Callable[[Callable], Op]:
    """Declare an op: keywords that name arguments are formulas, the others options (see `Op`).

    `jointly=("input, weight", f)` gives several gradients by one formula, which returns them in that order
    and may ask for `needs_input_grad`.
    """

    def declare(kernel: Callable) -> Op:
        options = {name: entry.pop(name) for name in list(entry) if name in OPTIONS}
        formulas = dict(entry)
        if jointly is not None:
            formulas[jointly[0]] = jointly[1]
        declared = Op(text, kernel, formulas, **options)
        register(declared)
        return declared

    return declare


def composite(text: str) -> Callable[[Callable], Callable]:
    """Declare a function of other ops; its parameters are those of the schema, in order."""

    def declare(function: Callable) -> Callable:
        register(Composite(text, function))
        return function

    return declare


def unary(name: str, kernel: Callable, formula: Callable, **options: Any) -> Op:
    """Declare a pointwise op of one operand, with its in-place twin."""
    options = {"promote": "float", "inplace": True, **options}
    return op(f"{name}(Tensor self) -> Tensor", self=formula, **options)(kernel)
