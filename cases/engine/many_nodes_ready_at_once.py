"""Of many nodes that are ready at once the one made last runs first; leaves leave in the order of a binary heap.

topic: engine
features: order, heap, hooks, stack
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

import torch

order = [3, 11, 0, 7, 5, 12, 1, 9, 4, 2, 10, 8, 6]
leaves = [torch.tensor(float(i), requires_grad=True) for i in range(13)]
made = {}
for i in order:
    made[i] = leaves[i] * 2.0

seen = []
for i in range(13):
    made[i].register_hook(lambda g, i=i: seen.append(i))

torch.stack([made[i] for i in range(13)]).sum().backward()
print(seen)
torch.stack([made[i] for i in range(12, -1, -1)])
for count in (5, 6, 7, 8, 9, 12, 13):
    arrived = []
    leaves = [torch.tensor(float(i), requires_grad=True) for i in range(count)]
    handles = [leaf.register_hook(lambda g, i=i: arrived.append(i)) for i, leaf in enumerate(leaves)]
    torch.stack(leaves).sum().backward()
    print(arrived)

leaves = [torch.tensor(float(i), requires_grad=True) for i in range(9)]
mixed = []
parts = [leaf if i % 3 else leaf.exp() for i, leaf in enumerate(leaves)]
for i, leaf in enumerate(leaves):
    handle = leaf.register_hook(lambda g, i=i: mixed.append(i))

torch.stack(parts[::-1] + parts).sum().backward()
print(mixed)
