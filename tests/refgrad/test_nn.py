"""Modules: registration, hooks, state, containers, initialisation, and the layers against PyTorch's."""

import copy
import pickle

import pytest
import torch

import refgrad
from tests.refgrad.against_torch import agree

SCALE = """
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0, 3.0]))
        self.register_buffer("b", torch.tensor([1.0, 1.0]))
        self.register_buffer("kept_out", torch.zeros(1), persistent=False)
    def forward(self, x, y=None):
        return x * self.w + self.b if y is None else x * self.w * y
log = []
def note(tag, result=None):
    return lambda module, *rest: log.append((tag, rest)) or result
m = Scale()
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.tensor([5.0, 6.0], requires_grad=True)
"""


def agree_scale(program: str) -> None:
    agree(SCALE + program + "\nm = repr(m)")


def test_parameters_and_buffers_by_name():
    agree_scale(
        """
parameters = dict(m.named_parameters())
buffers = dict(m.named_buffers())
state = dict(m.state_dict())
version = m.state_dict()._metadata[""]
own = [type(p).__name__ for p in m.parameters()]
"""
    )


REFUSED = [
    "m.w = torch.ones(2)",
    "m.b = 3",
    "m.register_buffer('w', torch.ones(1))",
    "m.register_buffer('a.b', torch.ones(1))",
    "m.register_buffer('', torch.ones(1))",
    "m.register_buffer(3, torch.ones(1))",
    "m.register_buffer('q', 3)",
    "m.register_parameter('q', torch.ones(1))",
    "m.register_parameter('forward', None)",
    "m.register_parameter('z', m.w * 2)",
    "m.add_module('q', 3)",
    "m.add_module('q.r', torch.nn.Identity())",
    "m.add_module('w', torch.nn.Identity())",
    "m.nope",
    "m.train(3)",
    "torch.nn.Module()(1)",
    "torch.nn.Module(1)",
    "torch.nn.Module(a=2)",
    "m.load_state_dict({'w': torch.ones(3), 'x': torch.ones(1)})",
    "m.load_state_dict(3)",
    "m.get_submodule('w')",
    "m.get_parameter('nope')",
    "m.to(torch.int64)",
    "torch.nn.Parameter(torch.ones(2, dtype=torch.int64))",
    "torch.nn.Parameter([1.0])",
    "torch.nn.Dropout(2.0)",
    "torch.nn.Linear(-1, 2)",
    "torch.nn.Hardtanh(1, 0)",
    "torch.nn.Unflatten(1, ('a',))",
    "torch.nn.Bilinear(0, 1, 1)",
    "torch.nn.GroupNorm(2, 3)",
    "torch.nn.Conv2d(3, 4, 2, groups=2)",
    "torch.nn.Conv2d(2, 4, 2, stride=2, padding='same')",
    "torch.nn.Embedding(5, 3, padding_idx=7)",
    "torch.nn.ModuleList([torch.nn.Identity()])(1)",
    "torch.nn.ParameterList([torch.ones(1)])(1)",
    "torch.nn.Sequential(torch.nn.Identity())[5]",
    "torch.nn.Sequential() + 3",
    "torch.nn.ModuleDict([(1, 2, 3)])",
    "torch.nn.ParameterDict()[3]",
    "torch.nn.init.xavier_uniform_(torch.zeros(2))",
    "torch.nn.init.calculate_gain('foo')",
    "torch.nn.init.kaiming_uniform_(torch.zeros(2, 2), mode='x')",
]


@pytest.mark.parametrize("statement", REFUSED)
def test_refused_as_by_torch(statement):
    agree_scale(statement)


def test_assigning_before_init_is_refused():
    for member in ("torch.nn.Parameter(torch.ones(1))", "torch.nn.Identity()"):
        agree(
            "class Bad(torch.nn.Module):\n    def __init__(self):\n        self.member = "
            f"{member}\nBad()\ndel Bad"
        )


