"""The cluster of a location: what its aliases point to, its version, and the translation of its errors.

A node that recovers from a hang answers from its old state for a second or two: it may report old targets of
an alias, and treat shard copies without the last writes as complete. A node that has seen a switch of the
aliases also knows which copies were complete at that time. So a search of certain indices accepts answers
only from a node that has reported these indices, or newer ones, behind the aliases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from elastic_transport import (
    NodeConfig,
    TransportError,
)
from elasticsearch import ApiError, AuthorizationException, Elasticsearch, NotFoundError

from esr.elastic.connection import (
    REQUEST_TIMEOUT,
    SEARCH_TIMEOUT,
    AliasTargets,
    Connection,
    StickyNodeSelector,
)
from esr.elastic.dialect import ELASTICSEARCH, Dialect
from esr.elastic.location import is_of_period
from esr.elastic.login import is_from_elasticsearch
from esr.errors import IndexClosed, IndexMissing, IndexUnusable
from esr.index.limits import time_remaining


def look_up(client: Elasticsearch, sentences: str, documents: str) -> tuple[AliasTargets, NodeConfig]:
    """The indices behind these aliases, and the node that answered. A missing alias has none."""
    try:
        answer = client.indices.get_alias(name=[sentences, documents])
        body, node = answer.body, answer.meta.node
    except NotFoundError as error:
        # A proxy that does not find the address says nothing about aliases.
        if not isinstance(error.body, dict) or not is_from_elasticsearch(error):
            raise
        body, node = error.body, error.meta.node
    indices = {index: state for index, state in body.items() if isinstance(state, dict)}
    aliases = {index: state["aliases"] for index, state in indices.items() if "aliases" in state}
    names = (
        ",".join(sorted(index for index in aliases if alias in aliases[index]))
        for alias in (sentences, documents)
    )
    return AliasTargets(*names), node


class Cluster:
    """The servers of a location, and its aliases or the indices that it is pinned to."""

    def __init__(
        self,
        where: str,
        request_timeout: float = REQUEST_TIMEOUT,
        connection: Connection | None = None,
        targets: AliasTargets | None = None,
        names: AliasTargets | None = None,
    ) -> None:
        """`targets` are the indices that it is pinned to, and `names` are what requests name instead."""
        connection = connection or Connection(where, request_timeout)
        self._connection, self._targets = connection, targets
        self.url: str = connection.url
        self.where: str = connection.where
        self.aliases: AliasTargets = connection.aliases
        self.alias: str
        self.documents_alias: str
        self.alias, self.documents_alias = names or targets or connection.aliases

    def close(self) -> None:
        """Close the connections, which pinned clusters share. Any later use raises IndexClosed."""
        self._connection.closed.set()
        self._connection.client.close()

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the connections if the block fails: the caller then has no object to close."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Elasticsearch:
        """The client. Raises IndexClosed.

        Under a deadline, it waits for an answer no longer than one node's share of the time left.
        """
        if self._connection.closed.is_set():
            raise IndexClosed(self.where)
        seconds = self.answer_seconds()
        if seconds == self._connection.timeout / self._connection.attempts:
            return self._connection.client
        return self._connection.client_within(seconds)

    @property
    def search_seconds(self) -> float:
        """Seconds that Elasticsearch may search. The client waits longer, to receive a partial answer."""
        return round(SEARCH_TIMEOUT / REQUEST_TIMEOUT * min(self.answer_seconds(), REQUEST_TIMEOUT), 3)

    def answer_seconds(self) -> float:
        """Seconds that the client waits for the answer of one node before it asks another."""
        return time_remaining(self._connection.timeout) / self._connection.attempts

    def switch_node(self) -> None:
        """Send later requests of this thread to the next node."""
        selector = self._connection.client.transport.node_pool.node_selector
        assert isinstance(selector, StickyNodeSelector)
        selector.switch()

    def look_up_targets(self, *, in_part: bool = False) -> AliasTargets:
        """The indices behind the aliases, according to the node that serves this thread.

        Raises IndexMissing if the aliases have no indices, IndexUnusable if an index was deleted by hand.
        With `in_part`, such an index of a divided load is left out, as long as another load is intact.
        """
        targets, node = look_up(self.client, *self.aliases)
        if not any(targets):
            raise self.index_missing()
        if targets.missing:
            if not (in_part and any(targets.intact) and is_of_period(targets.newest)):
                raise self.incomplete(targets.missing)
            targets = targets.intact
        self._connection.confirmed.confirm(node, targets)
        return targets

    def pin(self, targets: AliasTargets, names: AliasTargets | None = None) -> Cluster:
        """The same servers, with these indices in place of the aliases, which may move.

        Requests name `names` in their place, if given.
        """
        return Cluster(self.where, connection=self._connection, targets=targets, names=names)

    def narrow(self, names: AliasTargets) -> Cluster:
        """The same servers, with only these of the indices that it is pinned to."""
        return Cluster(self.where, connection=self._connection, targets=self._targets, names=names)

    @property
    def targets(self) -> AliasTargets | None:
        """The indices that it is pinned to, None if it is not pinned."""
        return self._targets

    @property
    def has_several_nodes(self) -> bool:
        """Whether more than one node may answer."""
        return self._connection.attempts > 1

    @property
    def has_other_nodes(self) -> bool:
        """Whether the cluster is pinned to indices, and more than one node may answer."""
        return self._targets is not None and self.has_several_nodes

    def is_current(self, node: NodeConfig) -> bool:
        """Whether a node answers from the current state of the indices that the cluster is pinned to.

        Asks the node that serves this thread, unless it has already reported these indices.
        """
        targets = self._targets
        if targets is None or self._connection.confirmed.knows(node, targets):
            return True
        with self.translate_errors():
            self.look_up_targets(in_part=True)
        return self._connection.confirmed.knows(node, targets)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Convert errors of the client to EsrErrors: what happened, at which server, what to do."""
        try:
            yield
        except (ApiError, TransportError) as error:
            if self._connection.closed.is_set():  # by another thread
                raise IndexClosed(self.where) from error
            translated = self._connection.translator.translate(error)
            if isinstance(translated, IndexMissing):
                translated = self._find_incomplete() or translated
            raise translated from error

    def _find_incomplete(self) -> IndexUnusable | None:
        """The error for an index behind the aliases that was deleted by hand; None if there is none."""
        with suppress(ApiError, TransportError):
            missing = look_up(self.client, *self.aliases)[0].missing
            return self._connection.translator.incomplete(missing) if missing else None
        return None

    def incomplete(self, missing: Sequence[str]) -> IndexUnusable:
        """The error for indices behind the aliases that were deleted by hand."""
        return self._connection.translator.incomplete(missing)

    def index_missing(self) -> IndexMissing:
        """The error for a location without an index."""
        return self._connection.translator.index_missing()

    @property
    def dialect(self) -> Dialect:
        """The dialect of the server, known from its first answer. Raises EngineUnreachable."""
        if self._connection.dialect is None:
            with self.translate_errors(), suppress(ApiError):
                self.client.info()
        return self._connection.dialect or ELASTICSEARCH

    def check_version(self) -> None:
        """Raise IndexUnusable if the server is too old."""
        version = self.version()
        if version < self.dialect.oldest:
            raise self._connection.translator.unsupported_version(".".join(map(str, version)))

    def version(self) -> tuple[int, ...]:
        """The major and minor version of the server."""
        with self.translate_errors():
            return _major_and_minor(self._read_version())

    def known_version(self) -> tuple[int, ...] | None:
        """The major and minor version of the server; None if the login may only search."""
        with self.translate_errors(), suppress(AuthorizationException):
            return _major_and_minor(self._read_version())
        return None

    def server(self) -> str:
        """The name of the server and, unless the login may only search, its version."""
        with self.translate_errors(), suppress(AuthorizationException):
            return f"{self.dialect.name} {self._read_version()}"
        return self.dialect.name

    def _read_version(self) -> str:
        """The version of the server. Raises the errors of the client."""
        return str(self.client.info()["version"]["number"])


def _major_and_minor(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
