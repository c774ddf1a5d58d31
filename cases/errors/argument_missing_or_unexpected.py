"""A missing argument, an unexpected keyword and a value of the wrong type are TypeErrors that quote the
schema.

topic: errors
features: argument, keyword, error
rule: torch.exp, torch.mm
"""

import torch

x = torch.ones(2, 2, requires_grad=True)
torch.exp()  # raises argument
torch.mm(x)  # raises argument
x.exp(2)  # raises argument
torch.exp(x, dim=1)  # raises argument
torch.sin("x")  # raises argument
x.transpose(0)  # raises argument
torch.cat(x, torch.ones(2))  # raises argument
x.exp().sum().backward()
