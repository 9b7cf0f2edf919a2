"""That the aliases still lead to one pair of indices, as when they were last looked up.

Looking them up takes a request of its own. But the answer to a search that is sent to an alias says the same
beside: each hit names its index, and shards are counted. Hits of one index, and as many shards as that index
has, leave no room for another index behind the alias. Both aliases move in one step, so either tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.engines.elasticsearch.cluster.alias_targets import AliasTargets


class SnapshotOutdated(Exception):
    """The aliases lead elsewhere than was presumed: what was found has to be found anew."""


class Presumption:
    """What the searches for one answer presume. `confirmed`: an answer has shown it to be true."""

    def __init__(self, aliases: AliasTargets, targets: AliasTargets, shards: Mapping[str, int]) -> None:
        """`shards` has the numbers of shards of those targets that were searched before."""
        self._aliases = dict(zip(targets, aliases, strict=True))
        self._shards = shards
        self.confirmed = False

    def needs(self, index: str) -> bool:
        """Whether the answer to a search of this index should be one of its alias, to be checked."""
        return not self.confirmed and index in self._shards

    def alias(self, index: str) -> str:
        """The alias that leads to this index, if all is as presumed."""
        return self._aliases[index]

    def check(self, index: str, answer: Any) -> None:
        """Compare the answer to a search of the alias of this index. One without hits shows nothing.

        Raises SnapshotOutdated.
        """
        others = any(hit["_index"] != index for hit in answer["hits"]["hits"])
        if others or answer["_shards"]["total"] != self._shards[index]:
            raise SnapshotOutdated
        self.confirmed = bool(answer["hits"]["hits"])
