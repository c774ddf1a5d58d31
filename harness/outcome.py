"""What a step ended in: done or raised (kind, phase, type, message), what it warned and what it printed."""

import re
from functools import lru_cache
from typing import NamedTuple

# The canonical kinds of errors: what went wrong in autograd's own terms, whatever the engine's wording. The
# first pattern found in the message decides; no pattern, and the kind is the name of the exception's type.
KINDS: tuple[tuple[str, str], ...] = (
    ("version-mismatch", r"modified by an inplace operation: \[|is at version \d+; expected version"),
    ("freed-graph", r"backward through the graph a second time|after they have already been freed"),
    (
        "leaf-inplace",
        r"leaf Variable that requires grad (is being|has been) used in an in-place operation"
        r"|leaf variable was moved into the graph interior",
    ),
    (
        "view-inplace",
        r"is a view and (is being modified in-?place|its base or another view of its base has been modified)"
        r"|view (of a view )?(which )?was created in (no_grad|inference) mode and"
        r"|Can't detach views in-place|view of a (custom|leaf) .* modified in-?place",
    ),
    ("overlap", r"single memory location|overlap"),
    ("not-scalar", r"grad can be implicitly created only for"),
    ("deepcopy", r"support the deepcopy protocol"),
    ("numpy", r"Can't call numpy\(\)|can't be converted to numpy|Can't convert .* to numpy"),
    (
        "saved-tensor",
        r"is a leaf (tensor|variable) .*detached|detached in-?place|detach\w*\(?\)? .*saved"
        r"|saved tensor (pack|unpack)_?hook|pack_hook|unpack_hook|saved tensors? (pack |unpack )?hooks?"
        r"|saved_tensors can only be"
        r"|allow_mutation_on_saved_tensors|saved tensor .* modified",
    ),
    (
        "function-result",
        r"mark_dirty|save_for_backward|marked as dirty|mark_non_differentiable|mark_shared_storage"
        r"|Legacy autograd function|non-static forward|setup_context|You must implement (the forward|either)"
        r"|expected to return .* from forward|only (input|output) tensors should be (saved|passed)"
        r"|saved_for_forward|save_for_forward",
    ),
    (
        "gradient-mismatch",
        r"Mismatch in (shape|dtype): grad_output|invalid gradient at index|incorrect number of gradients"
        r"|got \d+ tensors and \d+ gradients|gradient different than None at position"
        r"|grad_output and output are required to have the same dtype|expected Variable or None \(got"
        r"|gradients can be either Tensors or None|isFloatingType\(grad|Expected .*grad.* to have the same"
        r"|grad_outputs? .* must|v has invalid size",
    ),
    (
        "hook-result",
        r"hook returned|hook '.*' has (changed|returned)|can't replace a None gradient"
        r"|hooks? .*should (either )?return",
    ),
    (
        "not-differentiable",
        r"derivative for .* is not implemented|derivative .*not implemented|differentiate twice"
        r"|not differentiable|must implement the jvp|don't support automatic differentiation",
    ),
    (
        "leaf-flag",
        r"only change requires_grad flags|Only Tensors of floating point and complex dtype can require"
        r"|only Tensors of floating point (and complex )?dtype can require gradients"
        r"|requires_grad=True on inference|cannot resize variables that require grad",
    ),
    ("inference", r"[Ii]nference ?(tensor|[Mm]ode)|InferenceMode"),
    (
        "grad-assignment",
        r"assign(ed|ing)? (a )?grad|assign Variable as its own grad|grad_dtype|grad expected to be",
    ),
    ("unused-input", r"appears? to not have been used in the graph"),
    (
        "no-grad",
        r"does not require grad|doesn't require gradient|can't retain_grad|cannot register a hook"
        r"|requires_grad=False|do(es)? not require gradients|post accumulate grad hooks cannot be registered"
        r"|none of .* requires? grad",
    ),
    ("nan", r"returned nan values"),
    (
        "dtype",
        r"result type \w+ can't be cast|not implemented for ['\"‘]?\w+|same (scalar type|dtype)"
        r"|expected (scalar type|dtype|m1 and m2)|Expected (dtype|self\.dtype|a floating|input to have)"
        r"|could not infer output dtype|only support(s|ed)? .*(dtypes?|complex|bool|tensors)"
        r"|with a bool tensor is not supported|on a bool tensor is not supported|without overflow"
        r"|for (tensors with )?(non-)?complex|does not support (complex|automatic)|invalid data type"
        r"|floating point or complex (dtype|tensor)|Promotion for|Could not infer dtype|must be .*dtype"
        r"|Input type .* and .* should be the same|not supported for complex|dtype .*mismatch",
    ),
    (
        "index",
        r"out of (range|bounds)|too many indices|tensors used as indices"
        r"|Dimension specified as|invalid index of a 0-dim|cannot be used as ind|exceed\w* .*dimension size"
        r"|only integer tensors of a single element|dim \d+ appears multiple",
    ),
    (
        "shape",
        r"must match (the size|except)|must match|doesn't match the broadcast shape|shapes? cannot be"
        r"|cannot be (multiplied|broadcast)|is invalid for input of size|invalid shape|(size|shape) mismatch"
        r"|inconsistent tensor size|not broadcastable|must be broadcastable|Sizes of tensors|same number of"
        r"|view size is not compatible|expand\(.*\)|expected (a )?(\d+D|matrix|batch|vector)"
        r"|[Ee]xpected .*\d-?D|The expanded size of the tensor"
        r"|vector \+ |number of sizes provided|equal size|to have size|must be matrix|must be (a )?\d+-?D"
        r"|same (size|shape)|ambiguous|cannot be converted to Scalar|one element tensors"
        r"|start \(.*\) \+ length"
        r"|split_with_sizes|number of dimensions|inconsistent with|incompatible .*(size|shape)|non-negative"
        r"|expects? .*(size|dimension|same length)|only be used .*elements|expected sequence of length"
        r"|batch_size|both arguments to|0D or 1D|1D tensors expected|non-empty",
    ),
    (
        "argument",
        r"argument|invalid combination|unexpected keyword|must be (a )?(Tensor|tuple|int|bool|str)"
        r"|but got|expected .* to be|positional|is not callable|unsupported operand|cannot be interpreted",
    ),
)
PATTERNS = tuple((kind, re.compile(pattern, re.DOTALL)) for kind, pattern in KINDS)
KIND_NAMES = frozenset(kind for kind, _ in KINDS)

