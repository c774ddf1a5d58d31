"""setup_context may not save an input that forward returned as it is: the output is to be a view of its own.

topic: functions
features: custom-function, setup_context, save_for_backward, save_for_forward, forward-mode, func
rule: https://docs.pytorch.org/docs/stable/notes/extending.html#how-to-use
source: probed
"""
import torch


def function(forward, save):
    def setup_context(ctx, inputs, output):
        save(ctx, inputs[0], output)

    methods = {"forward": forward, "setup_context": setup_context, "backward": lambda ctx, g: g}
    return type("F", (torch.autograd.Function,), {name: staticmethod(of) for name, of in methods.items()})


def nothing(ctx, x, y):
    pass


def the_input(ctx, x, y):
    ctx.save_for_backward(x)


def the_output(ctx, x, y):
    ctx.save_for_backward(y)


def for_forward(ctx, x, y):
    ctx.save_for_forward(x)


def not_differentiable(ctx, x, y):
    ctx.mark_non_differentiable(y)
    ctx.save_for_backward(x)


def dirty(ctx, x, y):
    ctx.mark_dirty(x)
    ctx.save_for_backward(x)


def the_same(x):
    return x


def a_view(x):
    return x.view_as(x)


x = torch.ones(2, requires_grad=True)
z = torch.ones(2)
function(the_same, nothing).apply(x)
function(the_same, the_input).apply(x)  # raises RuntimeError
function(the_same, the_input).apply(z)  # raises RuntimeError
function(the_same, the_output).apply(x * 2)  # raises RuntimeError
function(the_same, for_forward).apply(x)  # raises RuntimeError
function(the_same, not_differentiable).apply(x)
function(the_same, not_differentiable).apply(z)  # raises RuntimeError
function(the_same, dirty).apply(x * 2)
function(a_view, the_input).apply(x)
function(a_view, for_forward).apply(z)
function(lambda x: (x, x * 2), the_input).apply(x)  # raises RuntimeError
function(lambda x: (x,), the_input).apply(x)  # raises RuntimeError
with torch.no_grad():
    function(the_same, the_input).apply(x)
f = function(the_same, the_input)
torch.func.grad(lambda x: f.apply(x).sum())(z)  # raises RuntimeError
