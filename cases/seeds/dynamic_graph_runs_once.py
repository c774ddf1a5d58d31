"""The forward runs statement by statement, and the graph built on the way is freed by its first backward.

topic: seeds
features: backward, freed-graph, data, mean, pow
rule: https://docs.pytorch.org/docs/stable/notes/autograd.html#saved-tensors
source: seeds 001, fragment 1
"""

import torch 
w = torch.tensor([[3.0,1.0]],requires_grad=True)
b = torch.tensor([[3.0]],requires_grad=True)
X = torch.randn(10,2)
Y = torch.randn(10,1)
Y_hat = X @ w.t() + b
# Y_hat定义后其正向传播被立即执行，与其后面的loss创建语句无关

loss = torch.mean(torch.pow(Y_hat-Y,2))
print(loss.data)
print(Y_hat.data)

loss.backward()
loss.backward() # 再次反向传播将报错  # raises freed-graph
