"""Subclasses, other objects and modes that override: what ordinary tensors keep, and what is watched."""

import gc

import refgrad as torch
from refgrad.nn import functional as F
from refgrad.overriding import PLAIN
from refgrad.tensor import Tensor
from refgrad.watched import RAW


class Quiet(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def make_subclass():
    class Told(torch.Tensor):
        calls = []

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            cls.calls.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    return Told


def test_a_subclass_leaves_the_operators_of_tensor_alone():
    torch.ones(2) + torch.ones(2)
    before = dict(vars(Tensor))
    make_subclass()
    assert all(vars(Tensor)[name] is value for name, value in before.items())


def test_a_mode_gives_the_operators_back():
    x = torch.ones(2)
    x + x, -x, x.detach()
    before = {name: vars(Tensor)[name] for name in ("__add__", "__neg__", "detach", "shape")}
    with Quiet():
        assert all(vars(Tensor)[name] is not value for name, value in before.items())
        x + x
    assert not RAW
    assert all(vars(Tensor)[name] is value for name, value in before.items())


def test_a_mode_that_raises_gives_the_operators_back():
    add = vars(Tensor)["__add__"]
    try:
        with Quiet():
            raise KeyError
    except KeyError:
        pass
    assert vars(Tensor)["__add__"] is add


def test_a_watched_function_is_the_same_object():
    relu, name = F.relu, F.relu.__name__
    told = make_subclass()
    s = torch.ones(2).as_subclass(told)
    F.relu(s)
    assert told.calls == [relu]
    assert (F.relu, F.relu.__name__) == (relu, name)
    assert type(F.relu(torch.ones(2))) is Tensor


def test_what_a_call_runs_inside_is_not_told():
    told = make_subclass()
    s = torch.ones(2, 2).as_subclass(told).requires_grad_()
    told.calls.clear()
    (s @ s).sum().backward()
    assert told.calls == [Tensor.matmul, Tensor.sum, Tensor.backward]


def test_only_overriding_classes_are_asked():
    class Off(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    told = make_subclass()
    assert Off in PLAIN
    assert told not in PLAIN
    assert type(torch.ones(1).as_subclass(Off) + 1) is Tensor


def test_a_subclass_finds_methods_that_nobody_asked_for_yet():
    class Half(torch.Tensor):
        def logsumexp(self, *args):
            return super().logsumexp(*args) / 2

    assert torch.zeros(2).as_subclass(Half).logsumexp(0).item() == torch.zeros(2).logsumexp(0).item() / 2


def test_a_tensor_of_a_subclass_dies_with_its_last_name():
    told = make_subclass()
    dead = []

    class Dying:
        def __del__(self):
            dead.append(True)

    s = torch.ones(2).as_subclass(told)
    s.held = Dying()
    y = (s * 2).sum()
    del s, y
    told.calls.clear()
    gc.collect()
    assert dead == [True]
