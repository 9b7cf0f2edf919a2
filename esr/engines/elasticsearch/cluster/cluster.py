"""A connection to the servers of an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import copy
from threading import Event

from elastic_transport import NodeConfig, TransportError
from elasticsearch import ApiError, Elasticsearch

from esr.engines import deadline
from esr.engines.elasticsearch.cluster import alias_targets
from esr.engines.elasticsearch.cluster.alias_targets import AliasTargets, ConfirmedNodes
from esr.engines.elasticsearch.cluster.compatible_transport import CompatibleTransport
from esr.engines.elasticsearch.cluster.errors import BUSY, OLDEST_VERSION, ErrorTranslator
from esr.engines.elasticsearch.cluster.location import parse_location
from esr.engines.elasticsearch.cluster.login import Login
from esr.engines.elasticsearch.cluster.node_selector import StickyNodeSelector
from esr.engines.elasticsearch.cluster.serializer import FastJsonSerializer
from esr.errors import IndexClosed, IndexMissing, IndexUnusable

SEARCH_TIMEOUT = 20
"""Seconds that Elasticsearch may search before it answers with what it has, which esr reports."""
REQUEST_TIMEOUT = SEARCH_TIMEOUT + 10
"""Seconds to wait for any answer to a search; a server that hangs is not asked again."""
LOAD_TIMEOUT = 120
"""Seconds to wait for an answer to a part of a load."""
_MAX_ATTEMPTS = 3
"""Nodes that are tried within the time of one request, if the location names as many."""


class Cluster:
    """The servers of a location, and the aliases there.

    Several hosts are nodes of one cluster: a request that one does not answer goes to another. A location
    without a login uses that of the environment: see `login`.
    """

    def __init__(self, where: str, request_timeout: float = REQUEST_TIMEOUT) -> None:
        location = parse_location(where)
        urls = [f"{location.scheme}://{host}" for host in location.hosts]
        self.url = f"{location.scheme}://{','.join(location.hosts)}"
        self.alias = location.alias
        self.documents_alias = f"{self.alias}-documents"
        self.where = f"{self.url}/{self.alias}"
        login = Login.resolve(location.login)
        self._error_translator = ErrorTranslator(self.url, self.where, login)
        self._attempts = min(len(urls), _MAX_ATTEMPTS)
        self._timeout = request_timeout
        self._confirmed = ConfirmedNodes()
        self._closed = Event()
        self.aliases = AliasTargets(self.alias, self.documents_alias)
        """Those of the location, also where the cluster is pinned."""
        self._targets: AliasTargets | None = None
        self._client = Elasticsearch(
            urls,
            **login.client_options(self.url),
            request_timeout=request_timeout / self._attempts,
            max_retries=max(3, len(urls)),
            retry_on_timeout=self._attempts > 1,
            retry_on_status=BUSY,
            transport_class=CompatibleTransport,
            node_selector_class=StickyNodeSelector,
            serializer=FastJsonSerializer(),
        )

    def close(self) -> None:
        """Close the connections, which pinned clusters share. From now on all of them raise IndexClosed."""
        self._closed.set()
        self._client.close()

    @contextmanager
    def closed_on_error(self) -> Iterator[None]:
        """Close the connections if the block fails: whoever opened them has no object that would."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    @property
    def client(self) -> Elasticsearch:
        """The client. Under a deadline, it waits for an answer no longer than the node's part of the time.

        Raises IndexClosed.
        """
        if self._closed.is_set():
            raise IndexClosed(self.where)
        seconds = self._answer_seconds()
        if seconds == self._timeout / self._attempts:
            return self._client
        return self._client.options(request_timeout=seconds)

    @property
    def search_seconds(self) -> float:
        """How long Elasticsearch may search. The client waits longer, so that a partial answer can arrive."""
        return round(SEARCH_TIMEOUT / REQUEST_TIMEOUT * min(self._answer_seconds(), REQUEST_TIMEOUT), 3)

    def _answer_seconds(self) -> float:
        """How long the client waits for an answer of one node, before it asks another."""
        return deadline.time_remaining(self._timeout) / self._attempts

    def switch_node(self) -> None:
        """Send the requests of this thread to the next node from now on."""
        selector = self._client.transport.node_pool.node_selector
        assert isinstance(selector, StickyNodeSelector)
        selector.switch()

    def look_up_targets(self) -> AliasTargets:
        """Where the aliases lead, as the node says that gets the requests of this thread.

        Raises IndexMissing where they lead nowhere, IndexUnusable where an index was deleted by hand.
        """
        targets, node = alias_targets.look_up(self.client, *self.aliases)
        if not any(targets):
            raise self.index_missing()
        if targets.missing:
            raise self._error_translator.incomplete(targets.missing)
        self._confirmed.confirm(node, targets)
        return targets

    def pin(self, targets: AliasTargets) -> Cluster:
        """The same servers, with these indices in place of the aliases, wherever those move."""
        pinned = copy(self)
        pinned.alias, pinned.documents_alias = targets
        pinned._targets = targets
        return pinned

    @property
    def has_several_nodes(self) -> bool:
        """Whether more than one node may answer."""
        return self._attempts > 1

    @property
    def has_other_nodes(self) -> bool:
        """Whether it means certain indices, and more than one node may answer."""
        return self._targets is not None and self.has_several_nodes

    def is_current(self, node: NodeConfig) -> bool:
        """Whether a node's answers are of the indices that are meant, and not of an older state of theirs.

        Asks the node, if it has not said so: it is the one that gets the requests of this thread.
        """
        targets = self._targets
        if targets is None or self._confirmed.knows(node, targets):
            return True
        with self.translate_errors():
            self.look_up_targets()
        return self._confirmed.knows(node, targets)

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn errors of the client into EsrErrors: what happened, at which server, what to do."""
        try:
            yield
        except (ApiError, TransportError) as error:
            if self._closed.is_set():  # by another thread, meanwhile
                raise IndexClosed(self.where) from error
            translated = self._error_translator.translate(error)
            if isinstance(translated, IndexMissing):
                translated = self._find_incomplete() or translated
            raise translated from error

    def _find_incomplete(self) -> IndexUnusable | None:
        """The error that an index behind the aliases was deleted by hand, if one was."""
        with suppress(ApiError, TransportError):
            missing = alias_targets.look_up(self.client, *self.aliases)[0].missing
            return self._error_translator.incomplete(missing) if missing else None
        return None

    def index_missing(self) -> IndexMissing:
        """The error that there is no index at this location."""
        return self._error_translator.index_missing()

    def check_version(self) -> None:
        """Raises IndexUnusable for an Elasticsearch that is too old."""
        version = self.version()
        if version < OLDEST_VERSION:
            raise self._error_translator.unsupported_version(".".join(map(str, version)))

    def version(self) -> tuple[int, ...]:
        """Major and minor version of Elasticsearch."""
        with self.translate_errors():
            version = str(self.client.info()["version"]["number"])
        return tuple(int(part) for part in version.split(".")[:2])
