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
M = T([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.5]], requires_grad=True)
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
    "D.Cauchy(a, b)": "T([0.1, 0.2, 0.3])",
    "D.GeneralizedPareto(a, b, T([0.3, 0.0, -0.2]))": "(a + b / 2).detach()",
    "D.VonMises(a, b)": "T([0.1, 0.2, 0.3])",
    "D.VonMises(a, b * 10)": "T([0.1, 0.2, 0.3])",
    "D.Geometric(b / 2)": "T([0.0, 2.0, 3.0])",
    "D.Geometric(logits=a)": "T([0.0, 2.0, 3.0])",
    "D.Geometric(0.5)": "T(1.0)",
    "D.Binomial(4, b / 2)": "T([0.0, 2.0, 3.0])",
    "D.Binomial(T([40.0, 4.0, 100.0]), logits=a)": "T([0.0, 2.0, 3.0])",
    "D.Binomial(100, T(0.3, dtype=torch.float64))": "T(30.0)",
    "D.NegativeBinomial(4.5, b / 2)": "T([0.0, 2.0, 3.0])",
    "D.NegativeBinomial(b, logits=a)": "T([0.0, 2.0, 3.0])",
    "D.Multinomial(4, p)": "T([[1.0, 2.0, 1.0], [0.0, 0.0, 4.0]])",
    "D.Multinomial(3, logits=p)": "T([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])",
    "D.OneHotCategorical(p)": "T([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])",
    "D.OneHotCategoricalStraightThrough(logits=p)": "T([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])",
    "D.Gamma(b, b + 1)": "T([0.1, 0.2, 0.3])",
    "D.Gamma(9.5, 2)": "T(4.0)",
    "D.Gamma(T([0.01, 20.0], dtype=torch.float64), 1)": "T([0.1, 0.2], dtype=torch.float64)",
    "D.Chi2(b)": "T([0.1, 0.2, 0.3])",
    "D.Chi2(3)": "T(0.1)",
    "D.Beta(b, b + 1)": "T([0.1, 0.2, 0.3])",
    "D.Beta(0.5, 2)": "T(0.1)",
    "D.Beta(b.double() * 20, 9.0)": "T([0.1, 0.2, 0.3], dtype=torch.float64)",
    "D.Dirichlet(p * 3)": "T([[0.2, 0.2, 0.6], [0.5, 0.25, 0.25]])",
    "D.Dirichlet(b.double() * 20)": "T([0.2, 0.2, 0.6], dtype=torch.float64)",
    "D.StudentT(b * 2, a, b)": "T([0.1, 0.2, 0.3])",
    "D.StudentT(3.0)": "T(0.1)",
    "D.FisherSnedecor(b * 2, b * 4)": "T([0.1, 0.2, 0.3])",
    "D.InverseGamma(b + 1, b)": "T([0.1, 0.2, 0.3])",
    "D.LogNormal(a, b)": "T([0.1, 0.2, 0.3])",
    "D.LogNormal(0.0, 1.0)": "T(0.5)",
    "D.LogisticNormal(a, b)": "T([0.1, 0.2, 0.3, 0.4])",
    "D.Gumbel(a, b)": "T([0.1, 0.2, 0.3])",
    "D.Gumbel(0.0, 1.0)": "T(0.1)",
    "D.HalfNormal(b)": "T([0.1, 0.2, 0.3])",
    "D.HalfCauchy(b)": "T([0.1, 0.2, 0.3])",
    "D.Pareto(b, b + 1)": "T([2.1, 2.2, 2.3])",
    "D.Kumaraswamy(b, b + 1)": "T([0.1, 0.2, 0.3])",
    "D.Weibull(b, b + 1)": "T([0.1, 0.2, 0.3])",
    "D.ContinuousBernoulli(b / 2)": "T([0.1, 0.2, 0.3])",
    "D.ContinuousBernoulli(logits=a)": "T([0.1, 0.2, 0.3])",
    "D.ContinuousBernoulli(0.5)": "T(0.1)",
    "D.RelaxedBernoulli(T(0.5), b / 2)": "T([0.1, 0.2, 0.3])",
    "D.RelaxedBernoulli(T(0.5), logits=a)": "T([0.1, 0.2, 0.3])",
    "D.relaxed_bernoulli.LogitRelaxedBernoulli(T(0.5), b / 2)": "T([0.1, 0.2, 0.3])",
    "D.RelaxedOneHotCategorical(T(0.5), p)": "T([0.2, 0.2, 0.6])",
    "D.RelaxedOneHotCategorical(T(0.5), logits=p)": "T([0.2, 0.2, 0.6])",
    "D.MultivariateNormal(a, M)": "T([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])",
    "D.MultivariateNormal(p, precision_matrix=M)": "T([0.1, 0.2, 0.3])",
    "D.MultivariateNormal(p, scale_tril=M.tril())": "T([0.1, 0.2, 0.3])",
    "D.LowRankMultivariateNormal(a, M[:, :2], b)": "T([[0.1, 0.2, 0.3], [1.0, 2.0, 3.0]])",
    "D.LowRankMultivariateNormal(p, M[:, :1], b)": "T([0.1, 0.2, 0.3])",
    "D.Wishart(T(4.5), M)": "M.detach()",
    "D.Wishart(b + 4, scale_tril=M.tril())": "M.detach()",
    "D.Wishart(3.0, precision_matrix=M)": "M.detach()",
    "D.LKJCholesky(3, 1.5)": "torch.linalg.cholesky(torch.eye(3) * 0.5 + 0.5)",
    "D.LKJCholesky(3, b)": "torch.eye(3)",
    "D.MixtureSameFamily(D.Categorical(b), D.Normal(a, b))": "T(0.5)",
    "D.MixtureSameFamily(D.Categorical(b), D.Independent(D.Normal(M, 1.0), 1))": "T([0.1, 0.2, 0.3])",
    "D.TransformedDistribution(D.Normal(a, b), [D.AffineTransform(a, -b), D.SigmoidTransform()])": "T(0.5)",
    "D.TransformedDistribution(D.Normal(a, b), D.TanhTransform())": "T(0.5)",
}


