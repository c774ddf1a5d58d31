"""An image whose strides ask for channels last passes them on: to the results of convolutions, pools, pads and
shuffles, and to its gradient; a dimension of one element is told by its stride alone.

topic: copies
features: memory-format, channels-last, strides, convolution, pooling
rule: torch.memory_format
"""

import torch
import torch.nn.functional as F

x = torch.arange(64.0).reshape(1, 4, 4, 4).to(memory_format=torch.channels_last).requires_grad_()
weight = torch.ones(2, 4, 3, 3)
y = F.conv2d(x, weight)
(g,) = torch.autograd.grad(y, x, torch.ones_like(y))
up = F.conv_transpose2d(x, weight.transpose(0, 1))
strides = (y.stride(), g.stride(), up.stride())
by_weight = F.conv2d(x.detach().contiguous(), weight.to(memory_format=torch.channels_last)).stride()
pools = [F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_max_pool2d(x, 2)]
shown = [pool.stride() for pool in pools]
pads = [F.pad(x, (1, 1, 1, 1), mode=mode).stride() for mode in ("constant", "reflect", "replicate")]
normal = F.group_norm(x, 2).stride()
shuffled = (F.pixel_shuffle(x, 2).stride(), F.channel_shuffle(x, 2).stride())
single = torch.ones(2, 1, 4, 5).to(memory_format=torch.channels_last).stride()
point = torch.ones(2, 3, 1, 1).to(memory_format=torch.channels_last).stride()
space = torch.ones(2, 3, 1, 2, 2).to(memory_format=torch.channels_last_3d).stride()
nothing = torch.ones(0, 3, 4, 5).is_contiguous(memory_format=torch.channels_last)
