"""The functions of `torch.nn.functional` that undo the taking of maxima."""

from typing import Any

from refgrad.op import calls


def each(value: Any, count: int) -> tuple:
    """A number for each dimension; a sequence as it is."""
    return (value,) * count if isinstance(value, int) else tuple(value)


def size_of(input: Any, options: tuple, output_size: Any) -> tuple:
    """The size of the larger image.

    Raises:
        ValueError: the one that is asked for cannot be.
    """
    kernel, stride, padding = options
    count = len(kernel)
    sizes = input.size()[-count:]
    each_dim = zip(sizes, kernel, stride, padding, strict=True)
    usual = tuple([(n - 1) * s + k - 2 * p for n, k, s, p in each_dim])
    if output_size is None:
        return usual
    if len(output_size) == count + 2:
        output_size = output_size[2:]
    if len(output_size) != count:
        raise ValueError(
            f"output_size should be a sequence containing {count} or {count + 2} elements, but it has a "
            f"length of '{len(output_size)}'"
        )
    for i in range(count):
        low, high = usual[i] - stride[i], usual[i] + stride[i]
        if not low < output_size[i] < high:
            raise ValueError(
                f'invalid output_size "{output_size}" (dim {i} must be between {low} and {high})'
            )
    return tuple(output_size)


def options_of(kernel_size: Any, stride: Any, padding: Any, count: int) -> tuple:
    """The options for each dimension."""
    kernel = each(kernel_size, count)
    return kernel, kernel if stride is None else each(stride, count), each(padding, count)


def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Maxima of sequences (N, C, L) put back; zeros elsewhere."""
    size = size_of(input, options_of(kernel_size, stride, padding, 1), output_size)
    return calls.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), (*size, 1)).squeeze(-1)


def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Maxima of images (N, C, H, W) put back; zeros elsewhere."""
    size = size_of(input, options_of(kernel_size, stride, padding, 2), output_size)
    return calls.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Any:
    """Maxima of volumes (N, C, D, H, W) put back; zeros elsewhere."""
    options = options_of(kernel_size, stride, padding, 3)
    size = size_of(input, options, output_size)
    return calls.max_unpool3d(input, indices, size, *options[1:])
