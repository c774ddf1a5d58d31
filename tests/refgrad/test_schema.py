"""Schema texts go in and come out as PyTorch writes them."""

import pytest
import torch

from refgrad.schema import Argument, Schema, SchemaError, literal


def torch_schemas() -> list[str]:
    """The texts of all ops on tensors; those on TorchScript's own containers are not Python's."""
    texts = [str(schema) for schema in torch._C._jit_get_all_schemas()]
    texts = [text.removeprefix("aten::") for text in texts if text.startswith("aten::")]
    containers = (
        "Dict(",
        "[](",
        "(str, tVal)",
        "Future(",
        "__",
        "...",
        "RRef",
        "Await",
        "t[]",
        "Any",
        "Storage",
    )
    return [text for text in texts if "Tensor" in text and not any(word in text for word in containers)]


TEXTS = torch_schemas()


def test_there_is_something_to_compare():
    assert len(TEXTS) > 2500


def test_every_schema_comes_back_as_it_was():
    for text in TEXTS:
        assert str(Schema.parse(text)) == text


def test_every_inplace_twin_has_the_schema_that_is_derived():
    schemas = {schema.full_name: schema for schema in map(Schema.parse, TEXTS)}
    compared = 0
    for schema in list(schemas.values()):
        target = schema.arguments[0] if schema.arguments else None
        if target is None or not target.is_tensor or target.name != "self" or schema.is_view:
            continue
        twin = schemas.get(schema.inplace().full_name)
        if twin is not None and not schema.name.startswith("_"):
            assert str(schema.inplace()) == str(twin)
            compared += 1
    assert compared > 150


def test_the_parts_of_a_schema():
    schema = Schema.parse(
        "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
    )
    assert (schema.name, schema.overload, schema.full_name) == ("sum", "dim_IntList", "sum.dim_IntList")
    assert schema.arguments == (
        Argument("self", "Tensor"),
        Argument("dim", "int[]", size=1, optional=True),
        Argument("keepdim", "bool", default="False"),
        Argument("dtype", "ScalarType", optional=True, default="None", keyword_only=True),
    )
    assert [argument.value for argument in schema.arguments[2:]] == [False, None]


def test_alias_marks_say_view_and_write():
    split = Schema.parse("split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]")
    add_ = Schema.parse("add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
    assert (split.is_view, split.is_inplace) == (True, False)
    assert (add_.is_view, add_.is_inplace) == (False, True)
    assert split.arguments[0].alias == "a -> *"
    assert split.returns == (Argument("", "Tensor[]", alias="a"),)


def test_named_returns_keep_their_names():
    schema = Schema.parse(
        "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
    )
    assert [result.name for result in schema.returns] == ["values", "indices"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("None", None),
        ("True", True),
        ("-1", -1),
        ("1e-05", 1e-05),
        ("[0, 1]", (0, 1)),
        ("{-2,-1}", (-2, -1)),
        ("[]", ()),
        ('"linear"', "linear"),
        ("'mean'", "mean"),
        ("Mean", 1),
        ("contiguous_format", "contiguous_format"),
    ],
)
def test_defaults_become_python_values(text, value):
    assert literal(text) == value
    assert type(literal(text)) is type(value)


def test_one_number_of_a_sized_list_is_repeated():
    schema = Schema.parse("f(Tensor self, int[2] stride=1, int[] dims=[]) -> Tensor")
    assert [argument.value for argument in schema.arguments[1:]] == [(1, 1), ()]


@pytest.mark.parametrize(
    "text", ["add", "add(Tensor self", "add(Tensor self) Tensor", "add(=1) -> Tensor", ""]
)
def test_a_text_outside_the_grammar_is_named(text):
    with pytest.raises(SchemaError) as caught:
        Schema.parse(text)
    assert "expected" in str(caught.value)


def test_only_a_tensor_named_self_can_be_written_in_place():
    with pytest.raises(SchemaError, match="cat has no in-place twin"):
        Schema.parse("cat(Tensor[] tensors, int dim=0) -> Tensor").inplace()
