"""A shuffling loader draws one number for its workers and one for its order from the stream at each pass, or
from a generator of its own.

topic: random
features: dataloader, manual-seed, generator
rule: torch.utils.data.DataLoader
"""

import torch

torch.manual_seed(3)
rows = torch.utils.data.TensorDataset(torch.arange(6.0), torch.arange(6) % 2)
loader = torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True)
first = [batch[0] for batch in loader]
second = [batch[0] for batch in loader]
after = torch.rand(1)
own = torch.Generator()
own.manual_seed(3)
third = [batch[0] for batch in torch.utils.data.DataLoader(rows, 4, shuffle=True, generator=own)]
train, test = torch.utils.data.random_split(rows, [4, 2], generator=own)
kept = train.indices
