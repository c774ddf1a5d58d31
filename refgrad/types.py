"""The small value types of torch's interface: layouts and memory formats."""


class MemoryFormat:
    """How the dimensions of a copy lie in memory."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class TensorLayout:
    """How elements are stored: always strided here."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
strided = TensorLayout("strided")
sparse_coo = TensorLayout("sparse_coo")
