"""UndefinedGrad sends no gradient on, yet what lies below it runs; DelayedError raises in backward; a hook
can ask which nodes the run has still to visit.

topic: engine
features: private, undefined-grad, delayed-error, execution-order
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
source: probed
"""
import torch
x = torch.ones(2, requires_grad=True)
U = torch._C._functions.UndefinedGrad
y = U()(x * 2)
print(y, y.grad_fn.name(), y.grad_fn.next_functions[0][0].name(), y._is_view())
z = x * 2
w = U()(z)
z.register_hook(lambda g: print("hook", g))
w.sum().backward()
print(x.grad)
D = torch._C._functions.DelayedError
r = D("msg here", 2)(x * 2, x * 3)
print(type(r), r[1].output_nr)
r = D("msg here", 1)(x * 2)
r.sum().backward()  # raises RuntimeError
D("a", 2)(x)  # raises argument
U()(3)  # raises argument
U()(x, x)  # raises argument
U()()  # raises argument
D()  # raises RuntimeError
D(1, 1)  # raises RuntimeError
U(1)  # raises RuntimeError
U()(torch.ones(2))
torch._C._autograd._saved_tensors_hooks_is_enabled()
print(torch.autograd.is_multithreading_enabled())
with torch.autograd.set_multithreading_enabled(False):
    print(torch.autograd.is_multithreading_enabled())
print(torch.autograd.is_multithreading_enabled())
with torch.autograd._force_original_view_tracking(True):
    print(torch.autograd.is_view_replay_enabled())
print(torch.autograd.is_view_replay_enabled())
torch._C._current_graph_task_execution_order()  # raises RuntimeError
t = torch.ones(2)
torch._C._autograd._unsafe_set_version_counter((t,), (7,))
print(t._version, torch._C.is_grad_enabled())
def h(*a):
    print([n.name() for n in torch._C._current_graph_task_execution_order()], torch._C._autograd._get_current_graph_task_keep_graph())
y = (x * 2).exp()
y.register_hook(h)
y.sum().backward()  # raises RuntimeError
y = ((x * 2).exp() + x.sin() * x).sum()
y.register_hook(h)
with torch.autograd.set_multithreading_enabled(False):
    y.backward(retain_graph=True)
with torch.autograd.set_multithreading_enabled(False):
    torch.autograd.grad(y, x, retain_graph=True)
w = torch.ones(2, requires_grad=True)
k = (x * 2).exp()
y = (k * w).sum()
y.register_hook(h)
with torch.autograd.set_multithreading_enabled(False):
    torch.autograd.grad(y, [k, w], retain_graph=True)
with torch.autograd.set_multithreading_enabled(False):
    torch.autograd.grad(y, k)
ref = torch._C._WeakTensorRef(t)
print(ref.expired())
del t
print(ref.expired())
s = (x * x).grad_fn._raw_saved_self
print(type(s) is torch.autograd.SavedTensor)
print(torch.autograd.Variable(torch.ones(2), requires_grad=True))
print(D("a", 1)(x).grad_fn.name())