def test_hooks_run_in_order_and_change_the_graph():
    agree_scale(
        """
m.register_forward_pre_hook(note("pre"))
m.register_forward_hook(note("forward"))
m.register_full_backward_pre_hook(note("backward pre"))
m.register_full_backward_hook(note("backward"))
out = m(x)
out.sum().backward()
plain = m(torch.ones(2))
plain.sum().backward()
two = m(x, torch.ones(2))
two.sum().backward()
by_name = m(x, y=y)
by_name.sum().backward()
"""
    )


def test_hooks_replace_what_they_see():
    agree_scale(
        """
m.register_forward_pre_hook(lambda module, args: args[0] * 2)
m.register_forward_hook(lambda module, args, out: out * 10)
m.register_full_backward_pre_hook(lambda module, grad: (grad[0] * 10,))
m.register_full_backward_hook(lambda module, grad, out: (grad[0] * 2,))
out = m(x)
out.sum().backward()
n = Scale()
n.register_forward_pre_hook(lambda module, args, kwargs: (args, {"y": y * 3}), with_kwargs=True)
n.register_forward_hook(lambda module, args, kwargs, out: out + kwargs["y"], with_kwargs=True)
other = n(x)
first = Scale()
handle = first.register_forward_hook(note("second"))
first.register_forward_hook(note("first"), prepend=True)
third = first(x)
handle.remove()
fourth = first(x)
del n, first, handle
"""
    )


@pytest.mark.parametrize(
    "hook",
    [
        "m.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)",
        "m.register_full_backward_hook(lambda module, grad, out: ())",
        "m.register_full_backward_pre_hook(lambda module, grad: ())",
        "m.register_full_backward_hook(note('full', (torch.ones(2),)))",
        "m.register_backward_hook(note('old'))",
        "m.register_full_backward_hook(note('full')); m.register_backward_hook(note('old'))",
    ],
)
def test_hooks_that_fail_or_warn(hook):
    agree_scale(f"{hook}\nout = m(x)\nout.sum().backward()\nplain = m(torch.ones(2))\nplain.sum().backward()")


def test_always_called_hook_runs_after_an_error():
    agree_scale(
        """
class Fails(torch.nn.Module):
    def forward(self, x):
        raise ValueError("no")
n = Fails()
n.register_forward_hook(note("skipped"))
n.register_forward_hook(note("always"), always_call=True)
n(x)
del n
"""
    )


def test_hook_on_all_modules():
    agree_scale(
        """
handle = torch.nn.modules.module.register_module_forward_hook(note("everywhere"))
a = m(x)
handle.remove()
b = m(x)
del handle
"""
    )


def test_state_is_loaded_in_place_or_assigned():
    agree_scale(
        """
loaded = repr(m.load_state_dict({"w": torch.ones(2)}, strict=False))
w = m.w
m.load_state_dict({"w": torch.zeros(2), "b": torch.ones(2)})
b = m.b
m.load_state_dict({"w": torch.full((2,), 7.0), "b": torch.ones(2)}, assign=True)
assigned = m.w
same = assigned is w
"""
    )


def test_modules_are_converted_and_cleared():
    agree_scale(
        """
m.w.grad = torch.ones(2)
w = m.w
m.double()
wide = m.w, m.b
same = m.w is w
m.zero_grad(set_to_none=False)
zeros = m.w.grad
m.zero_grad()
none = m.w.grad
m.requires_grad_(False)
frozen = m.w.requires_grad
m.to(torch.float32)
narrow = m.b
"""
    )


