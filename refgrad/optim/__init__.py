"""`torch.optim`: the common optimizers."""

from refgrad.optim.adagrad import Adagrad
from refgrad.optim.adam import Adam, AdamW
from refgrad.optim.optimizer import Optimizer
from refgrad.optim.rmsprop import RMSprop
from refgrad.optim.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop"]
