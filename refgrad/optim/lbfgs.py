"""L-BFGS, with a line search on demand.

*Point*: a place on the line from the current parameters in a direction: how far, the loss there, the
gradient, and its slope along the line.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from refgrad.autograd import enable_grad, no_grad
from refgrad.op import calls
from refgrad.optim.optimizer import Optimizer, as_real, check_learning_rate, number_or_scalar

REMEMBERED = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")


class LBFGS(Optimizer):
    """Steps along a direction that the last gradients and steps suggest (Liu and Nocedal).

    Raises:
        ValueError: an option is out of range, or there is more than one group.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ):
        check_learning_rate(lr)
        defaults: dict = {"lr": lr, "max_iter": max_iter}
        defaults["max_eval"] = max_iter * 5 // 4 if max_eval is None else max_eval
        defaults.update(tolerance_grad=tolerance_grad, tolerance_change=tolerance_change)
        defaults.update(history_size=history_size, line_search_fn=line_search_fn)
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]
        self._numel_cache = None

    def _gather_flat_grad(self) -> Any:
        """All gradients as one real vector; zeros where there is none."""
        flat = []
        for param in self._params:
            grad = param.new_zeros(param.numel()) if param.grad is None else param.grad.view(-1)
            flat.append(as_real(grad).view(-1))
        return calls.cat(flat, 0)

    def _add_grad(self, step_size: Any, update: Any) -> None:
        """Move all parameters along a flat vector."""
        start = 0
        for param in self._params:
            param = as_real(param)
            part = update[start : start + param.numel()]
            param.add_(part.view_as(param), alpha=step_size)
            start += param.numel()

    def _evaluate(self, closure: Callable, origin: list, distance: Any, direction: Any) -> "Point":
        """The point so far along a direction; the parameters return to where they were."""
        self._add_grad(distance, direction)
        loss = float(closure())
        gradient = self._gather_flat_grad()
        for param, value in zip(self._params, origin, strict=True):
            param.copy_(value)
        return Point(distance, loss, gradient, gradient.dot(direction))

    @no_grad()
    def step(self, closure: Callable) -> Any:
        """Take up to `max_iter` steps; `closure` computes loss and gradients, and returns the loss."""
        closure = enable_grad()(closure)
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        gradient = self._gather_flat_grad()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first_loss
        memory = {name: state.get(name) for name in REMEMBERED}
        self._iterate(closure, group, state, memory, float(first_loss), gradient)
        state.update(memory)
        return first_loss

    def _iterate(
        self, closure: Callable, group: dict, state: dict, memory: dict, loss: float, gradient: Any
    ) -> None:
        """Step until a tolerance or a limit is reached; `memory` is brought up to date."""
        evaluations = iterations = 0
        lr, last = number_or_scalar(group["lr"]), group["max_iter"]
        while iterations < last:
            iterations += 1
            state["n_iter"] += 1
            is_first = state["n_iter"] == 1
            direction = memory["d"] = self._direction(state, memory, gradient, group["history_size"])
            if memory["prev_flat_grad"] is None:
                memory["prev_flat_grad"] = gradient.clone()
            else:
                memory["prev_flat_grad"].copy_(gradient)
            before = memory["prev_loss"] = loss
            memory["t"] = min(1.0, 1.0 / gradient.abs().sum()) * lr if is_first else lr
            slope = gradient.dot(direction)
            if slope > -group["tolerance_change"]:
                break
            used = 0
            if group["line_search_fn"] is not None:
                left = group["max_eval"] - 1 - evaluations
                here = Point(0, loss, gradient, slope)
                point, used = self._search(closure, group, direction, memory["t"], here, left)
                memory["t"], loss, gradient, _ = point
                self._add_grad(memory["t"], direction)
            else:
                self._add_grad(memory["t"], direction)
                if iterations != last:
                    loss, used = float(closure()), 1
                    gradient = self._gather_flat_grad()
            evaluations += used
            state["func_evals"] += used
            if iterations == last or evaluations + 1 >= group["max_eval"]:
                break
            if gradient.abs().max() <= group["tolerance_grad"]:
                break
            if direction.mul(memory["t"]).abs().max() <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break

    def _search(
        self, closure: Callable, group: dict, direction: Any, distance: Any, here: "Point", limit: int
    ) -> tuple:
        """The point that the line search finds, and how often it evaluated.

        Raises:
            RuntimeError: another search than "strong_wolfe" is asked for.
        """
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [param.clone() for param in self._params]
        search = Search(lambda far: self._evaluate(closure, origin, far, direction), here, limit)
        point = search.run(distance, direction.abs().max())
        return point, search.evaluations

    def _direction(self, state: dict, memory: dict, gradient: Any, size: int) -> Any:
        """The direction to step in, from the gradients and steps remembered, this one included."""
        if state["n_iter"] == 1:
            memory.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return gradient.neg()
        changes, steps, inverses = memory["old_dirs"], memory["old_stps"], memory["ro"]
        change = gradient.sub(memory["prev_flat_grad"])
        step = memory["d"].mul(memory["t"])
        curvature = change.dot(step)
        if curvature > 1e-10:
            for kept, new in ((changes, change), (steps, step), (inverses, 1.0 / curvature)):
                if len(kept) == size:
                    kept.pop(0)
                kept.append(new)
            memory["H_diag"] = curvature / change.dot(change)
        shares = state.setdefault("al", [None] * size)
        direction = gradient.neg()
        for i in reversed(range(len(changes))):
            shares[i] = steps[i].dot(direction) * inverses[i]
            direction.add_(changes[i], alpha=-shares[i])
        direction = direction.mul(memory["H_diag"])
        for i in range(len(changes)):
            back = changes[i].dot(direction) * inverses[i]
            direction.add_(steps[i], alpha=shares[i] - back)
        return direction


