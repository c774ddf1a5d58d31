"""stft cuts a padded signal into pieces and transforms each; istft adds them up again, and the gradient of
the round trip is that of the identity.

topic: complex
features: stft, istft, as_strided
rule: torch.stft
"""

import torch

x = torch.tensor([1.0, 2.0, 0.0, -1.0, 3.0, 0.5, 1.0, 2.0], requires_grad=True)
window = torch.hann_window(4)
pieces = torch.stft(x, 4, hop_length=2, window=window, return_complex=True)
names, node = [], pieces.grad_fn
while node is not None:
    names.append(node.name())
    node = node.next_functions[0][0] if node.next_functions else None
print(names, pieces.shape, pieces.stride(), window)
back = torch.istft(pieces, 4, hop_length=2, window=window, length=8)
(back * torch.arange(8.0)).sum().backward()
close = torch.allclose(back, x), torch.allclose(x.grad, torch.arange(8.0), atol=1e-5)
torch.stft(x, 4, window=window)  # raises RuntimeError
torch.istft(pieces, 4, hop_length=2, window=window, center=False)  # raises RuntimeError
