"""What happens once, when an op is first used: one thread makes its functions, and tracebacks show them."""

import linecache
import subprocess
import sys
import traceback

import pytest

import refgrad as torch

THREADS = """
import sys, threading
sys.setswitchinterval(1e-6)
import refgrad as torch
errors, nodes = [], []
barrier = threading.Barrier(8)
def work():
    try:
        barrier.wait()
        x = torch.ones(2, 2, requires_grad=True)
        nodes.append(type((x.mm(x).exp() * x).sum().grad_fn))
    except Exception as error:
        errors.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
with torch.autocast("cpu", dtype=torch.bfloat16):
    kind = torch.ones(2, 2).mm(torch.ones(2, 2)).dtype
print(errors, len(set(nodes)), kind)
"""


@pytest.mark.parametrize("attempt", range(3))
def test_several_threads_may_use_an_op_first(attempt):
    shown = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[] 1 torch.bfloat16"


def test_a_traceback_shows_the_source_of_its_own_op():
    x = torch.ones(2, requires_grad=True)
    y = x.sigmoid()
    torch.nn.functional.layer_norm(x, (2,)).sum().backward()  # compiled after it
    y.data.add_(1.0)
    y.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised:
        y.sum().backward()
    frames = traceback.extract_tb(raised.value.__traceback__)
    (frame,) = [frame for frame in frames if "SigmoidBackward0" in frame.filename]
    assert "result" in linecache.getline(frame.filename, frame.lineno)