def test_containers():
    agree(
        """
nn = torch.nn
s = nn.Sequential(nn.Identity(), nn.Identity())
s.append(nn.Linear(2, 2))
texts = [repr(s), repr(s[0:2]), repr(s + s), repr(s * 2), len(s)]
s.insert(0, nn.Linear(1, 1))
del s[1]
texts.append(repr(s))
l = nn.ModuleList([nn.Identity(), nn.Identity(), nn.Linear(2, 2)])
l.insert(1, nn.Linear(1, 1))
texts += [repr(l), repr(l[1:]), repr(nn.ModuleList())]
d = nn.ModuleDict({"a": nn.Identity(), "b": nn.Linear(1, 1)})
texts += [repr(d), list(d), "a" in d]
p = nn.ParameterList([torch.ones(2), nn.Parameter(torch.ones(2, 3)), 3])
texts += [repr(p), len(p), repr(p[1:])]
q = nn.ParameterDict({"b": torch.ones(2), "a": nn.Parameter(torch.ones(1, 1))})
texts += [repr(q), list(q), q.get("z")]
named = [name for name, _ in nn.Sequential(s, l, d).named_parameters()]
del nn, s, l, d, p, q
"""
    )


def test_parameter_shares_memory_and_counter():
    agree(
        """
base = torch.zeros(4)
p = torch.nn.Parameter(base[:2])
with torch.no_grad():
    p.add_(1.0)
q = torch.nn.Parameter(torch.ones(1), requires_grad=False)
empty = torch.nn.Parameter()
texts = [repr(p), str(q)]
c = torch.complex(torch.ones(1), torch.ones(1))
r = torch.nn.Parameter(c)
buffer = torch.nn.Buffer(torch.ones(2))
is_buffer = isinstance(buffer, torch.nn.Buffer), isinstance(base, torch.nn.Buffer)
"""
    )


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies(copied):
    facts = []
    for engine in (torch, refgrad):
        p = engine.nn.Parameter(engine.tensor([1.0, 2.0]))
        p.grad = engine.ones(2)
        q = copied(p)
        module = copied(engine.nn.Sequential(engine.nn.Linear(2, 2), engine.nn.Identity()))
        facts.append(
            [
                type(q).__name__,
                q.tolist(),
                q.requires_grad,
                q._version,
                q.data_ptr() == p.data_ptr(),
                q.grad is None,
            ]
            + [repr(module), [tuple(p.shape) for p in module.parameters()]]
        )
    assert facts[0] == facts[1]


INITIALISED = [
    "uniform_(t)",
    "normal_(t, 1.0, 2.0)",
    "constant_(t, 0.3)",
    "ones_(t)",
    "zeros_(t)",
    "eye_(t)",
    "xavier_uniform_(t)",
    "xavier_normal_(t, gain=2.0)",
    "kaiming_uniform_(t, a=1.0)",
    "kaiming_normal_(t, nonlinearity='relu', mode='fan_out')",
    "trunc_normal_(t)",
    "trunc_normal_(t, a=1.5, b=3.0)",
    "orthogonal_(t)",
    "orthogonal_(t.t())",
    "dirac_(torch.zeros(4, 2, 3), 2)",
]


@pytest.mark.parametrize("call", INITIALISED)
def test_init(call):
    agree(f"torch.manual_seed(3)\nt = torch.zeros(5, 4)\nr = torch.nn.init.{call}\nafter = torch.rand(1)")


ONE_INPUT = {
    "4, 6": """ReLU() ReLU(True) ReLU6() Sigmoid() Hardsigmoid() Tanh() SiLU() Mish() Hardswish() ELU(0.5)
        CELU(0.7) SELU() GLU() GELU() GELU('tanh') Hardshrink() LeakyReLU(0.2) LogSigmoid() Softplus()
        Softshrink() PReLU() PReLU(6) Softsign() Tanhshrink() Softmin(1) Softmax(1) LogSoftmax(1)
        Threshold(0.1,2.0) Hardtanh() Dropout(0.4) AlphaDropout(0.4) Identity() Flatten(0) Unflatten(1,(2,3))
        LayerNorm(6) LayerNorm((4,6),elementwise_affine=False) LayerNorm(6,bias=False) BatchNorm1d(6)
        BatchNorm1d(6,momentum=None) BatchNorm1d(6,affine=False,track_running_stats=False)""",
    "2, 3, 4": "BatchNorm1d(3) Dropout1d(0.4)",
    "2, 3, 2, 2": "BatchNorm2d(3) Softmax2d() Dropout2d(0.4) FeatureAlphaDropout(0.3)",
    "2, 3, 4, 4": "BatchNorm1d(3)",
    "2, 4, 4": "InstanceNorm1d(3,affine=True)",
}


