"""Adam, and AdamW with its decoupled weight decay."""

from typing import Any

from refgrad.op import calls
from refgrad.optim.optimizer import (
    Optimizer,
    as_real,
    check_capturable,
    check_fused,
    check_learning_rate,
    check_not_negative,
    number_or_scalar,
    step_count,
    zeros_for,
)
from refgrad.tensor import Tensor


class Adam(Optimizer):
    """Steps scaled by running averages of the gradient and its square (Kingma and Ba).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ):
        if isinstance(lr, Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_learning_rate(lr)
        check_not_negative(eps=eps)
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        check_not_negative(weight_decay=weight_decay)
        kinds = [
            float if isinstance(beta, float) else Tensor if isinstance(beta, Tensor) else None
            for beta in betas
        ]
        if kinds[0] is None or kinds[0] is not kinds[1]:
            raise ValueError("betas must be either both floats or both Tensors")
        betas = tuple(number_or_scalar(beta) for beta in betas)
        defaults: dict = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        defaults.update(foreach=foreach, capturable=capturable, differentiable=differentiable, fused=fused)
        defaults.update(decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)

    def start(self, param: Any, group: dict[str, Any]) -> dict[str, Any]:
        """What is remembered about a parameter, made at its first step."""
        state = self.state[param]
        if not state:
            state["step"] = step_count()
            state["exp_avg"] = zeros_for(param)
            state["exp_avg_sq"] = zeros_for(param)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_for(param)
        return state

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.start(param, group)
        lr, (beta1, beta2) = number_or_scalar(group["lr"]), group["betas"]
        check_capturable(group)
        grad = -grad if group["maximize"] else grad
        state["step"] += 1
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, average, squares = map(as_real, (param, grad, state["exp_avg"], state["exp_avg_sq"]))
        average.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        count = state["step"] if group["differentiable"] or group["capturable"] else state["step"].item()
        step_size = lr / (1 - beta1**count)
        root = (1 - beta2**count) ** 0.5
        if group["amsgrad"]:
            largest = as_real(state["max_exp_avg_sq"])
            largest.copy_(calls.maximum(largest, squares))
            squares = largest
        if isinstance(count, Tensor):
            denominator = (squares.sqrt() / (root * -step_size)).add_(group["eps"] / -step_size)
            param.addcdiv_(average.clone(), denominator)
        else:
            denominator = (squares.sqrt() / root).add_(group["eps"])
            param.addcdiv_(average, denominator, value=-step_size)


class AdamW(Adam):
    """Adam with a weight decay that does not pass through its averages (Loshchilov and Hutter)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ):
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
