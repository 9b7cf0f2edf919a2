"""A connection to the servers of an index, and the indices that the aliases of its location point to.

A node that recovers from a hang answers from its old state for a second or two: it may report old targets of
an alias, and treat shard copies without the last writes as complete. A node that has seen a switch of the
aliases also knows which copies were complete at that time. So a search of certain indices accepts answers
only from a node that has reported these indices, or newer ones, behind the aliases.
"""

from __future__ import annotations

import itertools
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any, NamedTuple

import msgspec
from elastic_transport import BaseNode, NodeConfig, NodeSelector, TransportError
from elasticsearch import ApiError, AuthorizationException, Elasticsearch
from elasticsearch.serializer import JsonSerializer

from esr.elastic.dialect import ELASTICSEARCH, Dialect, ServerTransport
from esr.elastic.location import documents_index, parse_location, sentences_index
from esr.elastic.login import BUSY, ErrorTranslator, Login
from esr.errors import IndexClosed, IndexMissing, IndexUnusable
from esr.index.limits import time_remaining
from esr.stdlib import read_json


class AliasTargets(NamedTuple):
    """The indices behind both aliases, as sorted names joined by commas."""

    sentences: str
    documents: str

    @property
    def newest(self) -> str:
        """The newest index of sentences, by the start time of the load at the end of its name."""
        return max(self.sentences.split(","))

    @property
    def loads(self) -> set[str]:
        """The indices of sentences of all loads behind either alias."""
        names = ",".join(self).split(",")
        return {sentences_index(name) for name in names if name}

    @property
    def missing(self) -> tuple[str, ...]:
        """The indices of these loads that neither alias points to."""
        names = {*",".join(self).split(",")}
        pairs = ((index, documents_index(index)) for index in sorted(self.loads))
        return tuple(name for pair in pairs for name in pair if name not in names)


def look_up(client: Elasticsearch, sentences: str, documents: str) -> tuple[AliasTargets, NodeConfig]:
    """The indices behind these aliases, and the node that answered. A missing alias has none."""
    answer = client.options(ignore_status=404).indices.get_alias(name=[sentences, documents])
    aliases = {index: body["aliases"] for index, body in answer.items() if isinstance(body, dict)}
    names = (
        ",".join(sorted(index for index in aliases if alias in aliases[index]))
        for alias in (sentences, documents)
    )
    return AliasTargets(*names), answer.meta.node


class ConfirmedNodes(threading.local):
    """The node that last reported the targets of the aliases, and its report. Each thread has its own."""

    node: NodeConfig | None = None
    targets: AliasTargets | None = None

    def confirm(self, node: NodeConfig, targets: AliasTargets) -> None:
        self.node, self.targets = node, targets

    def knows(self, node: NodeConfig, targets: AliasTargets) -> bool:
        """Whether this node has reported these indices, or newer ones, behind the aliases."""
        known = self.targets
        if known is None or node != self.node:
            return False
        return known == targets or known.newest > targets.newest


class StickyNodeSelector(NodeSelector):
    """Keeps each thread on one node until that node fails or the thread switches to the next.

    An answer from a node with an old state (see the module) is out of date, but consistent. Combined with an
    alias that was looked up on another node, it is wrong. So related requests go to one node.
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


class FastJsonSerializer(JsonSerializer):
    """Encodes requests in a fifth, and parses answers in less than half, of the time of Python's json."""

    def json_dumps(self, data: Any) -> bytes:
        try:
            return msgspec.json.encode(data)
        except (TypeError, UnicodeEncodeError):  # for example half a surrogate pair
            return super().json_dumps(data)

    def json_loads(self, data: bytes) -> Any:
        return read_json(data)


class ProcessClients:
    """The client of this process. After a fork, the new process gets its own client.

    Two processes with the same sockets would get each other's answers.
    """

    def __init__(self, connect: Callable[[], Elasticsearch]) -> None:
        self._connect = connect
        self._of_process = os.getpid(), connect()
        self._hurried: dict[tuple[int, float], Elasticsearch] = {}
        """Clients with other timeouts, by process and seconds. Creating one takes half a millisecond."""

    @property
    def client(self) -> Elasticsearch:
        process, client = self._of_process
        if process == os.getpid():
            return client
        self._of_process = os.getpid(), self._connect()
        return self._of_process[1]

    def hurried(self, seconds: float) -> Elasticsearch:
        """The client with this timeout, rounded down to tenths of a second."""
        seconds = math.floor(10 * seconds) / 10 or seconds
        key = os.getpid(), seconds
        client = self._hurried.get(key)
        if client is None:
            client = self.client.options(request_timeout=seconds)
            if len(self._hurried) >= _MOST_HURRIED:
                self._hurried.clear()
            self._hurried[key] = client
        return client