class Point(NamedTuple):
    """A place on the line."""

    far: Any
    loss: float
    gradient: Any
    slope: Any


def lowest_between(one: Point, other: Point, bounds: tuple | None = None) -> Any:
    """Where the cubic through two points, with their slopes, is lowest within bounds."""
    left, right = (one, other) if one.far <= other.far else (other, one)
    low, high = bounds or (left.far, right.far)
    secant = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.far - other.far)
    square = secant**2 - one.slope * other.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square.sqrt()
    share = (right.slope + root - secant) / (right.slope - left.slope + 2 * root)
    return min(max(right.far - (right.far - left.far) * share, low), high)


class Search:
    """A line search for the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6)."""

    def __init__(self, evaluate: Callable, origin: Point, limit: int):
        self.evaluate = evaluate
        self.origin = origin
        self.limit = limit
        self.evaluations = 0
        self.rounds = 0

    def at(self, far: Any) -> Point:
        """Evaluate a point."""
        self.evaluations += 1
        return self.evaluate(far)

    def is_too_high(self, point: Point) -> bool:
        """Whether the loss has not fallen enough for the distance."""
        return point.loss > self.origin.loss + 1e-4 * point.far * self.origin.slope

    def is_flat(self, point: Point) -> bool:
        """Whether the slope has become small."""
        return abs(point.slope) <= -0.9 * self.origin.slope

    def run(self, far: Any, length: Any) -> Point:
        """Find a point, beginning with one so far away; `length` is the largest step of an element."""
        bracket, found = self.bracket(far)
        return bracket[0] if found else self.narrow(bracket, length)

    def bracket(self, far: Any) -> tuple[list[Point], bool]:
        """Two points with a good one between them, or a good one itself."""
        before, point = self.origin, self.at(far)
        while self.rounds < self.limit:
            if self.is_too_high(point) or (self.rounds > 1 and point.loss >= before.loss):
                return [before, point], False
            if self.is_flat(point):
                return [point], True
            if point.slope >= 0:
                return [before, point], False
            bounds = (point.far + 0.01 * (point.far - before.far), point.far * 10)
            far = lowest_between(before, point, bounds)
            before, point = point, self.at(far)
            self.rounds += 1
        return [self.origin, point], False

    def narrow(self, bracket: list[Point], length: Any) -> Point:
        """Close the bracket in on a good point; its lower end when none is found."""
        low, high = bracket if bracket[0].loss <= bracket[1].loss else bracket[::-1]
        stuck = False
        while self.rounds < self.limit:
            if abs(high.far - low.far) * length < 1e-9:
                break
            far, stuck = self.inside(bracket, stuck)
            point = self.at(far)
            self.rounds += 1
            place = [end is high for end in bracket].index(True)
            if self.is_too_high(point) or point.loss >= low.loss:
                bracket[place] = point
                low, high = bracket if bracket[0].loss <= bracket[1].loss else bracket[::-1]
                continue
            if self.is_flat(point):
                return point
            if point.slope * (high.far - low.far) >= 0:
                bracket[place] = high = low
            bracket[1 - place] = low = point
        return low

    def inside(self, bracket: list[Point], stuck: bool) -> tuple[Any, bool]:
        """The distance to try next, kept off the ends the second time that it comes near one."""
        far = lowest_between(*bracket)
        first, last = (pick(bracket[0].far, bracket[1].far) for pick in (min, max))
        margin = 0.1 * (last - first)
        if min(last - far, far - first) >= margin:
            return far, False
        if not (stuck or far >= last or far <= first):
            return far, True
        return (last - margin if abs(far - last) < abs(far - first) else first + margin), False
