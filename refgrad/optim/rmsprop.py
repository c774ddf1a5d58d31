"""RMSprop."""

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


class RMSprop(Optimizer):
    """Steps scaled by a running average of the squared gradient (Hinton).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_learning_rate(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults: dict = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
        }
        defaults.update(
            capturable=capturable, foreach=foreach, maximize=maximize, differentiable=differentiable
        )
        super().__init__(params, defaults)

    def start(self, param: Any, group: dict[str, Any]) -> dict[str, Any]:
        """What is remembered about a parameter, made at its first step."""
        state = self.state[param]
        if not state:
            state["step"] = step_count()
            state["square_avg"] = zeros_for(param)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_for(param)
            if group["centered"]:
                state["grad_avg"] = zeros_for(param)
        return state

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.start(param, group)
        lr, alpha = number_or_scalar(group["lr"]), group["alpha"]
        check_capturable(group, xla=True)
        grad = -grad if group["maximize"] else grad
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, squares = as_real(param), as_real(grad), as_real(state["square_avg"])
        squares.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = as_real(state["grad_avg"])
            mean.lerp_(grad, 1 - alpha)
            average = squares.addcmul(mean, mean, value=-1).sqrt_()
        else:
            average = squares.sqrt()
        average = average.add(group["eps"]) if group["differentiable"] else average.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = as_real(state["momentum_buffer"])
            buffer.mul_(group["momentum"]).addcdiv_(grad, average)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, average, value=-lr)
