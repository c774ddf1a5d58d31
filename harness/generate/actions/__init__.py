"""The kinds of steps, one function each; importing this package registers them all."""

from harness.generate.actions import (
    backward,
    callbacks,
    compute,
    create,
    faults,
    looks,
    memory,
    scenes,
    transforms,
)

__all__ = ["backward", "callbacks", "compute", "create", "faults", "looks", "memory", "scenes", "transforms"]
