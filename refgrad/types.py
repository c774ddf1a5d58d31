"""The small value types of torch's interface: layouts, memory formats and devices."""


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
channels_last_3d = MemoryFormat("channels_last_3d")
strided = TensorLayout("strided")
sparse_coo = TensorLayout("sparse_coo")


DEVICE_TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, "
    "hpu, mtia, privateuseone"
)


class Device:
    """Where a tensor lives: always the CPU here.

    Raises:
        RuntimeError: no such kind of device.
    """

    __slots__ = ("type", "index")

    def __init__(self, type: object = "cpu", index: int | None = None):
        if isinstance(type, int):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        text = str(type)
        self.type, _, number = text.partition(":")
        if self.type not in DEVICE_TYPES.split(", "):
            raise RuntimeError(
                f"Expected one of {DEVICE_TYPES} device type at start of device string: {self.type}"
            )
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return f"device(type='{self.type}'{'' if self.index is None else f', index={self.index}'})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> "Device":
        """Begin to make tensors on this device.

        Raises:
            NotImplementedError: it is not the CPU.
        """
        if self.type != "cpu":
            raise NotImplementedError(f"tensors live on the CPU here, not on device '{self.type}'")
        return self

    def __exit__(self, *exception: object) -> None:
        pass


CPU = Device()
