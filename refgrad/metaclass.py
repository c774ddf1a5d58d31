"""The class of the class `Tensor`, which puts `Watched` before `Tensor` where a subclass overrides."""

from refgrad.overriding import DISABLED, ON_FIRST_USE, ON_SUBCLASS, PLAIN


class Watched:
    """Stands before `Tensor` among the bases of overriding subclasses; watched.py fills it."""

    __slots__ = ()


class TensorMeta(type):
    """The class of `Tensor`: methods, made on first use, are found on it as on a tensor."""

    def mro(cls) -> list[type]:
        """The order of the bases; see note [Ordinary tensors do not pay for overriding ones]."""
        order = [kind for kind in type.mro(cls) if kind is not Watched]
        rules = [vars(kind)["__torch_function__"] for kind in order if "__torch_function__" in vars(kind)]
        at = next((i for i, kind in enumerate(order) if kind.__dict__.get("IS_ORDINARY")), 0)
        is_own = vars(cls)["__module__"].startswith("refgrad.")
        if ON_SUBCLASS and not is_own:
            ON_SUBCLASS[0]()
        is_ordinary = rules and rules[0] is DISABLED or is_own and not has_rule(order[:at])
        if not at or is_ordinary:
            PLAIN.add(cls)
            return order
        if ON_FIRST_USE:
            ON_FIRST_USE[0]()
        return [*order[:at], Watched, *order[at:]]


def has_rule(kinds: list[type]) -> bool:
    """Whether one of the subclasses brings a `__torch_function__` along."""
    return any("__torch_function__" in vars(kind) for kind in kinds)


TensorMeta.__name__ = TensorMeta.__qualname__ = "_TensorMeta"  # shown by `type`
TensorMeta.__module__ = "torch._C"
