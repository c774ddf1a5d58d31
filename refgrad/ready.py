"""The nodes that are ready to run, in the order of PyTorch's heap."""

from refgrad.graph import Node

# Note [Ready nodes run latest first]
# A node gets its sequence number when it is made, so the operation that the forward made last runs first,
# however the results were used. A leaf's AccumulateGrad has the highest number there is and runs as soon as
# its gradient is complete. Nodes of one number, leaves above all, leave in the order of PyTorch's binary
# heap, which is not that of their arrival: six leaves of one node come as 0 2 5 4 1 3.


class Ready:
    """Ready nodes, each with its gradients, highest sequence number first; ties as in PyTorch's heap."""

    __slots__ = ("heap",)

    def __init__(self) -> None:
        self.heap: list[tuple[int, Node, list]] = []

    def push(self, node: Node, grads: list) -> None:
        """Add a node."""
        self.heap.append((node._order, node, grads))
        if len(self.heap) > 1:
            self._up(len(self.heap) - 1)

    def _up(self, i: int) -> None:
        heap = self.heap
        item = heap[i]
        while i and heap[(i - 1) // 2][0] < item[0]:
            heap[i] = heap[(i - 1) // 2]
            i = (i - 1) // 2
        heap[i] = item

    def pop(self) -> tuple[int, Node, list]:
        """Take the first node."""
        heap = self.heap
        last = heap.pop()
        if not heap:
            return last
        top = heap[0]
        i, count = 0, len(heap)
        while 2 * i + 1 < count:
            right = 2 * i + 2
            child = right if right < count and not heap[right][0] < heap[right - 1][0] else right - 1
            heap[i] = heap[child]
            i = child
        heap[i] = last
        self._up(i)
        return top
