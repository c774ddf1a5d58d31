"""What a script sets for the whole process is told again; there is no CUDA.

topic: modes
features: settings, storage, device
rule: torch.use_deterministic_algorithms
source: probed
"""
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
v = y[:1]
y.apply_(lambda v: v)  # raises RuntimeError
y.detach().apply_(lambda v: 'a')  # raises TypeError
y.detach().apply_(3)  # raises argument
y.detach().map_(torch.ones(3), lambda a, b: a)  # raises shape
y.detach().map_(3, lambda a, b: a)  # raises argument
y.map_(y, lambda a, b: a)  # raises RuntimeError
a = torch.ones(2).apply_(lambda v: v * 2)
b = torch.ones(2).map_(torch.ones(2, dtype=torch.float64), lambda a, b: a + b)  # raises TypeError
c = torch.ones(2).map_(torch.ones(1), lambda a, b: a + b)
d = torch.ones(2, dtype=torch.int64).apply_(lambda v: 2.5)
torch.ones(2).pin_memory()  # raises RuntimeError
print(v.is_set_to(y[:1]), y.is_set_to(y.view(2)), x.is_cuda, x.is_sparse, x.name, x.get_device(), x.is_shared(), x.is_meta)
print(x.share_memory_() is x, x.is_shared())
s = torch.arange(3.0).storage()
print(s.size(), len(s), s.tolist(), s[1], s.nbytes(), s.dtype)
print(torch.ones(2).untyped_storage().tolist(), torch.is_storage(s))
print(torch.inf, torch.nan, torch.pi, torch.e, torch.newaxis)
torch.set_num_threads(0)  # raises RuntimeError
torch.set_num_threads('a')  # raises RuntimeError
torch.use_deterministic_algorithms(True)
print(torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode())
torch.set_deterministic_debug_mode("x")  # raises RuntimeError
torch.set_deterministic_debug_mode(7)  # raises RuntimeError
torch.set_deterministic_debug_mode("warn")
print(torch.is_deterministic_algorithms_warn_only_enabled())
torch.set_deterministic_debug_mode("default")
print(torch.typename(x), torch.typename(3), torch.typename(torch.nn.Linear), torch.typename([]), torch.get_default_device())
torch.set_default_device("foo")  # raises RuntimeError
torch.set_default_device("cpu")
torch.set_default_tensor_type("torch.DoubleTensor")
print(torch.ones(1).dtype)
torch.set_default_tensor_type(torch.FloatTensor)
print(torch.get_float32_matmul_precision(), torch.set_flush_denormal(False) is True or True)
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.backends.cudnn.enabled, torch.backends.mps.is_available())
torch.backends.cudnn.deterministic = True
torch.cuda.manual_seed_all(0)
torch.cuda.current_device()  # raises AssertionError
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(torch.ones(2, device=device), torch.ones(2, 3).t().dim_order())
