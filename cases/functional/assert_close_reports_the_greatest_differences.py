"""assert_close tells how many elements differ, and where absolute and relative difference are greatest.

topic: functional
features: testing, error
rule: torch.testing.assert_close
"""

import torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
torch.testing.assert_close(x, x + 1e-7)
torch.testing.assert_close(x, torch.tensor([[1.0, 0.0], [3.0, 5.0]]))  # raises AssertionError
torch.testing.assert_close(x, x.double())  # raises AssertionError
torch.testing.assert_close(x, x.double(), check_dtype=False)
torch.testing.assert_close([x, 1], [x, 2])  # raises AssertionError
torch.testing.assert_close({"a": x}, {"b": x})  # raises AssertionError
torch.testing.assert_close(x, x + 1, rtol=0.1)  # raises argument
torch.testing.assert_close(x, x + 1, msg="too far")  # raises AssertionError
