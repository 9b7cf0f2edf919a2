"""Where the aliases of a location lead, and which node says so.

A node that hung and comes back answers from its old state for a second or two, also for indices by their
names: it may take copies without the last writes for whole ones. A node that knows of a switch knows which
copies were whole then. So a search that means certain indices takes answers of a node only after that node
has said that the aliases lead to these indices, or to newer ones.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from elastic_transport import NodeConfig
from elasticsearch import Elasticsearch


class AliasTargets(NamedTuple):
    """The indices behind both aliases, joined by commas, in order."""

    sentences: str
    documents: str

    @property
    def newest(self) -> str:
        """The newest index of sentences: names end in the time at which their load began."""
        return max(self.sentences.split(","))


def look_up(client: Elasticsearch, sentences: str, documents: str) -> tuple[AliasTargets, NodeConfig]:
    """Where these aliases lead, and the node that answered."""
    answer = client.indices.get_alias(name=[sentences, documents])
    names = (
        ",".join(sorted(index for index in answer if alias in answer[index]["aliases"]))
        for alias in (sentences, documents)
    )
    return AliasTargets(*names), answer.meta.node


class ConfirmedNodes(threading.local):
    """By thread, the node that was last asked where the aliases lead, and what it said."""

    node: NodeConfig | None = None
    targets: AliasTargets | None = None

    def confirm(self, node: NodeConfig, targets: AliasTargets) -> None:
        self.node, self.targets = node, targets

    def knows(self, node: NodeConfig, targets: AliasTargets) -> bool:
        """Whether this node has said that the aliases lead to these indices, or to newer ones."""
        known = self.targets
        if known is None or node != self.node:
            return False
        return known == targets or known.newest > targets.newest
