"""Anomaly detection: where in the forward a failing node was made, and a search for NaN."""

import warnings

from refgrad import modes
from refgrad.tensor import type_name


def switch(enabled: bool, check_nan: bool) -> None:
    """Switch anomaly detection.

    Raises:
        TypeError: one of the two is no bool.
    """
    for position, (name, value) in enumerate((("enabled", enabled), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not "
                f"{type_name(value)}"
            )
    modes.set_rare(anomaly=enabled, check_nan=check_nan)


class set_detect_anomaly:
    """Sets anomaly detection when called, and restores the former state at the end of a `with` block."""

    def __init__(self, mode: bool, check_nan: bool = True):
        self.prev, self.prev_check_nan = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        switch(self.prev, self.prev_check_nan)


class detect_anomaly:
    """Anomaly detection inside a `with` block; says at once that it costs time."""

    def __init__(self, check_nan: bool = True):
        self.prev, self.prev_check_nan = is_anomaly_enabled(), is_anomaly_check_nan_enabled()
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        switch(True, self.check_nan)

    def __exit__(self, *exception: object) -> None:
        switch(self.prev, self.prev_check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return bool(modes.RARE) and modes.state.rare.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection looks for NaN."""
    return modes.state.rare.check_nan