@pytest.mark.parametrize(
    "shape, layer", [(s, one) for s, names in ONE_INPUT.items() for one in names.split()]
)
def test_layers_of_one_input(shape, layer):
    agree(
        f"""
torch.manual_seed(3)
x = torch.randn({shape}, requires_grad=True)
m = torch.nn.{layer}
y = m(x * 1.0)
(y * torch.arange(float(y.numel())).reshape(y.shape)).sum().backward()
parameters = list(m.parameters())
buffers = list(m.buffers())
text = repr(m)
z = m.eval()(x.detach()).detach()
m = 0
"""
    )


TWO_INPUTS = {
    "x, t": """L1Loss() MSELoss() MSELoss(reduction='sum') MSELoss(reduce=False) SmoothL1Loss(beta=0.5)
        HuberLoss(delta=0.5)""",
    "x, t.abs()": "PoissonNLLLoss()",
    "x.log_softmax(1), t.softmax(1)": "KLDivLoss(reduction='batchmean')",
    "x.sigmoid(), t.sigmoid()": "BCELoss()",
    "x, t.sigmoid()": "BCEWithLogitsLoss() BCEWithLogitsLoss(pos_weight=torch.full((6,),2.0))",
    "x, t.sign()": "HingeEmbeddingLoss() SoftMarginLoss()",
    "x, torch.tensor([0, 1, 2, 5])": """NLLLoss() CrossEntropyLoss()
        CrossEntropyLoss(torch.ones(6),label_smoothing=0.1)""",
    "x, t, t.sign()": "MarginRankingLoss()",
    "x, t, x * 2": "TripletMarginLoss() TripletMarginWithDistanceLoss()",
    "x, t, torch.ones(4, 6)": "GaussianNLLLoss()",
    "x, t, torch.tensor([1.0, -1.0, 1.0, -1.0])": "CosineEmbeddingLoss(margin=0.1)",
}


@pytest.mark.parametrize(
    "inputs, loss", [(i, one) for i, names in TWO_INPUTS.items() for one in names.split()]
)
def test_losses(inputs, loss):
    agree(
        f"""
torch.manual_seed(3)
x = torch.randn(4, 6, requires_grad=True)
t = torch.randn(4, 6)
m = torch.nn.{loss}
y = m({inputs})
y.sum().backward()
buffers = list(m.buffers())
m = repr(m)
"""
    )


@pytest.mark.parametrize(
    "layer",
    ["Linear(6, 3)", "Linear(6, 3, bias=False)", "Bilinear(2, 3, 4)", "Conv2d(2, 4, (2, 1), groups=2)"],
)
def test_default_initialisation(layer):
    program = f"m = torch.nn.{layer}\np = list(m.parameters())\nm = repr(m)\nafter = torch.rand(1)"
    agree(f"torch.manual_seed(3)\n{program}")


def test_clipping_and_vectors():
    agree(
        """
torch.manual_seed(3)
m = torch.nn.Linear(2, 2)
utils = torch.nn.utils
for p in m.parameters():
    p.grad = torch.ones(p.shape) * 3
norm = utils.clip_grad_norm_(m.parameters(), 1.0)
clipped = [p.grad for p in m.parameters()]
largest = utils.clip_grad_norm_(m.weight, 0.1, norm_type=float("inf"))
utils.clip_grad_value_(m.parameters(), 0.05)
bounded = [p.grad for p in m.parameters()]
vector = utils.parameters_to_vector(m.parameters())
utils.vector_to_parameters(torch.arange(6.0), m.parameters())
shown = list(m.parameters())
m.weight.grad = torch.full((2, 2), nan)
utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)
none = utils.clip_grad_norm_([], 1.0)
m = utils = 0
"""
    )