NO_MODE = (
    "D.ContinuousBernoulli",
    "D.LKJ",
    "D.Logistic",
    "D.Mixture",
    "D.Multinomial",
    "D.Relaxed",
    "D.Transformed",
    "D.relaxed",
)


@pytest.mark.parametrize("made", MADE)
def test_samples_and_densities(made):
    agree(
        START
        + f"""
d = {made}
drawn = [d.sample(), d.sample((2,)), d.sample(torch.Size([2, 1]))]
moved = d.rsample((2,)) if d.has_rsample else a
h = torch.autograd.grad(moved.sum(), [a, b, p, M], allow_unused=True) if moved.requires_grad else 0
density = d.log_prob({MADE[made]})
g = torch.autograd.grad(density.sum(), [a, b, p, M], allow_unused=True) if density.requires_grad else 0
entropy = d.entropy()
total = entropy.sum()
k = torch.autograd.grad(total, [a, b, p, M], allow_unused=True) if total.requires_grad else 0
told = [d.batch_shape, d.event_shape, repr(d), repr(d.support)]
mean = d.mean
variance = d.variance
stddev = d.stddev
perplexity = d.perplexity()
mode = 0 if {made.startswith(NO_MODE)} else d.mode
e = d.expand((2, *d.batch_shape))
wide = [e.batch_shape, e.log_prob({MADE[made]}), repr(e)]
listed = [d.enumerate_support(), d.enumerate_support(False)] if d.has_enumerate_support else 0
below = d.cdf({MADE[made]})
share = d.icdf(T([0.25, 0.5, 0.75]))
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
    "D.Beta(b, b + 1), D.Beta(b * 2, 1.5)",
    "D.Binomial(4, b / 2), D.Binomial(4, b / 3)",
    "D.Binomial(4, b / 2), D.Binomial(3, b / 3)",
    "D.Binomial(3, b / 2), D.Binomial(4, b / 3)",
    "D.Cauchy(a, b), D.Cauchy(b, b)",
    "D.ContinuousBernoulli(b / 2), D.ContinuousBernoulli(logits=a)",
    "D.Dirichlet(b), D.Dirichlet(b + 1)",
    "D.Gamma(b, b), D.Gamma(b + 1, b)",
    "D.Chi2(b), D.Chi2(b + 1)",
    "D.Geometric(b / 2), D.Geometric(logits=a)",
    "D.Gumbel(a, b), D.Gumbel(b, b)",
    "D.HalfNormal(b), D.HalfNormal(b + 1)",
    "D.LogNormal(a, b), D.LogNormal(b, b)",
    "D.Weibull(b, b), D.Weibull(b, b + 1)",
    "D.OneHotCategorical(p), D.OneHotCategorical(logits=p)",
    "D.Pareto(b, b + 1), D.Pareto(b / 2, b + 2)",
    "D.MultivariateNormal(a, M), D.MultivariateNormal(b, scale_tril=M.tril())",
    "D.MultivariateNormal(a, M), D.LowRankMultivariateNormal(b, M[:, :2], b)",
    "D.LowRankMultivariateNormal(b, M[:, :2], b), D.MultivariateNormal(a, M)",
    "D.LowRankMultivariateNormal(p, M[:, :2], b), D.LowRankMultivariateNormal(a, M[:, :1], b)",
    "D.MultivariateNormal(a, M), D.MultivariateNormal(a[:2], torch.eye(2))",
    "D.Wishart(T(4.0), M), D.Wishart(T(5.0), scale_tril=M.tril())",
    "D.Beta(b, b + 1), D.ContinuousBernoulli(b / 2)",
    "D.Beta(b, b + 1), D.Exponential(b)",
    "D.Beta(b, b + 1), D.Gamma(b, b)",
    "D.Beta(b, b + 1), D.Normal(a, b)",
    "D.Beta(b, b + 1), D.Uniform(a - 2, a + 2)",
    "D.Beta(b, b + 1), D.Pareto(b, b)",
    "D.ContinuousBernoulli(b / 2), D.Exponential(b)",
    "D.ContinuousBernoulli(b / 2), D.Normal(a, b)",
    "D.ContinuousBernoulli(b / 2), D.Uniform(a - 2, a + 2)",
    "D.Exponential(b), D.Gamma(b, b + 1)",
    "D.Exponential(b), D.Gumbel(a, b)",
    "D.Gamma(b, b), D.Exponential(b)",
    "D.Gamma(b, b), D.Gumbel(a, b)",
    "D.Gamma(b, b), D.Normal(a, b)",
    "D.Gumbel(a, b), D.Normal(b, b)",
    "D.Gumbel(a, b), D.Gamma(b, b)",
    "D.Normal(a, b), D.Gumbel(b, b)",
    "D.Normal(a, b), D.Pareto(b, b)",
    "D.Pareto(b, b + 1), D.Exponential(b)",
    "D.Pareto(b, b + 1), D.Gamma(b, b)",
    "D.Pareto(b, b + 2), D.Normal(a, b)",
    "D.Poisson(b), D.Binomial(4, b / 2)",
    "D.Uniform(b / 4, b / 2), D.Beta(b, b + 1)",
    "D.Uniform(b / 4, b / 2), D.ContinuousBernoulli(b / 2)",
    "D.Uniform(b / 4, b / 2), D.Gamma(b, b)",
    "D.Uniform(b / 4, b / 2), D.Gumbel(a, b)",
    "D.Uniform(b + 1, b + 2), D.Pareto(b, b)",
    "D.Gumbel(a, b), D.LogNormal(a, b)",
    "D.TransformedDistribution(D.Normal(a, b), D.ExpTransform()), D.LogNormal(b, b)",
]


@pytest.mark.parametrize("pair", PAIRS)
def test_divergences(pair):
    agree(
        START
        + f"""
r = D.kl_divergence({pair})
g = torch.autograd.grad(r.sum(), [a, b, p, M], allow_unused=True) if r.requires_grad else 0
"""
        + END
    )


REFUSED = [
    "D.MultivariateNormal(a, -M)",
    "D.MultivariateNormal(a)",
    "D.MultivariateNormal(a, a)",
    "D.LowRankMultivariateNormal(a, M[:2], b)",
    "D.Wishart(1.0, M)",
    "D.LKJCholesky(1)",
    "D.Dirichlet(T(1.0))",
    "D.Dirichlet(b).log_prob(b)",
    "D.Gamma(-1, 1)",
    "D.Geometric(0.0)",
    "D.Beta(1.0, 1.0).log_prob(T(2.0))",
    "D.Binomial(T([1.0, 2.0]), 0.5).entropy()",
    "D.Multinomial(1.5, b)",
    "D.ContinuousBernoulli(2.0, validate_args=True)",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), 3)",
    "D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform())",
    "D.MixtureSameFamily(D.Normal(0.0, 1.0), 3)",
    "D.MixtureSameFamily(D.Categorical(b), D.Normal(a[:2], 1.0))",
    "D.GeneralizedPareto(0.0, 1.0, T(0.1).double()).log_prob(T(1.0))",
    "D.ExpTransform(cache_size=2)",
    "D.ReshapeTransform((2,), (3,))",
    "D.CorrCholeskyTransform()(b[:2])",
    "D.CatTransform([3])",
    "D.StackTransform([D.ExpTransform()])(a)",
    "D.biject_to(D.constraints.one_hot)",
    "D.biject_to.register(3, abs)",
    "D.constraints.cat([1])",
    "D.constraints.dependent.is_discrete",
    "D.register_kl(1, D.Normal)",
    "torch._standard_gamma(1.0)",
    "torch._standard_gamma(T([1]))",
    "torch._standard_gamma(T([1.0]).half())",
    "torch._sample_dirichlet(T([1]))",
    "torch._standard_gamma_grad(b, b).sum().backward()",
    "torch._dirichlet_grad(b / 4, b, b + 1).sum().backward()",
    "torch.binomial(T([1]), T([1]))",
    "torch.binomial(T([1.0]), T([1]))",
    "torch.binomial(T([1.0]), T([1.0]).double())",
    "torch.binomial(T([1.0]), T([0.5, 0.5]))",
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


TRANSFORMS = {
    "D.ExpTransform()": "a",
    "D.AbsTransform()": "a",
    "D.SigmoidTransform()": "a",
    "D.TanhTransform()": "a",
    "D.SoftplusTransform()": "a",
    "D.PowerTransform(b)": "b",
    "D.AffineTransform(a, b)": "p",
    "D.AffineTransform(1.0, -2.0, event_dim=1)": "p",
    "D.AffineTransform(1.0, 2, cache_size=1)": "p",
    "D.SoftmaxTransform()": "a",
    "D.StickBreakingTransform()": "p",
    "D.CorrCholeskyTransform()": "p",
    "D.LowerCholeskyTransform()": "M",
    "D.PositiveDefiniteTransform()": "M",
    "D.ReshapeTransform((3,), (3, 1))": "p",
    "D.IndependentTransform(D.ExpTransform(), 1)": "p",
    "D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=0, lengths=[1, 2])": "a",
    "D.CatTransform([D.ExpTransform(), D.StickBreakingTransform()], dim=-2)": "p",
    "D.StackTransform([D.ExpTransform(), D.identity_transform], dim=0)": "p",
    "D.ComposeTransform([D.ExpTransform(), D.AffineTransform(a, b), D.StickBreakingTransform()])": "p",
    "D.CumulativeDistributionTransform(D.Normal(a, b))": "p",
    "D.TanhTransform().inv": "p / 2",
    "D.identity_transform": "a",
}


@pytest.mark.parametrize("made", TRANSFORMS)
def test_transforms(made):
    agree(
        START
        + f"""
d = {made}
x = {TRANSFORMS[made]}
y = d(x)
back = d.inv(y)
slope = d.log_abs_det_jacobian(x, y)
g = torch.autograd.grad(y.sum(), [a, b, p, M], allow_unused=True)
told = [repr(d), repr(d.inv), d.bijective, d.forward_shape(x.shape), d.inverse_shape(y.shape)]
spaces = [repr(d.domain), repr(d.codomain), d.domain.event_dim, d.codomain.event_dim]
sign = d.sign
same = [d == d.with_cache(), d.inv.inv == d, d == D.ExpTransform(), d.with_cache() is d]
e = d.with_cache()
kept = e.inv(e(x)) is x
"""
        + END
    )


CONSTRAINTS = {
    "real": "a",
    "positive": "a",
    "nonnegative": "a",
    "less_than(1.0)": "a",
    "greater_than_eq(2)": "a",
    "unit_interval": "a",
    "interval(-1.0, 3.0)": "a",
    "half_open_interval(0.0, 2.0)": "a",
    "simplex": "a",
    "lower_cholesky": "M",
    "corr_cholesky": "a",
    "positive_definite": "M",
    "real_vector": "a",
    "cat([D.constraints.real, D.constraints.positive], 0, [1, 2])": "a",
    "stack([D.constraints.real, D.constraints.positive])": "p",
    "boolean": "a",
    "one_hot": "a",
    "nonnegative_integer": "a",
    "multinomial(3)": "a",
    "square": "M",
    "symmetric": "M",
    "positive_semidefinite": "M",
    "lower_triangular": "M",
    "dependent": "a",
}


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_constraints_and_what_leads_to_them(constraint):
    agree(
        START
        + f"""
d = D.constraints.{constraint}
x = {CONSTRAINTS[constraint]}
held = d.check(x)
told = [repr(d), d.is_discrete, d.event_dim]
e = D.biject_to(d)
first = [repr(e), e(x)]
e = D.transform_to(d)
second = [repr(e), e(x), d.check(e(x))]
"""
        + END
    )


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = {call}\nr = repr(r)" + END)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_draws_by_rejection(kind):
    """Both sides of each branch, many times over, and the stream after."""
    agree(
        f"""
kind = torch.{kind}
torch.manual_seed(3)
alpha = torch.tensor([0.01, 0.3, 0.9, 1.0, 2.5, 7.0, 9.0, 50.0, 1000.0], dtype=kind).repeat(30)
drawn = torch._standard_gamma(alpha)
slope = torch._standard_gamma_grad(alpha, drawn)
rows = [[0.05, 0.5, 1.0], [3.0, 8.0, 20.0], [100.0, 7.0, 0.1], [9.0, 9.0, 30.0], [2.0, 3.0, 4.0]]
alpha = torch.tensor(rows, dtype=kind).repeat(20, 1)
shares = torch._sample_dirichlet(alpha)
share_slope = torch._dirichlet_grad(shares, alpha, alpha.sum(-1, True).expand_as(alpha))
count = torch.tensor([1.0, 5.0, 30.0, 100.0, 1000.0, 7.0, 0.0], dtype=kind).repeat(30)
prob = torch.tensor([0.5, 0.1, 0.9, 0.3, 0.51, 1.0, 0.2], dtype=kind).repeat(30)
counts = torch.binomial(count, prob)
after = [torch.rand(2), torch.randn(3)]
"""
    )


def test_every_public_name_is_there():
    agree(
        "D = torch.distributions\nnames = sorted(D.__all__)\n"
        "there = [hasattr(D, name) for name in names]\nD = 0"
    )
