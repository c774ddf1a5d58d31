"""Random ops draw PyTorch's stream, element for element, and leave it where PyTorch leaves it."""

import pytest

from tests.refgrad.against_torch import agree

DRAWS = [
    "torch.rand(3)",
    "torch.rand(2, 3, dtype=torch.float64)",
    "torch.rand((2, 2), dtype=torch.float16)",
    "torch.rand(3, dtype=torch.complex64, requires_grad=True)",
    "torch.rand(())",
    "torch.rand(0)",
    "torch.randn(3)",
    "torch.randn(4, 4)",
    "torch.randn(37)",
    "torch.randn(37, dtype=torch.float64)",
    "torch.randn(5, 4, dtype=torch.complex64)",
    "torch.randint(10, (5,))",
    "torch.randint(-4, 9, (2, 3), dtype=torch.int8)",
    "torch.randint(high=7, size=(3,), dtype=torch.float32, requires_grad=True)",
    "torch.randperm(9)",
    "torch.randperm(5, dtype=torch.float64)",
    "torch.rand_like(torch.zeros(2, 3).t())",
    "torch.randn_like(torch.zeros(2, 3).t(), memory_format=torch.contiguous_format)",
    "torch.randn_like(torch.zeros(5, 4).t())",
    "torch.randint_like(torch.zeros(2, 3), 2, 5, dtype=torch.int64)",
    "torch.bernoulli(torch.full((3, 2), 0.5).t())",
    "torch.bernoulli(torch.zeros(5), 0.3)",
    "torch.normal(torch.arange(4.0), torch.ones(4))",
    "torch.normal(torch.ones(2, 1), torch.ones(3))",
    "torch.normal(2.0, torch.ones(3))",
    "torch.normal(torch.arange(4.0))",
    "torch.normal(1.0, 2.0, (20,))",
    "torch.multinomial(torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]), 2)",
    "torch.multinomial(torch.tensor([0.1, 0.2, 0.7]), 5, replacement=True)",
    "torch.poisson(torch.tensor([1.0, 5.0, 20.0, 100.0, 9.9, 0.0]))",
    "torch.zeros(2, 3).t().uniform_()",
    "torch.zeros(2, 2, 3).permute(2, 1, 0).uniform_(-2, 3)",
    "torch.zeros(12)[::2].normal_(1.0, 2.0)",
    "torch.zeros(40).normal_(mean=2, std=0.1)",
    "torch.zeros(5).bernoulli_()",
    "torch.zeros(3, 2).bernoulli_(torch.tensor([0.2, 0.7]))",
    "torch.zeros(2, 3).t().bernoulli_(torch.full((2, 3), 0.5).t())",
    "torch.zeros(4, dtype=torch.int64).random_()",
    "torch.zeros(4).random_(-5, 5)",
    "torch.zeros(4, dtype=torch.float16).random_(to=5000)",
    "torch.zeros(4).random_(2, None)",
    "torch.zeros(3).exponential_(2.0)",
    "torch.zeros(3, dtype=torch.int32).geometric_(0.2)",
    "torch.zeros(3).log_normal_(0.5, 2.0)",
    "torch.zeros(3).cauchy_(0.5, 2.0)",
    "torch.nn.functional.dropout(torch.ones(3, 4), 0.3)",
    "torch.nn.functional.alpha_dropout(torch.ones(3, 4), 0.3, True)",
    "torch.nn.functional.dropout2d(torch.ones(2, 3, 2, 2), 0.3)",
    "torch.native_dropout(torch.ones(5), 0.4, True)[0]",
]


@pytest.mark.parametrize("draw", DRAWS)
def test_draw_and_what_follows(draw):
    agree(f"torch.manual_seed(11)\nx = {draw}\nnext = torch.rand(2)\nnormal = torch.randn(1)")


