"""A file that holds memory is not loaded to a device that does not exist; what was never saved fails as its
first bytes happen to read.

topic: copies
features: save, load, error
rule: torch.load
"""

import torch

import io

file = io.BytesIO()
torch.save({"w": torch.ones(2)}, file)
start = file.seek(0)
torch.load(file, map_location="cuda:0")  # raises RuntimeError
start = file.seek(0)
torch.load(file, map_location="nowhere")  # raises RuntimeError
start = file.seek(0)
loaded = torch.load(file, map_location={"cuda:0": "cpu"})
torch.load(io.BytesIO(b""))  # raises EOFError
torch.load(io.BytesIO(b"abc"))  # raises IndexError
torch.load(io.BytesIO(b"<html>"))  # raises UnpicklingError
torch.load(io.BytesIO(b"<html>"), weights_only=False)  # raises UnpicklingError
torch.load(None)  # raises AttributeError
torch.save(torch.ones(1), 3)  # raises AttributeError