# What PyTorch says, for each kind one sentence out of those that it has.
SENTENCES = {
    "version-mismatch": "one of the variables needed for gradient computation has been modified by an"
    " inplace operation: [torch.FloatTensor [2]], which is output 0 of MulBackward0, is at version 1;"
    " expected version 0 instead.",
    "freed-graph": "Trying to backward through the graph a second time (or directly access saved tensors"
    " after they have already been freed).",
    "leaf-inplace": "a leaf Variable that requires grad is being used in an in-place operation.",
    "view-inplace": "Output 0 of UnbindBackward0 is a view and is being modified inplace.",
    "overlap": "unsupported operation: more than one element of the written-to tensor refers to a single"
    " memory location.",
    "not-scalar": "grad can be implicitly created only for scalar outputs",
    "deepcopy": "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol"
    " at the moment.",
    "numpy": "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    "saved-tensor": "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().",
    "function-result": "save_for_backward can only save variables, but argument 0 is of type float",
    "gradient-mismatch": "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0]"
    " has a shape of torch.Size([2]).",
    "hook-result": "hook 'double' has changed the size of value",
    "not-differentiable": "derivative for aten::nextafter is not implemented",
    "leaf-flag": "you can only change requires_grad flags of leaf variables.",
    "inference": "Inference tensors cannot be saved for backward. Please do not use Tensors created in"
    " inference mode in computation tracked by autograd.",
    "grad-assignment": "assigned grad has data of a different size",
    "unused-input": "One of the differentiated Tensors appears to not have been used in the graph. Set"
    " allow_unused=True if this is the desired behavior.",
    "no-grad": "element 0 of tensors does not require grad and does not have a grad_fn",
    "nan": "Function 'LogBackward0' returned nan values in its 0th output.",
    "dtype": "result type Float can't be cast to the desired output type Long",
    "index": "index 3 is out of bounds for dimension 0 with size 2",
    "shape": "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    "argument": "sum() received an invalid combination of arguments - got (str), but expected one of: ...",
}

IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")

ADDRESS = re.compile(r"\b(at|object at) 0x[0-9a-fA-F]+")
TRIGGERED = re.compile(r"\s*\(Triggered internally at .*?\)?\)\s*$", re.DOTALL)
FRAME = re.compile(r'^  File "([^"]*)", line \d+, in .*\n(?:    .*(?:\n|$))*', re.MULTILINE)


class Raised(NamedTuple):
    """An exception as a record: canonical kind, phase of the step, type name, message."""

    kind: str
    phase: str
    type: str
    message: str


class Outcome(NamedTuple):
    """How a step ended; `raised` is None when it was done."""

    raised: Raised | None
    warnings: tuple[tuple[str, str], ...] = ()  # (category name, text)
    printed: tuple[str, ...] = ()


DONE: tuple = (None, (), ())  # the outcome of nearly every step, as plain data


@lru_cache(maxsize=10_000)
def canonical_kind(type_name: str, message: str) -> str:
    """The canonical kind of an error, or the name of its type."""
    for kind, pattern in PATTERNS:
        if pattern.search(message):
            return refine(kind, type_name)
    return type_name


def refine(kind: str, type_name: str) -> str:
    """Let the type decide where wording is loose: an IndexError means an index, a TypeError an argument."""
    if type_name == "IndexError":
        return "index"
    if kind in ("shape", "dtype", "index") and type_name == "TypeError":
        return "argument"
    if kind == "argument" and type_name not in ("TypeError", "ValueError", "RuntimeError"):
        return type_name
    if kind == "argument" and type_name == "RuntimeError":
        return type_name
    return kind


def is_kind(mark: str) -> bool:
    """Whether a mark names a canonical kind, or the type of an exception (`ValueError`, `my.Error`)."""
    return mark in KIND_NAMES or mark.rpartition(".")[2].lstrip("_")[:1].isupper()


def fits_mark(mark: str, raised: Raised | None) -> bool:
    """Whether a `# raises KIND` mark names what was raised, by kind or by type."""
    return raised is not None and mark in (raised.kind, raised.type)


def clean_text(text: str) -> str:
    """Text without what differs from process to process: addresses."""
    return ADDRESS.sub(r"\1 0x...", text) if " 0x" in text else text


def clean_message(text: str, filename: str = "") -> str:
    """A message or warning without addresses, positions in PyTorch's sources, and frames of other files."""
    text = clean_text(text)
    if "Triggered internally" in text:
        text = TRIGGERED.sub("", text)
    if '  File "' in text:
        text = FRAME.sub(lambda frame: frame[0] if frame[1] == filename else "", text).rstrip()
    return text