REFUSED = [
    "torch.rand(2, dtype=torch.int64)",
    "torch.randn(2, dtype=torch.bool)",
    "torch.rand(-2)",
    "torch.randn(2, -2)",
    "torch.rand(2.0)",
    "torch.rand(1, generator=3)",
    "torch.randint(5, 5, (1,))",
    "torch.randint(5)",
    "torch.randint(2, (2,), requires_grad=True)",
    "torch.randint(0, 300, (1,), dtype=torch.uint8)",
    "torch.randperm(-1)",
    "torch.randperm(500, dtype=torch.int8)",
    "torch.randperm(5000, dtype=torch.float16)",
    "torch.randperm(5, dtype=torch.bool)",
    "torch.bernoulli(torch.tensor([1.5]))",
    "torch.bernoulli(torch.tensor([1]))",
    "torch.zeros(2).bernoulli_(1.5)",
    "torch.zeros(3).bernoulli_(torch.ones(2, 3))",
    "torch.zeros(2, 3).bernoulli_(torch.ones(2))",
    "torch.zeros(2).exponential_(0.0)",
    "torch.zeros(2, dtype=torch.int64).exponential_()",
    "torch.zeros(2).uniform_(3, 2)",
    "torch.zeros(2).uniform_(-3e38, 3e38)",
    "torch.zeros(2).uniform_(0, 1e39)",
    "torch.zeros(2).uniform_('a')",
    "torch.zeros(2).normal_(0, -1)",
    "torch.zeros(2).random_(3, 3)",
    "torch.zeros(2, dtype=torch.int8).random_(-200, 100)",
    "torch.zeros(2).geometric_(0.0)",
    "torch.zeros(2).log_normal_(0, 0)",
    "torch.zeros(2).cauchy_(0, 0)",
    "torch.zeros(2, dtype=torch.int64).cauchy_()",
    "torch.zeros(1).expand(3).uniform_()",
    "torch.zeros(2, requires_grad=True).normal_()",
    "torch.normal(torch.ones(2), torch.ones(3))",
    "torch.normal(torch.ones(2), torch.tensor([1.0, -1.0]))",
    "torch.multinomial(torch.ones(2), 3)",
    "torch.multinomial(torch.tensor([-1.0, 2.0]), 1)",
    "torch.multinomial(torch.tensor([-1.0, 2.0]), 3, True)",
    "torch.multinomial(torch.zeros(2), 1)",
    "torch.multinomial(torch.ones(2, 2, 2), 1)",
    "torch.multinomial(torch.tensor([1, 2]), 1)",
    "torch.multinomial(torch.ones(2), 0)",
    "torch.manual_seed('a')",
    "torch.manual_seed(2**64)",
    "torch.Generator().manual_seed(1.5)",
    "torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))",
    "torch.set_rng_state(torch.zeros(5056))",
    "torch.nn.functional.dropout(torch.ones(3), 1.5)",
    "torch.dropout(torch.ones(3), 1.5, True)",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(f"torch.manual_seed(0)\nx = {call}")


WRITES = {
    "uniform_": "()",
    "normal_": "()",
    "bernoulli_": "(0.5)",
    "random_": "(3)",
    "exponential_": "()",
    "geometric_": "(0.5)",
    "log_normal_": "()",
    "cauchy_": "()",
}


@pytest.mark.parametrize("name", WRITES)
def test_overwritten_history_gets_zeros(name):
    agree(
        f"""
torch.manual_seed(5)
x = torch.ones(3, requires_grad=True)
y = x * 2
before = y.detach()
z = y.{name}{WRITES[name]}
y.sum().backward()
base = torch.ones(4, requires_grad=True) * 1
part = base[1:3]
part.{name}{WRITES[name]}
base.sum().backward()
"""
    )


def test_gradients_of_parameters_are_zero():
    agree(
        """
torch.manual_seed(5)
p = torch.full((3,), 0.5, requires_grad=True)
drawn = torch.bernoulli(p)
drawn.sum().backward()
q = torch.ones(3, requires_grad=True)
m = torch.ones(2, 1, requires_grad=True)
n = torch.normal(m, q)
n.sum().backward()
twice = torch.normal(m) + torch.normal(0.0, q)
y = q * 1
y.bernoulli_(p)
y.sum().backward()
refused = torch.bernoulli(p, 0.5)
refused.sum().backward()
rate = torch.poisson(q)
"""
    )


def test_dropout_in_the_graph():
    agree(
        """
torch.manual_seed(2)
x = torch.ones(2, 3, requires_grad=True)
y = torch.nn.functional.dropout(x, 0.4)
y.sum().backward()
same = torch.nn.functional.dropout(x, 0.0) is x, torch.nn.functional.dropout(x, 0.4, training=False) is x
none = torch.nn.functional.dropout(x, 1.0)
z = x * 1
w = torch.nn.functional.dropout(z, 0.4, inplace=True)
shared = w is z
shifted = torch.nn.functional.alpha_dropout(x, 0.4, True)
shifted.sum().backward()
native, mask = torch.native_dropout(x, 0.4, True)
first = torch.autograd.grad((native * native).sum(), x, create_graph=True)[0]
first.sum().backward()
"""
    )


def test_generators_keep_their_own_state():
    agree(
        """
g = torch.Generator()
seed = g.initial_seed()
a = torch.rand(2, generator=g)
same = g.manual_seed(5) is g
b = torch.randn(3, generator=g)
state = g.get_state()
c = torch.rand(2, generator=g)
g.set_state(state)
d = torch.rand(2, generator=g)
torch.manual_seed(3)
kept = torch.get_rng_state()
e = torch.randn(1)
torch.set_rng_state(kept)
f = torch.randn(1)
returned = torch.manual_seed(0) is torch.default_generator
with torch.random.fork_rng():
    inside = torch.rand(5)
outside = torch.rand(1)
seeds = [torch.manual_seed(n).initial_seed() for n in (0, -1, 2**32, 1.9, True)]
h = torch.zeros(3).uniform_(generator=torch.Generator().manual_seed(7))
"""
    )
