"""Adagrad."""

from typing import Any

from refgrad.optim.optimizer import (
    Optimizer,
    as_real,
    check_fused,
    check_learning_rate,
    check_not_negative,
    number_or_scalar,
    step_count,
    zeros_for,
)


class Adagrad(Optimizer):
    """Steps scaled by the sum of all squared gradients (Duchi, Hazan and Singer).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        check_learning_rate(lr)
        check_not_negative(lr_decay=lr_decay, weight_decay=weight_decay)
        check_not_negative(initial_accumulator_value=initial_accumulator_value, eps=eps)
        defaults: dict = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        defaults.update(
            initial_accumulator_value=initial_accumulator_value, foreach=foreach, maximize=maximize
        )
        defaults.update(differentiable=differentiable, fused=fused)
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.start(param)

    def start(self, param: Any) -> dict[str, Any]:
        """What is remembered about a parameter: here from the beginning."""
        state = self.state[param]
        if not state:
            value = self.defaults["initial_accumulator_value"]
            state["step"] = step_count()
            state["sum"] = zeros_for(param, complex(value, value) if param.is_complex() else value)
        return state

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.start(param)
        state["step"] += 1
        grad = -grad if group["maximize"] else grad
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        lr = number_or_scalar(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        param, grad, total = as_real(param), as_real(grad), as_real(state["sum"])
        total.addcmul_(grad, grad, value=1)
        root = total.sqrt() + group["eps"] if group["differentiable"] else total.sqrt().add_(group["eps"])
        param.addcdiv_(grad, root, value=-lr)
