"""Node is an abstract base: it cannot be made, and neither can a subclass that leaves methods open.

topic: interface
features: node, abstract
rule: torch.autograd.graph.Node
source: probed
"""
import torch

Node = torch.autograd.graph.Node


class Named(Node):
    def name(self):
        return "Named"


Node()  # raises TypeError
Named()  # raises TypeError
Node(3)  # raises TypeError
print(sorted(Node.__abstractmethods__), type(Node))
g = torch.ones(1, requires_grad=True).exp().grad_fn
print(isinstance(g, Node), issubclass(type(g), Node), issubclass(int, Node), isinstance(g, Named))
Node.name(3)  # raises NotImplementedError
