"""Written in place, a rectifier reads the sign of its input off the result; with a negative slope it refuses to.

topic: errors
features: in-place, backward, activation
rule: torch.nn.functional.rrelu
"""
import torch

x = torch.tensor([-1.0, 2.0], requires_grad=True)
for function, options in (
    (torch.nn.functional.rrelu_, (-3.0, 1.0)),
    (torch.nn.functional.rrelu_, (0.0, 1.0)),
    (torch.nn.functional.leaky_relu_, (0.5,)),
):
    y = function(x.clone(), *options)
    print(y)
    try:
        print(torch.autograd.grad(y.sum(), x))
    except RuntimeError as error:
        print(error)
