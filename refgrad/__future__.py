"""`torch.__future__`: how modules convert their parameters."""

_choices = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Choose whether a conversion gives a module new parameters, instead of new memory to those it has."""
    _choices["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a conversion gives a module new parameters."""
    return _choices["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Choose whether conversion and loading swap parameters with new ones, see `torch.utils.swap_tensors`."""
    _choices["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversion and loading swap parameters with new ones."""
    return _choices["swap"]
