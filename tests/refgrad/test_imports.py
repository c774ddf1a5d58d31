"""Every module that scripts import may be the first one of the package that is imported."""

import subprocess
import sys

import pytest

PUBLIC = [
    *(
        "_C",
        "autograd.forward_ad",
        "autograd.gradcheck",
        "func",
        "linalg",
        "nn.functional",
        "optim",
        "random",
    ),
    *("serialization", "testing", "utils.checkpoint", "utils.hooks"),
]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_submodule_is_imported_first(name):
    script = f"import refgrad.{name}; import refgrad as torch; print(torch.tensor([4.0]).sqrt().tolist())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.stderr, found.stdout) == ("", "[2.0]\n")
