"""Padded and packed sequences, and recurrent layers over them, are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(10)
R = torch.nn.utils.rnn
x = torch.randn(4, 3, 2, requires_grad=True)
parts = [torch.randn(n, 2, requires_grad=True) for n in (2, 4, 1)]
h = torch.randn(1, 3, 5, requires_grad=True)
leaves = [x, h, *parts]
"""
END = "\nR = m = 0"
CALLS = [
    "R.pack_padded_sequence(x, [4, 2, 1])",
    "R.pack_padded_sequence(x, torch.tensor([2, 4, 1]), enforce_sorted=False)",
    "R.pack_padded_sequence(x, [3, 2, 2, 1], batch_first=True)",
    "R.pad_packed_sequence(R.pack_padded_sequence(x, [4, 2, 1]))",
    "R.pad_packed_sequence(R.pack_padded_sequence(x, [2, 3, 1], enforce_sorted=False), True, -1.0, 6)",
    "R.pad_sequence(parts)",
    "R.pad_sequence(parts, batch_first=True, padding_value=-1.0, padding_side='left')",
    "R.pack_sequence(parts, enforce_sorted=False)",
    "R.unpack_sequence(R.pack_sequence(parts, enforce_sorted=False))",
    "R.unpad_sequence(R.pad_sequence(parts, True), torch.tensor([2, 4, 1]), True)",
]


@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradients(call):
    agree(
        START
        + f"""
r = {call}
first = r if isinstance(r, torch.Tensor) else r[0]
g = torch.autograd.grad(first.sin().sum(), leaves, allow_unused=True)
text = repr(r)
r = list(r)
"""
        + END
    )


LAYERS = [
    "RNN(2, 5)",
    "RNN(2, 5, 2, nonlinearity='relu', bidirectional=True, bias=False)",
    "GRU(2, 5, batch_first=True)",
    "GRU(2, 5, 2, dropout=0.5, bidirectional=True)",
    "LSTM(2, 5)",
    "LSTM(2, 5, 2, bidirectional=True, dtype=torch.float64)",
    "LSTM(2, 5, proj_size=3)",
]


@pytest.mark.parametrize("made", LAYERS)
@pytest.mark.parametrize("order", ["[4, 2, 1]", "[2, 4, 3], enforce_sorted=False"])
def test_layers(made, order):
    agree(
        START
        + f"""
m = torch.nn.{made}
p = R.pack_padded_sequence(x.to(m.weight_ih_l0.dtype), {order})
output, hidden = m(p)
data = output.data
g = torch.autograd.grad(data.sin().sum(), [x, *m.parameters()], allow_unused=True)
output, hidden, p = list(output), list(hidden) if isinstance(hidden, tuple) else hidden, 0
"""
        + END
    )


def test_hidden_state_follows_the_order():
    agree(
        START
        + """
m = torch.nn.GRU(2, 5)
p = R.pack_padded_sequence(x, [2, 4, 3], enforce_sorted=False)
output, hidden = m(p, h)
g = torch.autograd.grad(hidden.sum(), [x, h])
m(R.pack_padded_sequence(x, [4, 2, 1]), h[:, :2])
m(R.PackedSequence(x, p.batch_sizes))
output = p = 0
"""
        + END
    )


REFUSED = [
    "R.pack_padded_sequence(x, [1, 2, 4])",
    "R.pack_padded_sequence(x, [4, 2])",
    "R.pack_padded_sequence(x, [4, 2, 0])",
    "R.pack_padded_sequence(x[:0], [4, 2, 0])",
    "R.pad_packed_sequence(R.pack_padded_sequence(x, [4, 2, 1]), total_length=3)",
    "R.pad_sequence(3)",
    "R.pad_sequence([])",
    "R.pad_sequence(parts, padding_side='x')",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = type({call})" + END)
