"""The kinds of steps, one function each; importing this package registers them all."""

from harness.generate.actions import compute, faults, graph, memory

__all__ = ["compute", "faults", "graph", "memory"]
