"""Which node of a cluster gets a request."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

from elastic_transport import BaseNode, NodeConfig, NodeSelector


class StickyNodeSelector(NodeSelector):
    """Keeps each thread on one node until that node fails or the thread switches to the next.

    A node that hung and comes back answers from its old state for a second or two: where aliases lead, and
    what its own copies hold. An answer made of that alone is out of date, but consistent. Combined with an
    alias that was looked up on another node it is wrong. So requests that belong together go to one node.
    """

    def __init__(self, node_configs: list[NodeConfig]) -> None:
        super().__init__(node_configs)
        self._thread = threading.local()
        self._counter = itertools.count()

    def switch(self) -> None:
        """Move this thread to the next node."""
        self._thread.node = None

    def select(self, nodes: Sequence[BaseNode]) -> BaseNode:
        node: BaseNode | None = getattr(self._thread, "node", None)
        if node is None or node not in nodes:
            node = nodes[next(self._counter) % len(nodes)]
            self._thread.node = node
        return node
