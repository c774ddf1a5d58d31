"""Node stands above the classes of all nodes, without being among their bases; a custom Function is none of them.

topic: interface
features: isinstance, custom-function, accumulate-grad
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""
import torch

Node = torch.autograd.graph.Node
functions = torch._C._functions

class Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print(isinstance(ctx, Node))
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad

x = torch.ones(2, requires_grad=True)
nodes = [x.exp().grad_fn, x.exp().grad_fn.next_functions[0][0], Copy.apply(x).grad_fn]
print([(isinstance(node, Node), issubclass(type(node), Node), Node in type(node).mro()) for node in nodes])
print([issubclass(each, Node) for each in (functions.AccumulateGrad, functions.DelayedError, Node, Copy, int)])
print(issubclass(torch.autograd.function.BackwardCFunction, Node), isinstance(Node, Node), isinstance(None, Node))
