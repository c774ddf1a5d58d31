"""The older hook of state_dict may put another dictionary in place, which only the root module heeds.

topic: modules
features: module, state-dict, hooks
rule: torch.nn.Module.register_state_dict_post_hook
"""

import torch
from torch import nn


def halved(module, state, prefix, metadata):
    return {name: value / 2 for name, value in state.items()}


def noted(module, state, prefix, metadata):
    state[prefix + "note"] = torch.ones(1)


inner = nn.Linear(1, 1, bias=False)
nn.init.constant_(inner.weight, 4.0)
inner._register_state_dict_hook(halved)
own = inner.state_dict()
outer = nn.Sequential(inner)
within = outer.state_dict()
outer.register_state_dict_post_hook(noted)
outer._register_state_dict_hook(noted)  # raises RuntimeError
outer._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.pop(prefix + "note"))
matched = outer.load_state_dict(outer.state_dict())
outer.set_submodule("0", nn.Identity())
outer.set_submodule("1", nn.Identity(), strict=True)  # raises AttributeError
