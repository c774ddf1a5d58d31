"""Recurrent layers and cells: initialisation, values, gradients, graphs and refusals are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
torch.manual_seed(3)
x = torch.randn(3, 2, 4, requires_grad=True)
h = torch.randn(1, 2, 5, requires_grad=True)
c = torch.randn(1, 2, 5, requires_grad=True)
"""
RUN = """
m = torch.nn.{made}
state = dict(m.state_dict())
names = [[p.shape for p in layer] for layer in m.all_weights]
r = m({call})
flat = [r[0], *(r[1] if isinstance(r[1], tuple) else [r[1]])]
total = sum(((i + 1) * t.sin().sum() for i, t in enumerate(flat)))
g = torch.autograd.grad(total, [x, h, c, *m.parameters()], allow_unused=True)
m.eval()
with torch.no_grad():
    still = m({call})
text, m = repr(m), 0
{last}
"""
LAYERS = [
    ("RNN(4, 5)", "x"),
    ("RNN(4, 5)", "x, h"),
    ("RNN(4, 5, 2, 'relu', bias=False)", "x"),
    ("RNN(4, 5, batch_first=True, bidirectional=True)", "x"),
    ("RNN(4, 5)", "x[:, 0]"),
    ("RNN(4, 5, 3, dropout=0.5)", "x"),
    ("GRU(4, 5)", "x, h"),
    ("GRU(4, 5, 2, bidirectional=True, dropout=0.25)", "x"),
    ("GRU(4, 5, batch_first=True)", "x"),
    ("GRU(4, 5, bias=False)", "x[:, 0], h[:, 0]"),
    ("LSTM(4, 5, dtype=torch.float64)", "x.double(), (h.double(), c.double())"),
    ("LSTM(4, 5, 2, bidirectional=True, batch_first=True, dropout=0.5, dtype=torch.float64)", "x.double()"),
    ("LSTM(4, 5, bias=False, dtype=torch.float64)", "x[:, 0].double()"),
    ("LSTM(4, 5, proj_size=2, bias=False, dtype=torch.float64)", "x.double()"),
    ("LSTM(4, 5, proj_size=2)", "x"),
    ("LSTM(4, 5, batch_first=True)", "x[:, :0]"),
]


@pytest.mark.parametrize(("made", "call"), LAYERS)
def test_layers(made, call):
    agree(START + RUN.format(made=made, call=call, last=""))


ONE_OP = [
    ("LSTM(4, 5)", "x"),
    ("LSTM(4, 5)", "x, (h, c)"),
    ("LSTM(4, 5, 2)", "x"),
    ("LSTM(4, 5, bias=False)", "x, (h, c)"),
    ("LSTM(4, 5, batch_first=True)", "x"),
    ("LSTM(4, 5, 2, bidirectional=True, dropout=0.5)", "x"),
    ("LSTM(4, 5)", "x[:, 0], (h[:, 0], c[:, 0])"),
]
NAMES = """
def names_of(node, depth=7):
    if node is None or depth == 0:
        return None
    saved = [s for s in dir(node) if s.startswith("_saved_")]
    return type(node).__name__, saved, [(names_of(n, depth - 1), i) for n, i in node.next_functions]
names = [names_of(t.grad_fn) for t in flat]
flat, r, still, total = ([t.detach() for t in flat], 0, [still[0], *still[1]], total.detach())
"""


@pytest.mark.parametrize(("made", "call"), ONE_OP)
def test_lstm_in_single_precision(made, call):
    """One op for a layer; what it saves for itself is its own affair, so the graph is compared by names."""
    agree(START + RUN.format(made=made, call=call, last=NAMES))


def test_second_derivatives_of_the_one_op():
    agree(
        START
        + """
m = torch.nn.LSTM(4, 5)
output, (last, cell) = m(x, (h, c))
g = torch.autograd.grad(output.sin().sum() + cell.sum(), [x, h, *m.parameters()], create_graph=True)
second = torch.autograd.grad(sum(t.pow(2).sum() for t in g), [x, h, c, *m.parameters()])
g = [t.detach().clone() for t in g]
second = [t.clone() for t in second]
output = last = cell = m = 0
"""
    )


CELLS = [
    ("RNNCell(4, 5)", "x[0]"),
    ("RNNCell(4, 5, bias=False, nonlinearity='relu')", "x[0], h[0]"),
    ("RNNCell(4, 5)", "x[0, 0], h[0, 0]"),
    ("GRUCell(4, 5)", "x[0], h[0]"),
    ("GRUCell(4, 5, bias=False)", "x[0, 0]"),
    ("LSTMCell(4, 5)", "x[0]"),
    ("LSTMCell(4, 5, bias=False)", "x[0], (h[0], c[0])"),
    ("LSTMCell(4, 5)", "x[0, 0], (h[0, 0], c[0, 0])"),
]


@pytest.mark.parametrize(("made", "call"), CELLS)
def test_cells(made, call):
    agree(
        START
        + f"""
m = torch.nn.{made}
state = dict(m.state_dict())
r = m({call})
total = sum(t.sin().sum() for t in r) if isinstance(r, tuple) else r.sin().sum()
g = torch.autograd.grad(total, [x, h, c, *m.parameters()], allow_unused=True)
text, m = repr(m), 0
"""
    )


REFUSED = [
    "RNN(4, 5, dropout=2)",
    "RNN(4, 5, dropout=True)",
    "RNN(4, 5, dropout=0.5)",
    "RNN(4, 5, bias=1)",
    "RNN(4, 5, batch_first=1)",
    "RNN(4.0, 5)",
    "RNN(4, 5.0)",
    "RNN(0, 5)",
    "RNN(4, 0)",
    "RNN(4, 5, 0)",
    "RNN(4, 5, nonlinearity='x')",
    "GRU(4, 5, proj_size=2)",
    "LSTM(4, 5, proj_size=5)",
    "LSTM(4, 5, proj_size=-1)",
    "RNN(4, 5)(x[0, 0])",
    "GRU(4, 5)(x[0, 0])",
    "LSTM(4, 5)(x[0, 0])",
    "RNN(4, 5)(x, h[0])",
    "RNN(4, 5)(x[0], h)",
    "LSTM(4, 5)(x, (h[0], c))",
    "LSTM(4, 5)(x[0], (h, c))",
    "RNN(4, 5)(x, h[:, :1])",
    "LSTM(4, 5)(x, (h[:, :1], c))",
    "LSTM(4, 5)(x, (h, c[:, :1]))",
    "RNN(3, 5)(x)",
    "GRU(4, 5)(x.double())",
    "GRU(4, 5)(x[:0])",
    "LSTM(4, 5)(x[:0])",
    "RNNCell(4, 5)(x)",
    "RNNCell(4, 5)(x[0], h)",
    "RNNCell(4, 5, nonlinearity='x')(x[0])",
    "LSTMCell(4, 5)(x[0], (h, c))",
    "GRUCell(3, 5)(x[0])",
    "GRUCell(4, 5)(x[0], h[0, :1])",
    "GRUCell(4, 5)(x[0], x[0])",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = torch.nn.{call}\nr = 0")


def test_state_is_loaded_copied_and_moved():
    agree(
        START
        + """
import copy
m = torch.nn.LSTM(4, 5, 2)
n = copy.deepcopy(m)
n.load_state_dict({key: value * 0.5 for key, value in m.state_dict().items()})
n.weight_ih_l0 = torch.nn.Parameter(torch.ones(20, 4))
with torch.no_grad():
    r = n.double()(x.double())
names = [name for name, _ in n.named_parameters()]
n.flatten_parameters()
copy = m = n = 0
"""
    )
