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


FIRST_USES = [
    "import refgrad.nn as nn; nn.Linear(2, 2)",
    "import refgrad.nn.functional as F; F.conv1d; F.linear",
    "from refgrad.nn.functional import conv1d",
    "import refgrad.linalg as linalg; linalg.norm",
    "from refgrad.fft import fft",
    "from refgrad.special import erf",
    "import refgrad.nn as nn; import refgrad.optim as optim; optim.SGD(nn.Linear(1, 1).parameters(), 0.1)",
    "import refgrad.nn as nn; nn.Parameter()",
    "import refgrad.nn as nn; nn.ReLU()",
    "import refgrad.distributions as d; d.Normal(0.0, 1.0).sample()",
    "from refgrad.utils.data import TensorDataset",
    "import refgrad.nn.functional as F; import pytest; pytest.raises(TypeError, F.relu, 3)",
]


@pytest.mark.parametrize("script", FIRST_USES)
def test_a_script_may_begin_with_a_submodule(script):
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stderr == ""


@pytest.mark.parametrize("name", PUBLIC)
def test_a_submodule_is_imported_first(name):
    script = f"import refgrad.{name}; import refgrad as torch; print(torch.tensor([4.0]).sqrt().tolist())"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.stderr, found.stdout) == ("", "[2.0]\n")


@pytest.mark.parametrize("first", ["nn", "optim", "autograd.functional"])
def test_transforms_are_imported_after_another_module(first):
    script = f"import refgrad.{first}, refgrad.func, refgrad as torch; "
    script += "print(torch.func.vmap(lambda x: 2 - x)(torch.ones(1)))"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (found.stderr, found.stdout) == ("", "tensor([1.])\n")
