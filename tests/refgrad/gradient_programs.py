"""Programs that take first and second derivatives of an expression, for tests that run them in both "
"engines."""

import numpy as np


def leaf(shape: tuple, seed: int, dtype: str = "float64") -> str:
    """The text of a leaf that requires grad, with small dyadic numbers."""
    numbers = np.random.RandomState(seed).randint(-8, 9, size=shape) / 4
    numbers = numbers + np.random.RandomState(seed + 1).randint(1, 4, size=shape) / 16
    return f"torch.tensor({numbers.tolist()}, dtype=torch.{dtype}).reshape({shape!r}).requires_grad_()"


def gradients(expression: str, second: bool = True, **inputs: object) -> str:
    """The program: inputs are shapes of leaves, or texts; `F.` stands for `torch.nn.functional.`."""
    lines, names = [], []
    for number, (name, value) in enumerate(inputs.items()):
        text = leaf(value, number) if isinstance(value, tuple) else str(value)
        lines.append(f"{name} = {text}")
        if "requires_grad_" in text:
            names.append(name)
    wanted = f"[{', '.join(names)}]"
    lines += [f"y = {expression}", "w = (y.detach() * 0.5 + 0.25).contiguous()"]
    if second:
        lines.append(
            f"g = torch.autograd.grad((y * w).sum(), {wanted}, create_graph=True, allow_unused=True)"
        )
        terms = "sum((v * v * 0.5 + v).sum() for v in g if v is not None and v.requires_grad)"
        lines.append(
            f"h = [None if v is None else v.clone() for v in torch.autograd.grad({terms}, {wanted}, "
            "allow_unused=True, retain_graph=True)] if any(v is not None and v.requires_grad for v in g) "
            "else None"
        )
    lines.append("(y * w).sum().backward()")
    return "\n".join(lines).replace("F.", "torch.nn.functional.")
