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

from esr.engines.elasticsearch.cluster.index_names import documents_index, sentences_index


class AliasTargets(NamedTuple):
    """The indices behind both aliases, joined by commas, in order."""

    sentences: str
    documents: str

    @property
    def newest(self) -> str:
        """The newest index of sentences: names end in the time at which their load began."""
        return max(self.sentences.split(","))

    @property
    def loads(self) -> set[str]:
        """The indices of sentences of all loads of which an alias leads to an index."""
        names = ",".join(self).split(",")
        return {sentences_index(name) for name in names if name}

    @property
    def missing(self) -> tuple[str, ...]:
        """The indices beside these that neither alias leads to."""
        names = {*",".join(self).split(",")}
        pairs = ((index, documents_index(index)) for index in sorted(self.loads))
        return tuple(name for pair in pairs for name in pair if name not in names)


def look_up(client: Elasticsearch, sentences: str, documents: str) -> tuple[AliasTargets, NodeConfig]:
    """Where these aliases lead, and the node that answered. An alias that does not exist leads nowhere."""
    answer = client.options(ignore_status=404).indices.get_alias(name=[sentences, documents])
    aliases = {index: body["aliases"] for index, body in answer.items() if isinstance(body, dict)}
    names = (
        ",".join(sorted(index for index in aliases if alias in aliases[index]))
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
