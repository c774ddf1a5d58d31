"""Data sets, samplers and loaders: what comes out, in which order, and the stream are PyTorch's."""

import pytest

from tests.refgrad.against_torch import agree

START = """
import collections
torch.manual_seed(8)
D = torch.utils.data
x = torch.arange(10.0).view(5, 2)
y = torch.arange(5)
rows = D.TensorDataset(x, y)
Pair = collections.namedtuple("Pair", "a b")
class Numbers(D.Dataset):
    def __len__(self):
        return 7
    def __getitem__(self, i):
        arrays = [np.float32(i), np.ones(2) * i]
        return {"n": i, "f": i / 2, "s": str(i), "t": (i, arrays), "p": Pair(i, True)}
class Stream(D.IterableDataset):
    def __iter__(self):
        return iter([torch.tensor(i) for i in range(5)])
    def __len__(self):
        return 5
own = torch.Generator()
own.manual_seed(3)
"""
END = """
after = torch.rand(2), torch.rand(2, generator=own)
D = rows = Pair = Numbers = Stream = own = collections = 0
"""
LOADERS = [
    "D.DataLoader(rows)",
    "D.DataLoader(rows, batch_size=2, shuffle=True)",
    "D.DataLoader(rows, batch_size=2, shuffle=True, drop_last=True, generator=own)",
    "D.DataLoader(rows, batch_size=None)",
    "D.DataLoader(rows, batch_sampler=[[0, 1], [4]])",
    "D.DataLoader(rows, batch_size=3, sampler=D.RandomSampler(rows, replacement=True, num_samples=35))",
    "D.DataLoader(rows, 2, sampler=D.RandomSampler(rows, num_samples=7))",
    "D.DataLoader(rows, 2, sampler=D.SubsetRandomSampler([0, 2, 4]))",
    "D.DataLoader(rows, 2, sampler=D.WeightedRandomSampler([0.1, 0.2, 0.7], 4))",
    "D.DataLoader(rows, 2, sampler=[3, 1], collate_fn=lambda items: len(items))",
    "D.DataLoader(Numbers(), 3)",
    "D.DataLoader(Numbers(), None)",
    "D.DataLoader(Stream(), 2)",
    "D.DataLoader(Stream(), 2, drop_last=True)",
    "D.DataLoader(Stream(), None)",
    "D.DataLoader(Stream() + Stream(), 4)",
    "D.DataLoader(rows + rows, 4, shuffle=True)",
    "D.DataLoader(D.StackDataset(a=rows, b=y), 2)",
    "D.DataLoader(D.StackDataset(rows, Numbers()), 2) if 0 else D.DataLoader(D.StackDataset(rows, y), 2)",
    "D.DataLoader(D.random_split(rows, [3, 2])[0], 2, shuffle=True)",
    "D.DataLoader(D.random_split(rows, [0.5, 0.5], generator=own)[1], 2)",
    "D.DataLoader([1, 2, 3], 2, pin_memory=True)",
    "D.DataLoader(range(5), 2, shuffle=True)",
]


@pytest.mark.parametrize("made", LOADERS)
def test_passes(made):
    """Two passes, and what is left of the streams."""
    agree(START + f"loader = {made}\npasses = [list(loader), list(loader), len(loader)]\nloader = 0" + END)


REFUSED = [
    "D.DataLoader(rows, num_workers=-1)",
    "D.DataLoader(rows, timeout=-1)",
    "D.DataLoader(rows, prefetch_factor=2)",
    "D.DataLoader(rows, persistent_workers=True)",
    "D.DataLoader(rows, multiprocessing_context='fork')",
    "D.DataLoader(rows, shuffle=True, sampler=[1])",
    "D.DataLoader(rows, 2, batch_sampler=[[1]])",
    "D.DataLoader(rows, None, drop_last=True)",
    "D.DataLoader(rows, 0)",
    "D.DataLoader(rows, 2, drop_last=1)",
    "D.DataLoader(Stream(), shuffle=True)",
    "D.DataLoader(Stream(), sampler=[1])",
    "D.DataLoader(Stream(), batch_sampler=[[1]])",
    "D.DataLoader([], shuffle=True)",
    "setattr(D.DataLoader(rows), 'batch_size', 3)",
    "list(D.DataLoader([object()]))",
    "list(D.DataLoader([[1], [2, 3]], 2))",
    "list(D.DataLoader([torch.ones(2), torch.ones(3)], 2))",
    "D.TensorDataset(x, y[:2])",
    "D.StackDataset()",
    "D.StackDataset(rows, x[:2])",
    "D.StackDataset(rows, a=rows)",
    "D.ConcatDataset([])",
    "D.ConcatDataset([Stream()])",
    "(rows + rows)[-11]",
    "D.Dataset()[0]",
    "D.RandomSampler(rows, replacement=1)",
    "D.RandomSampler(rows, num_samples=0)",
    "D.WeightedRandomSampler([[1.0]], 1)",
    "D.WeightedRandomSampler([1.0], 0)",
    "D.random_split(rows, [1, 2])",
    "D.random_split(rows, [2.0, -1.0])",
    "[len(s) for s in D.random_split(rows, [0.1, 0.9])]",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_by_torch(call):
    agree(START + f"r = type({call})" + END)
