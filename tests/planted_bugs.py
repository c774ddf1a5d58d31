"""Wrong versions of refgrad, each wrong in one small way; the finder must notice every one of them.

A bug is a function that gets a way to import modules of a fresh copy of refgrad and changes something in them
before any op was compiled. Adding a bug is adding a function.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Modules = Callable[[str], Any]
BUGS: dict[str, Callable[[Modules], None]] = {}


def bug(plant: Callable[[Modules], None]) -> Callable[[Modules], None]:
    """Register a bug under its function's name."""
    BUGS[plant.__name__] = plant
    return plant


@contextmanager
def refgrad_with(plant: Callable[[Modules], None]) -> Iterator[Any]:
    """A fresh copy of refgrad with a bug in it; the ordinary one is back afterwards."""
    ordinary = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "refgrad"}
    for name in ordinary:
        del sys.modules[name]
    try:
        refgrad = importlib.import_module("refgrad")
        plant(lambda name: importlib.import_module(f"refgrad.{name}"))
        yield refgrad
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "refgrad"]:
            del sys.modules[name]
        sys.modules.update(ordinary)


@bug
def forgets_to_free(modules: Modules) -> None:
    modules("graph").Node.release_saved = lambda node: None


@bug
def frees_in_spite_of_retain_graph(modules: Modules) -> None:
    engine = modules("engine")
    execute = engine.execute
    engine.execute = lambda roots, grads, keep, *rest: execute(roots, grads, False, *rest)


@bug
def sums_no_broadcast(modules: Modules) -> None:
    engine, gradients = modules("engine"), modules("gradients")
    fitted = gradients.fitted_array

    def first_only(gradient: Any, target: Any, number: int, node: Any, index: int) -> Any:
        shape = target.outputs[number][0]
        while gradient.ndim > len(shape):
            gradient = gradient[0]
        for axis, size in enumerate(shape):
            if size == 1 != gradient.shape[axis]:
                gradient = gradient.take([0], axis)
        return fitted(gradient, target, number, node, index)

    engine.fitted_array = gradients.fitted_array = first_only


@bug
def runs_hooks_backwards(modules: Modules) -> None:
    engine, hooks = modules("engine"), modules("hooks")
    ordinary = hooks.tensor_hooks

    def backwards(node: Any, grads: list) -> list:
        for _, registered in node.node_hooks.tensor if node.node_hooks is not None else ():
            for key in sorted(registered, reverse=True):
                registered.move_to_end(key)
        return ordinary(node, grads)

    engine.tensor_hooks = backwards


@bug
def ignores_what_hooks_return(modules: Modules) -> None:
    engine, hooks = modules("engine"), modules("hooks")
    ordinary = hooks.tensor_hooks
    engine.tensor_hooks = lambda node, grads: (ordinary(node, list(grads)), grads)[1]


@bug
def calls_no_post_hooks(modules: Modules) -> None:
    modules("engine").post_hooks = lambda node, results, grads: results


@bug
def calls_every_tensor_a_leaf(modules: Modules) -> None:
    modules("tensor").Tensor.is_leaf = property(lambda tensor: True)


@bug
def counts_no_writes(modules: Modules) -> None:
    modules("call").count_write = lambda tensor: None


@bug
def checks_no_versions(modules: Modules) -> None:
    call = modules("call")
    call.unpack = lambda node, name: getattr(node, "s_" + name)
    modules("compiler").NAMESPACE["unpack"] = call.unpack


@bug
def overwrites_instead_of_adding(modules: Modules) -> None:
    engine = modules("engine")
    ordinary = engine.accumulate

    def overwrite(leaf: Any, gradient: Any, own_references: int) -> None:
        leaf._meta.grad = None
        ordinary(leaf, gradient, own_references)

    engine.accumulate = overwrite


@bug
def copies_no_gradients(modules: Modules) -> None:
    engine = modules("engine")
    engine.references = lambda thing: 0


@bug
def ignores_no_grad(modules: Modules) -> None:
    modes = modules("modes")
    ordinary = modes.set_grad
    modes.set_grad = lambda enabled: ordinary(True)


@bug
def writes_to_leaves(modules: Modules) -> None:
    modules("compiler").NAMESPACE["check_inplace"] = lambda tensor: None


@bug
def forgets_how_views_were_made(modules: Modules) -> None:
    modules("views").check_kind = lambda meta, modified: None


@bug
def keeps_stale_views(modules: Modules) -> None:
    tensor = modules("tensor")
    tensor.REFRESH[0] = lambda view: view._meta.edge


@bug
def leaves_the_base_alone(modules: Modules) -> None:
    views, tensor = modules("views"), modules("tensor")
    alone = lambda view, node: tensor.set_edge(view, node)
    views.rebase_history = modules("compiler").NAMESPACE["rebase_history"] = alone


@bug
def detaches_second_order(modules: Modules) -> None:
    engine = modules("engine")
    execute = engine.execute
    engine.execute = lambda roots, grads, keep, create, *rest: execute(
        roots, grads, keep or create, False, *rest
    )


@bug
def runs_the_oldest_node_first(modules: Modules) -> None:
    ready = modules("engine").Ready

    def push(self: Any, node: Any, grads: list) -> None:
        self.heap.append((-node.sequence_nr, node, grads))
        self._up(len(self.heap) - 1)

    ready.push = push


@bug
def retains_no_gradients(modules: Modules) -> None:
    modules("tensor").Tensor.retain_grad = lambda tensor: None


@bug
def gives_zeros_for_unused_inputs(modules: Modules) -> None:
    engine = modules("engine")
    execute = engine.execute

    def filled(
        roots: Any, grads: Any, keep: bool, create: bool, inputs: Any = (), accumulate: bool = True
    ) -> Any:
        captured = execute(roots, grads, keep, create, inputs, accumulate)
        return [grads[0] if gradient is None else gradient for gradient in captured]

    engine.execute = filled


@bug
def hands_none_to_functions(modules: Modules) -> None:
    modules("autograd.function").BackwardCFunction._filled = lambda node, grads: grads


@bug
def takes_any_number_of_gradients(modules: Modules) -> None:
    function = modules("autograd.function")
    ordinary = function.BackwardCFunction._per_tensor

    def padded(node: Any, results: tuple) -> list:
        missing = len(node._is_tensor) - len(results)
        return ordinary(node, results[: len(node._is_tensor)] + (None,) * missing)

    function.BackwardCFunction._per_tensor = padded


@bug
def words_an_error_differently(modules: Modules) -> None:
    errors = modules("errors")
    errors.FREED = errors.FREED.replace("a second time", "again")


@bug
def shares_no_versions_with_detached(modules: Modules) -> None:
    modules("surface")  # the methods are put on the class when it is loaded
    methods, tensor = modules("methods"), modules("tensor")
    tensor.Tensor.detach = lambda self: tensor.alias(self, None)
    methods.detach = tensor.Tensor.detach
