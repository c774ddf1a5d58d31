"""Adafactor."""

from typing import Any

from refgrad import dtypes
from refgrad.optim.optimizer import Optimizer, number_or_scalar, step_count, zeros_for
from refgrad.tensor import Tensor


def check_at_least(value: Any, low: float, text: str) -> None:
    """Refuse an option below a bound.

    Raises:
        ValueError: with the text, and the value behind it.
    """
    if not value >= low:
        raise ValueError(f"{text} but is: {value}")


class Adafactor(Optimizer):
    """Steps scaled by squares that are kept by row and by column (Shazeer and Stern).

    Raises:
        ValueError: an option is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: Any = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ):
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_at_least(lr, 0.0, "Learning rate should be >= 0")
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        check_at_least(0.0 if eps[0] is None else eps[0], 0.0, "epsilon1 should be >= 0")
        check_at_least(eps[1], 0.0, "epsilon2 should be >= 0")
        check_at_least(d, 1.0, "Clipping threshold d should be >= 1")
        check_at_least(weight_decay, 0.0, "weight_decay should be >= 0")
        defaults: dict = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d}
        defaults.update(weight_decay=weight_decay, foreach=foreach, maximize=maximize)
        super().__init__(params, defaults)

    def start(self, param: Any, grad: Any) -> dict[str, Any]:
        """What is remembered about a parameter, made at its first step."""
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = self.state[param]
        if not state:
            state["step"] = step_count()
            if grad.dim() > 1:
                *lead, rows, columns = grad.shape
                state["row_var"] = grad.new_zeros((*lead, rows, 1))
                state["col_var"] = grad.new_zeros((*lead, 1, columns))
            else:
                state["variance"] = zeros_for(grad)
        return state

    def update(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Update one parameter."""
        state = self.start(param, grad)
        grad = -grad if group["maximize"] else grad
        first = next(p for p in group["params"] if p.grad is not None)
        tiny, small = group["eps"]
        tiny = float(dtypes.finfo(first.dtype).eps) if tiny is None else tiny
        lr = number_or_scalar(group["lr"])
        state["step"] += 1
        count = state["step"].item()
        size = max(small, param.norm(2).item() / param.numel() ** 0.5) * min(lr, 1 / count**0.5)
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        step = self.squares(state, grad, count ** group["beta2_decay"], tiny)
        step = step.clamp_(min=tiny * tiny).rsqrt_().mul_(grad)
        excess = max(1.0, step.norm(2).item() / (step.numel() ** 0.5 * group["d"]))
        param.add_(step, alpha=-size / excess)

    def squares(self, state: dict[str, Any], grad: Any, share: float, tiny: float) -> Any:
        """The running average of squared gradients, estimated from rows and columns where there are any."""
        if grad.dim() <= 1:
            state["variance"].lerp_(grad * grad, share)
            return state["variance"].clone()
        for name, dim in (("row_var", -1), ("col_var", -2)):
            mean = grad.norm(dim=dim, keepdim=True).square_().div_(grad.size(dim))
            state[name].lerp_(mean, share)
        estimate = state["row_var"] @ state["col_var"]
        return estimate.div_(state["row_var"].mean(dim=-2, keepdim=True).clamp_(min=tiny))
