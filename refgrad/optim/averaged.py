"""ASGD and Rprop."""

from typing import Any

from refgrad.optim.optimizer import (
    Optimizer,
    as_real,
    check_capturable,
    check_learning_rate,
    check_not_negative,
    number_or_scalar,
    step_count,
    zeros_for,
)
from refgrad.tensor import Tensor


class ASGD(Optimizer):
    """Gradient descent that also keeps the average of the parameters (Polyak and Juditsky).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        check_learning_rate(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults: dict = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        defaults.update(foreach=foreach, maximize=maximize)
        defaults.update(differentiable=differentiable, capturable=capturable)
        super().__init__(params, defaults)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        lr = number_or_scalar(group["lr"])
        if not state:
            state.update(step=step_count(), eta=step_count(float(lr)), mu=step_count(1))
            state["ax"] = zeros_for(param)
        grad = -grad if group["maximize"] else grad
        check_capturable(group, "params, mus, etas, and")
        rate, share = state["eta"].item(), state["mu"]
        param, grad, average = map(as_real, (param, grad, state["ax"]))
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param.mul_(1 - group["lambd"] * rate)
        param.add_(grad, alpha=-rate)
        if share.item() == 1:
            average.copy_(param)
        else:
            average.add_(param.sub(average).mul_(share))
        count = state["step"].item()
        state["eta"].copy_(as_scalar(lr / (1 + group["lambd"] * lr * count) ** group["alpha"]))
        share.copy_(as_scalar(1 / max(1, count - group["t0"])))


def as_scalar(value: Any) -> Any:
    """A number as a tensor."""
    return value if isinstance(value, Tensor) else step_count(value)


class Rprop(Optimizer):
    """Steps that grow while the gradient keeps its sign, and shrink when it turns (Riedmiller and Braun).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: Any = (0.5, 1.2),
        step_sizes: Any = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_learning_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults: dict = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach}
        defaults.update(maximize=maximize, differentiable=differentiable, capturable=capturable)
        super().__init__(params, defaults)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        if not state:
            lr = float(number_or_scalar(group["lr"]))
            state.update(step=step_count(), prev=zeros_for(param))
            state["step_size"] = zeros_for(grad, complex(lr, lr) if param.is_complex() else lr)
        grad = -grad if group["maximize"] else grad
        check_capturable(group, xla=True)
        state["step"] += 1
        shrink, grow = group["etas"]
        grad, before, param, sizes = map(as_real, (grad, state["prev"], param, state["step_size"]))
        before_then = before.clone() if group["differentiable"] else before
        change = grad.mul(before_then).sign()
        change[change.gt(0)] = grow
        change[change.lt(0)] = shrink
        change[change.eq(0)] = 1
        sizes.mul_(change).clamp_(*group["step_sizes"])
        grad = grad.clone()
        grad[change.eq(shrink)] = 0
        param.addcmul_(grad.sign(), sizes, value=-1)
        before.copy_(grad)
