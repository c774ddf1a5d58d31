"""Distributions: samples from the stream, densities, gradients, divergences and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(11)
D = torch.distributions
T = torch.tensor
a = T([0.3, -1.2, 2.0], requires_grad=True)
b = T([0.5, 1.5, 0.25], requires_grad=True)
p = T([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], requires_grad=True)
"""
END = "\nD = T = d = e = 0"
MADE = {
    "D.Normal(a, b)": "T([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])",
    "D.Normal(0.0, 1.0)": "T(0.5)",
    "D.Normal(a, 2)": "T([0.1, 0.2, 0.3])",
    "D.Uniform(a, a + b)": "(a + b / 2).detach()",
    "D.Uniform(-1, 1.0)": "T(0.5)",
    "D.Exponential(b)": "T([0.1, 0.2, 0.3])",
    "D.Bernoulli(b / 2)": "T([0.0, 1.0, 1.0])",
    "D.Bernoulli(logits=a)": "T([0.0, 1.0, 1.0])",
    "D.Bernoulli(0.5)": "T(1.0)",
    "D.Laplace(a, b)": "T([0.1, 0.2, 0.3])",
    "D.Poisson(b)": "T([0.0, 2.0, 3.0])",
    "D.Poisson(2.0)": "T(1.0)",
    "D.Independent(D.Normal(a, b), 1)": "T([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])",
    "D.Independent(D.Bernoulli(p), 1)": "T([[0.0, 1.0, 1.0]])",
    "D.Categorical(p)": "T([0, 2])",
    "D.Categorical(logits=p)": "T([[0, 2], [1, 1]])",
    "D.Categorical(p[0])": "T(1)",
}


@pytest.mark.parametrize("made", MADE)
def test_samples_and_densities(made):
    agree(
        START
        + f"""
d = {made}
drawn = [d.sample(), d.sample((2,)), d.sample(torch.Size([2, 1]))]
drawn.append(d.rsample((2,)) if d.has_rsample else 0)
density = d.log_prob({MADE[made]})
entropy = d.entropy()
total = density.sum() + entropy.sum()
g = torch.autograd.grad(total, [a, b, p], allow_unused=True) if total.requires_grad else 0
told = [d.mean, d.variance, d.stddev, d.batch_shape, d.event_shape, repr(d), repr(d.support)]
told.append(d.perplexity())
mode = d.mode
e = d.expand((2, *d.batch_shape))
wide = [e.batch_shape, e.log_prob({MADE[made]}), repr(e)]
listed = [d.enumerate_support(), d.enumerate_support(False)] if d.has_enumerate_support else 0
below = d.cdf({MADE[made]})
after = torch.rand(1)
"""
        + END
    )


PAIRS = [
    "D.Normal(a, b), D.Normal(b, 1.0)",
    "D.Uniform(a, a + 1), D.Uniform(a - 1, a + 1.5)",
    "D.Uniform(a, a + 1), D.Uniform(a, a + 0.5)",
    "D.Uniform(a, a + 1), D.Normal(b, b)",
    "D.Bernoulli(b / 2), D.Bernoulli(logits=a)",
    "D.Bernoulli(T([0.0, 1.0, 0.5])), D.Bernoulli(T([0.5, 1.0, 0.0]))",
    "D.Categorical(p), D.Categorical(logits=p)",
    "D.Categorical(T([0.0, 1.0])), D.Categorical(T([0.5, 0.5]))",
    "D.Exponential(b), D.Exponential(b * 2)",
    "D.Normal(a, b), D.Uniform(a, a + b)",
    "D.Uniform(a, a + b), D.Exponential(b)",
    "D.Laplace(a, b), D.Laplace(b, 1.0)",
    "D.Laplace(a, b), D.Normal(b, 1.0)",
    "D.Normal(a, b), D.Laplace(b, 1.0)",
    "D.Laplace(a, b), D.Uniform(a, a + b)",
    "D.Poisson(b), D.Poisson(b * 2)",
    "D.Bernoulli(b / 2), D.Poisson(b)",
    "D.Independent(D.Normal(a, b), 1), D.Independent(D.Normal(b, b), 1)",
    "D.Independent(D.Normal(a, b), 1), D.Normal(b, b)",
    "D.Exponential(b), D.Normal(a, b)",
    "D.Exponential(b), D.Uniform(a, a + b)",
]


@pytest.mark.parametrize("pair", PAIRS)
def test_divergences(pair):
    agree(
        START
        + f"""
r = D.kl_divergence({pair})
g = torch.autograd.grad(r.sum(), [a, b, p], allow_unused=True) if r.requires_grad else 0
"""
        + END
    )


REFUSED = [
    "D.Normal(0.0, -1.0)",
    "D.Normal(a, -b)",
    "D.Normal(T(float('nan')), 1.0)",
    "D.Normal('a', 1)",
    "D.Uniform(1.0, 0.0)",
    "D.Exponential(0.0)",
    "D.Bernoulli(2.0)",
    "D.Bernoulli()",
    "D.Bernoulli(0.5, 0.5)",
    "D.Categorical(T(0.5))",
    "D.Categorical(logits=T(0.5))",
    "D.Categorical(T([-0.5, 1.5]))",
    "D.Normal(a, b).log_prob(3)",
    "D.Normal(a, b).log_prob(T([1.0, 2.0]))",
    "D.Bernoulli(0.5).log_prob(T(0.3))",
    "D.Uniform(0.0, 1.0).log_prob(T(2.0))",
    "D.Categorical(p).log_prob(T([0, 3]))",
    "D.Normal(a, -b, validate_args=False)",
    "D.Bernoulli(0.5).rsample()",
    "D.Bernoulli(0.5).cdf(T(1.0))",
    "D.Normal(a, b).sample_n(2)",
    "D.Independent(D.Normal(a, b), 2)",
    "D.Independent(D.Bernoulli(b / 2), 1).enumerate_support()",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = {call}\nr = repr(r)" + END)
