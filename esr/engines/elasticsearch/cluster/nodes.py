"""Which node of a cluster is asked."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence

from elastic_transport import BaseNode, NodeConfig, NodeSelector


class StayingSelector(NodeSelector):
    """Lets each thread stay with a node until it fails, or until the next turn.

    A node that hung and comes back answers for a second or two by what it knew before: where aliases lead,
    and what its own copies hold. Alone, that is an older answer and a right one. It is wrong as a part of an
    answer for which another node was asked where the alias leads. So what belongs together is asked of one.
    """

    def __init__(self, node_configs: list[NodeConfig]) -> None:
        super().__init__(node_configs)
        self._own = threading.local()
        self._turns = itertools.count()

    def turn(self) -> None:
        """Let this thread ask the next node from now on."""
        self._own.node = None

    def select(self, nodes: Sequence[BaseNode]) -> BaseNode:
        node: BaseNode | None = getattr(self._own, "node", None)
        if node is None or node not in nodes:
            node = nodes[next(self._turns) % len(nodes)]
            self._own.node = node
        return node