SEARCH_TIMEOUT = 20
"""Seconds that Elasticsearch may search before it returns a partial answer, which esr reports as such."""
REQUEST_TIMEOUT = SEARCH_TIMEOUT + 10
"""Seconds to wait for any answer to a search. A hanging server is not asked again."""
LOAD_TIMEOUT = 120
"""Seconds to wait for an answer to a request of a load."""
_MOST_HURRIED = 400
_MAX_ATTEMPTS = 3
"""Maximum number of nodes that are tried within the time of one request."""


class Connection:
    """The client for the servers of a location. A cluster shares it with those pinned to its indices.

    Several hosts are nodes of one cluster: if one does not answer a request, another is tried. A location
    without a login uses that of the environment (`Login`).
    """

    def __init__(self, where: str, request_timeout: float) -> None:
        location = parse_location(where)
        urls = [f"{location.scheme}://{host}{location.path}" for host in location.hosts]
        self.url = f"{location.scheme}://{','.join(location.hosts)}{location.path}"
        self.where = f"{self.url}/{location.alias}"
        self.aliases = AliasTargets(location.alias, f"{location.alias}-documents")
        login = Login.resolve(location.login)
        self.translator = ErrorTranslator(self.url, self.where, login, lambda: self.dialect or ELASTICSEARCH)
        self.attempts = min(len(urls), _MAX_ATTEMPTS)
        self.timeout = request_timeout
        self.confirmed = ConfirmedNodes()
        self.closed = Event()
        options = login.client_options(self.url)
        self._clients = ProcessClients(
            lambda: Elasticsearch(
                urls,
                **options,
                request_timeout=request_timeout / self.attempts,
                max_retries=max(3, len(urls)),
                retry_on_timeout=self.attempts > 1,
                retry_on_status=BUSY,
                transport_class=ServerTransport,
                node_selector_class=StickyNodeSelector,
                serializer=FastJsonSerializer(),
            )
        )

    @property
    def client(self) -> Elasticsearch:
        return self._clients.client

    def hurried(self, seconds: float) -> Elasticsearch:
        """The client that waits for an answer no longer than this."""
        return self._clients.hurried(seconds)

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of the server, None before its first answer."""
        transport = self.client.transport
        assert isinstance(transport, ServerTransport)
        return transport.dialect


class Cluster:
    """The servers of a location, and its aliases or the indices that it is pinned to."""

    def __init__(
        self,
        where: str,
        request_timeout: float = REQUEST_TIMEOUT,
        connection: Connection | None = None,
        targets: AliasTargets | None = None,
    ) -> None:
        connection = connection or Connection(where, request_timeout)
        self._connection, self._targets = connection, targets
        self.url, self.where, self.aliases = connection.url, connection.where, connection.aliases
        self.alias, self.documents_alias = targets or connection.aliases

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
        seconds = self._answer_seconds()
        if seconds == self._connection.timeout / self._connection.attempts:
            return self._connection.client
        return self._connection.hurried(seconds)

    @property
    def search_seconds(self) -> float:
        """Seconds that Elasticsearch may search. The client waits longer, to receive a partial answer."""
        return round(SEARCH_TIMEOUT / REQUEST_TIMEOUT * min(self._answer_seconds(), REQUEST_TIMEOUT), 3)

    def _answer_seconds(self) -> float:
        """Seconds that the client waits for the answer of one node before it asks another."""
        return time_remaining(self._connection.timeout) / self._connection.attempts

    def switch_node(self) -> None:
        """Send later requests of this thread to the next node."""
        selector = self._connection.client.transport.node_pool.node_selector
        assert isinstance(selector, StickyNodeSelector)
        selector.switch()

    def look_up_targets(self) -> AliasTargets:
        """The indices behind the aliases, according to the node that serves this thread.

        Raises IndexMissing if the aliases have no indices, IndexUnusable if an index was deleted by hand.
        """
        targets, node = look_up(self.client, *self.aliases)
        if not any(targets):
            raise self.index_missing()
        if targets.missing:
            raise self._connection.translator.incomplete(targets.missing)
        self._connection.confirmed.confirm(node, targets)
        return targets

    def pin(self, targets: AliasTargets) -> Cluster:
        """The same servers, with these indices in place of the aliases, which may move."""
        return Cluster(self.where, connection=self._connection, targets=targets)

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
            self.look_up_targets()
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
            version = str(self.client.info()["version"]["number"])
        return tuple(int(part) for part in version.split(".")[:2])

    def server(self) -> str:
        """The name of the server and, unless the login may only search, its version."""
        with self.translate_errors():
            try:
                return f"{self.dialect.name} {self.client.info()['version']['number']}"
            except AuthorizationException:
                return self.dialect.name
