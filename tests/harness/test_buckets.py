"""Buckets: what is left in a program, which findings fall together, and in which order they are shown."""

import pytest

from harness.buckets import Buckets, BucketSignature, Exemplar, features_of, signature_of
from harness.finding import Finding, TensorSeen
from harness.program import Program
from harness.verdict import Verdict
from tests.measure_buckets import found_in, judged


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("a = torch.ones(2)\nb = a.clone()\nb.sum().backward()", {"backward"}),
        ("b = a.exp()", {"op exp"}),
        ("b = a.square()", {"op square"}),
        ("b = a * 2", {"op mult"}),
        ("b = a.t()", {"view"}),
        ("b = a[0]", {"view"}),
        ("b, c = a.split(2)", {"multi-output view"}),
        ("a.mul_(2.0)", {"in-place"}),
        ("a.add_(2.0)", {"in-place", "op add_"}),
        ("a[0] = 1.0", {"in-place", "index assignment"}),
        ("a += 1", {"in-place", "op add"}),
        ("a.register_hook(print)", {"hook"}),
        ("a.grad_fn.register_hook(print)", {"node hook", ".grad_fn"}),
        ("a.register_post_accumulate_grad_hook(print)", {"accumulate hook"}),
        ("with torch.no_grad():\n    b = a.clone()", {"no_grad"}),
        ("g = torch.autograd.grad(b, a, create_graph=True)[0]", {"grad", "create_graph"}),
        ("b.backward()\nb.backward(retain_graph=True)", {"backward", "second backward", "retain_graph"}),
        ("a.grad = None", {".grad ="}),
        ("b = a.detach()", {"detach"}),
        ("class F(torch.autograd.Function):\n    pass", {"class torch.autograd.Function"}),
        ("b = F.apply(a)", {"custom Function"}),
        ("for i in range(2):\n    b = a.clone()", {"loop"}),
    ],
)
def test_features(text: str, features: set[str]) -> None:
    assert features_of(Program.parse(text)) == features


def test_features_that_only_the_tensors_tell() -> None:
    program = Program.parse("b = a.clone()")
    small, double = TensorSeen("float32", (0,), [], False, True), TensorSeen("float64", (), 1.0, False, True)

    assert features_of(program, [{"a": small}]) == {"empty"}
    assert features_of(program, [{"a": double}]) == {"float64"}
    assert features_of(program, [{"a": small}, {"b": double}]) == {"dtype mix", "empty"}


def exemplar(number: int, text: str, **changes: str) -> Exemplar:
    values = {"phase": "backward", "fact": "grad", "statement_kind": "backward", "how": "numbers"} | changes
    finding = Finding(Verdict.DIFFERS, "refgrad", **values)
    return Exemplar(f"generated-{number}", number, Program.parse(text), finding, text)


def add(buckets: Buckets, item: Exemplar) -> None:
    buckets.add(item, item.finding, signature_of(item.program, item.finding))


def test_one_exemplar_counts_and_places() -> None:
    buckets = Buckets()
    for number, text in ((7, "b = a.exp()\nb.clone()"), (3, "b = a.exp()"), (9, "b = c.exp()")):
        add(buckets, exemplar(number, text))
    buckets.add_similar(exemplar(12, "").finding, 12)

    (bucket,) = buckets
    assert (bucket.count, bucket.similar, bucket.first, bucket.last) == (3, 1, 3, 12)
    assert bucket.exemplar.number == 3
    assert bucket.signature.features == {"op exp"}


def test_furthest_first() -> None:
    buckets = Buckets()
    for number in range(8):
        add(buckets, exemplar(number, "b = a.exp()"))
    add(buckets, exemplar(10, "b = a.exp()\nb.retain_grad()"))  # hardly differs from the first
    add(buckets, exemplar(11, "b = a.t()\nb.mul_(2.0)", fact="version", phase="forward", how="lower"))

    assert [bucket.exemplar.number for bucket in buckets.ranked()] == [0, 11, 10]


def test_signatures_travel() -> None:
    item = exemplar(1, "b = a.exp()")
    signature = signature_of(item.program, item.finding)

    assert BucketSignature.from_json(signature.to_json()) == signature


BUGS = (
    "calls_every_tensor_a_leaf",
    "counts_no_writes",
    "detaches_second_order",
    "leaves_the_base_alone",
    "overwrites_instead_of_adding",
)


@pytest.mark.slow
def test_planted_bugs_do_not_mix_and_stand_in_front() -> None:
    """A small version of `python -m tests.measure_buckets`."""
    findings = [item for name in BUGS for item in found_in(name, range(40), per_identity=1, per_fact=2)]
    places, mixed = judged(findings)

    assert mixed == []
    assert set(places) == set(BUGS)
    assert max(places.values()) <= 10
