"""`torch.FloatTensor` and the like are classes of a class of their own: they make tensors, and know their type's.

topic: interface
features: FloatTensor, isinstance, type
rule: https://docs.pytorch.org/docs/stable/tensors.html
"""

import torch

torch.FloatTensor
type(torch.FloatTensor), issubclass(type(torch.FloatTensor), type)
torch.FloatTensor([1.0, 2.0]), torch.LongTensor(2, 3).shape, torch.DoubleTensor.dtype
isinstance(torch.ones(2), torch.FloatTensor), isinstance(torch.ones(2).double(), torch.FloatTensor)
torch.ones(2).type(torch.DoubleTensor), torch.ones(2).type()
torch.FloatTensor(torch.ones(2).double())  # raises TypeError
