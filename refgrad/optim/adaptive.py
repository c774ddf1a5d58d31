"""Adadelta, and the kin of Adam: Adamax, NAdam, RAdam."""

from typing import Any

from refgrad.op import calls
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


def check_betas(betas: Any) -> None:
    """Refuse shares of the past that are none.

    Raises:
        ValueError: with PyTorch's text.
    """
    for place in (0, 1):
        if not 0.0 <= betas[place] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {betas[place]}")


class Adadelta(Optimizer):
    """Steps scaled by running averages of squared gradients and squared steps (Zeiler).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ):
        check_learning_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)
        defaults: dict = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        defaults.update(maximize=maximize, capturable=capturable, foreach=foreach)
        defaults.update(differentiable=differentiable)
        super().__init__(params, defaults)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        if not state:
            state.update(step=step_count(), square_avg=zeros_for(param), acc_delta=zeros_for(param))
        check_capturable(group, xla=False)
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        grad = -grad if group["maximize"] else grad
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        grad, squares, steps = map(as_real, (grad, state["square_avg"], state["acc_delta"]))
        squares.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = squares.add(eps).sqrt_()
        delta = steps.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(root).mul_(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        delta = calls.view_as_complex(delta) if param.is_complex() else delta
        param.add_(delta, alpha=-number_or_scalar(group["lr"]))


class Adamax(Optimizer):
    """Adam with the maximum norm in place of the square (Kingma and Ba).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ):
        check_learning_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        defaults: dict = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        defaults.update(foreach=foreach, maximize=maximize)
        defaults.update(differentiable=differentiable, capturable=capturable)
        super().__init__(params, defaults)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        if not state:
            state.update(step=step_count(), exp_avg=zeros_for(param), exp_inf=zeros_for(param))
        grad = -grad if group["maximize"] else grad
        check_capturable(group)
        beta1, beta2 = group["betas"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, average, largest = map(as_real, (param, grad, state["exp_avg"], state["exp_inf"]))
        average.lerp_(grad, 1 - beta1)
        decayed, size = largest.mul_(beta2), grad.abs().add_(group["eps"])
        if group["differentiable"]:
            both = calls.cat([decayed.unsqueeze(0), size.unsqueeze_(0)], 0)
            largest.copy_(both.amax(0, keepdim=False))
        else:
            largest.copy_(calls.maximum(decayed, size))
        rate = number_or_scalar(group["lr"]) / (1 - beta1 ** state["step"].item())
        param.addcdiv_(average, largest, value=-rate)


class WithMoments(Optimizer):
    """Base of those that keep averages of the gradient and its square, as Adam does."""

    def _options(self, lr: Any, betas: Any, eps: float, weight_decay: float, **others: Any) -> dict:
        """The options, in PyTorch's order.

        Raises:
            ValueError: one is out of range.
        """
        check_learning_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        return {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, **others}

    def _decayed(self, param: Any, grad: Any, group: dict[str, Any]) -> Any:
        """Let weights decay: the parameter itself, or by way of the gradient, which is returned."""
        if group["weight_decay"] == 0:
            return grad
        if group["decoupled_weight_decay"]:
            param.mul_(1 - number_or_scalar(group["lr"]) * group["weight_decay"])
            return grad
        return grad.add(param, alpha=group["weight_decay"])

    def _averaged(self, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> tuple:
        """The averages with this gradient in them."""
        beta1, beta2 = group["betas"]
        average, squares = as_real(state["exp_avg"]), as_real(state["exp_avg_sq"])
        average.lerp_(grad, 1 - beta1)
        squares.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        return average, squares


class NAdam(WithMoments):
    """Adam with Nesterov's momentum (Dozat).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: Any = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        options = self._options(lr, betas, eps, weight_decay, momentum_decay=momentum_decay)
        check_not_negative(momentum_decay=momentum_decay)
        options.update(decoupled_weight_decay=decoupled_weight_decay, maximize=maximize, foreach=foreach)
        options.update(capturable=capturable, differentiable=differentiable)
        super().__init__(params, options)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        if not state:
            state.update(step=step_count(), mu_product=step_count(1))
            state.update(exp_avg=zeros_for(param), exp_avg_sq=zeros_for(param))
        param, grad = as_real(param), as_real(-grad if group["maximize"] else grad)
        check_capturable(group, "params, mu_products, and" if group["foreach"] else "params, mu_products and")
        lr, eps, (beta1, beta2) = number_or_scalar(group["lr"]), group["eps"], group["betas"]
        state["step"] += 1
        count = state["step"].item()
        grad = self._decayed(param, grad, group)
        momentum, after = (
            beta1 * (1.0 - 0.5 * 0.96 ** (number * group["momentum_decay"])) for number in (count, count + 1)
        )
        product = state["mu_product"]
        product *= momentum
        average, squares = self._averaged(grad, state, group)
        root = squares.div(1 - beta2**count).sqrt()
        if group["differentiable"]:
            root = root.add(eps)
            grad = grad * (-lr * (1.0 - momentum) / (1.0 - product))
            average = average * (-lr * after / (1.0 - product * after))
            param.addcdiv_(grad, root)
            param.addcdiv_(average, root)
        else:
            done = product.item()
            root.add_(eps)
            param.addcdiv_(grad, root, value=-lr * (1.0 - momentum) / (1.0 - done))
            param.addcdiv_(average, root, value=-lr * after / (1.0 - done * after))


class RAdam(WithMoments):
    """Adam that steps without the average square until that can be trusted (Liu and others).

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
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ):
        options = self._options(lr, betas, eps, weight_decay, maximize=maximize, foreach=foreach)
        options.update(capturable=capturable, decoupled_weight_decay=decoupled_weight_decay)
        options.update(differentiable=differentiable)
        super().__init__(params, options)

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.state[param]
        if not state:
            state.update(step=step_count(), exp_avg=zeros_for(param), exp_avg_sq=zeros_for(param))
        grad = -grad if group["maximize"] else grad
        check_capturable(group)
        lr, (beta1, beta2) = number_or_scalar(group["lr"]), group["betas"]
        param, grad = as_real(param), as_real(grad)
        state["step"] += 1
        count = state["step"].item()
        grad = self._decayed(param, grad, group)
        average, squares = self._averaged(grad, state, group)
        correction = 1 - beta2**count
        step = average / (1 - beta1**count) * lr
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * count * (beta2**count) / correction
        if length > 5.0:
            root = squares.sqrt()
            root = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
            trust = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            step = step * (correction**0.5 / root) * trust**0.5
        param.add_(step, alpha=-1.0)
