"""An optimizer runs hooks around state_dict and load_state_dict in the order of registration, prepended ones
first.

topic: modules
features: optimizer, hooks, state-dict
rule: torch.optim.Optimizer.register_load_state_dict_pre_hook
"""

import torch

w = torch.tensor([1.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.5)
seen = []
optimizer.register_state_dict_pre_hook(lambda o: seen.append("before saving"))
optimizer.register_state_dict_pre_hook(lambda o: seen.append("before that"), prepend=True)
optimizer.register_state_dict_post_hook(lambda o, state: {**state, "note": 1})
optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(sorted(state)))
handle = optimizer.register_load_state_dict_post_hook(lambda o: seen.append("loaded"))
w.sum().backward()
optimizer.step()
optimizer.load_state_dict(optimizer.state_dict())
handle.remove()
optimizer.load_state_dict(optimizer.state_dict())
careless = torch.optim.SGD([w], lr=float("nan"))
careful = torch.optim.Adam([w], lr=float("nan"))  # raises ValueError
