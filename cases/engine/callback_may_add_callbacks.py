"""Callbacks run once all nodes have run, in the run still under way, so that they may add more.

topic: engine
features: queue-callback, graph-task, current-node
rule: https://docs.pytorch.org/docs/stable/autograd.html#autograd-graph
"""
import torch

queue = torch.autograd.Variable._execution_engine.queue_callback

class Seen:
    task = None

def first():
    print("first", torch._C._current_graph_task_id() == Seen.task, torch._C._current_autograd_node(), x.grad)
    queue(lambda: print("third"))

def hook(grad):
    Seen.task = torch._C._current_graph_task_id()
    queue(first)
    queue(lambda: print("second", torch.is_grad_enabled()))

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.register_hook(hook)
y.sum().backward()
queue(first)  # raises RuntimeError
