"""The private functions that count writes take tensors and whole numbers from zero on, and nothing else.

topic: engine
features: private, version-counter, argument-error, execution-order
rule: https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.graph.increment_version
source: probed
"""
import torch

x = torch.ones(1)
y = torch.ones(2)
set_versions = torch._C._autograd._unsafe_set_version_counter
count = torch.autograd.graph.increment_version
set_versions((x,), (-1,))  # raises RuntimeError
set_versions((x,), (1, 2))  # raises RuntimeError
set_versions(x, (1,))  # raises TypeError
set_versions((x,), 1)  # raises TypeError
set_versions((3,), (1,))  # raises TypeError
set_versions((x,), (1.5,))  # raises TypeError
set_versions((x, y), (3, -2))  # raises RuntimeError
print(x._version, y._version)
count(3)  # raises RuntimeError
count(None)  # raises RuntimeError
count([x, 3])  # raises RuntimeError
count("ab")  # raises RuntimeError
count([[x]])  # raises RuntimeError
count({x: 1})
print(x._version)
with torch.inference_mode():
    z = torch.ones(1)
count([z, x])
print(x._version)
set_versions((z,), (1,))  # raises RuntimeError
will_run = torch._C._will_engine_execute_node
will_run(x)  # raises RuntimeError
will_run(None)  # raises RuntimeError
will_run(3)  # raises RuntimeError
will_run(torch.ones(1, requires_grad=True).exp().grad_fn)  # raises RuntimeError
