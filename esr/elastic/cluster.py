"""Locations in Elasticsearch, the names of the indices there, the privileges on them, and the connection.

A location is `http(s)://[user:password@]host[:port][,host…][/path]/alias`, where `path` is that of a proxy.
Each load has an index of sentences and one of documents. Their names consist of the alias, the start time of
the load, and the kind, which the index templates match. Roles grant the privileges that esr needs, and no
more.

A node that recovers from a hang answers from its old state for a second or two: it may report old targets of
an alias, and treat shard copies without the last writes as complete. A node that has seen a switch of the
aliases also knows which copies were complete at that time. So a search of certain indices accepts answers
only from a node that has reported these indices, or newer ones, behind the aliases.
"""

from __future__ import annotations

import itertools
import math
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec
from elastic_transport import (
    BaseNode,
    NodeConfig,
    NodeSelector,
    SerializationError,
    TransportApiResponse,
    TransportError,
)
from elasticsearch import ApiError, AuthorizationException, Elasticsearch
from elasticsearch.serializer import JsonSerializer

from esr.elastic.dialect import ELASTICSEARCH, Dialect, ServerTransport
from esr.elastic.login import BUSY, DISK_FULL, ErrorTranslator, Login
from esr.errors import IndexClosed, IndexMissing, IndexUnusable, UsageError
from esr.index.generations import new_generation_name
from esr.index.limits import time_remaining
from esr.index.login_variables import ROLES, redact
from esr.stdlib import read_json

# Locations

_ALIAS = re.compile(r"[a-z0-9][a-z0-9_.-]*")
_HOST = re.compile(r"([\w.-]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?", re.ASCII)
_PATH = re.compile(r"(/[\w.~-]+)*", re.ASCII)
_LONGEST_ALIAS = 150


class Location(NamedTuple):
    """The parts of a location: `login` is a user and a password, each of `hosts` includes its port.

    `path` is the path of a proxy, such as "/search", or "".
    """

    scheme: str
    login: tuple[str, str] | None
    hosts: list[str]
    path: str
    alias: str


def parse_location(where: str) -> Location:
    """Parse a location. Raises UsageError, whose message shows no login."""
    form = "http(s)://host:port/alias, with an alias of lower-case letters, digits and _ . -"
    malformed = UsageError(f"{redact(where)!r} is not {form}")
    try:
        split = urlsplit(where)
    except ValueError:
        raise malformed from None
    login, _, netloc = split.netloc.rpartition("@")
    path, _, alias = f"/{split.path.strip('/')}".rpartition("/")
    if split.query or split.fragment or not _PATH.fullmatch(path):
        raise malformed
    if not _ALIAS.fullmatch(alias) or len(alias) > _LONGEST_ALIAS:
        raise malformed
    hosts = []
    for host in netloc.split(","):
        match = _HOST.fullmatch(host)
        if match is None or not 0 < int(match[2] or 1) < 65536:
            raise malformed
        hosts.append(f"{match[1]}:{match[2] or (443 if split.scheme == 'https' else 9200)}")
    user, _, password = login.partition(":")
    return Location(split.scheme, (unquote(user), unquote(password)) if user else None, hosts, path, alias)


def parse_alias(text: str) -> str:
    """The alias of a location, or the alias itself. Raises UsageError."""
    return parse_location(text if "://" in text else f"http://localhost/{text}").alias


# The names of indices, and the privileges on them

SENTENCES, DOCUMENTS = "-esr-sentences", "-esr-documents"
_STAMPED = re.compile(rf"-(\d{{8}}t\d{{12}}(?:-\d+)?){SENTENCES}")


def documents_index(index: str) -> str:
    """The index of documents of the load with this index of sentences."""
    return index.removesuffix(SENTENCES) + DOCUMENTS


def sentences_index(index: str) -> str:
    """The index of sentences of the load with this index of either kind."""
    return index.removesuffix(DOCUMENTS) + SENTENCES if index.endswith(DOCUMENTS) else index


def new_sentences_index(alias: str, newest: str, number: int = 0) -> str:
    """The name of an index of sentences for a load that begins now, later than the generation `newest`.

    `number` distinguishes indices of the same moment.
    """
    return f"{alias}-{new_generation_name(newest)}{f'-{number}' if number else ''}{SENTENCES}"


def generation_name(index: str) -> str:
    """The name of the generation whose newest index of sentences this is."""
    match = _STAMPED.search(index)
    return match[1] if match else index.removesuffix(SENTENCES)


def belongs_to(index: str, alias: str) -> bool:
    """Whether this is an index of sentences of the alias. An index of `news-de` is not one of `news`."""
    return index.startswith(alias) and _STAMPED.fullmatch(index, len(alias)) is not None


def lucene_pattern(alias: str) -> str:
    """A Lucene regular expression for the indices of an alias, of both kinds.

    A wildcard does not suffice: `news-*` would also match the indices of an alias `news-de`.
    """
    stamped = rf"/{re.escape(alias)}-[0-9]{{8}}t[0-9]{{12}}(-[0-9]+)?({SENTENCES}|{DOCUMENTS})/"
    return stamped.replace(r"\-", "-")


_SCRIPTS = ["cluster:admin/script/get", "cluster:admin/script/put"]
_LOADER = ["monitor", "manage_index_templates", *_SCRIPTS]
_OPERATOR = [
    *_LOADER,
    "cluster:admin/script/delete",
    "cluster:admin/snapshot/*",
    "cluster:admin/repository/*",
    "cluster:admin/settings/update",
    "cluster:admin/reroute",
]
_PRIVILEGES: Mapping[str, tuple[list[str], list[str]]] = {
    "page": ([], ["read", "view_index_metadata"]),
    "loader": (_LOADER, ["read", "write", "manage"]),
    "operator": (_OPERATOR, ["read", "write", "manage"]),
}
"""Privileges by role: on the cluster, and on the indices of the aliases."""


def role_descriptors(aliases: Sequence[str], roles: Sequence[str] = tuple(ROLES)) -> dict[str, Any]:
    """Role descriptors by name, as the security API takes them, for these aliases and no others."""
    names = [name for alias in aliases for name in (alias, f"{alias}-documents", lucene_pattern(alias))]
    return {
        role: {
            "cluster": _PRIVILEGES[role][0],
            "indices": [{"names": names, "privileges": _PRIVILEGES[role][1]}],
        }
        for role in roles
    }


# The connection


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

    def loads(self, data: bytes) -> Any:
        """Parse an answer. A page that a proxy sends as JSON is its text, like any other page."""
        try:
            return super().loads(data)
        except SerializationError:
            if data.lstrip()[:1] in (b"{", b"["):  # a damaged answer
                raise
            return data.decode("utf-8", "replace")


class PatientTransport(ServerTransport):
    """The transport of writers. It waits while a server, or a proxy in front of it, is not ready.

    The client repeats a request at once, which is too soon for a proxy that starts again. The sender of bulk
    requests repeats them itself.
    """

    waits = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    """Seconds before each repetition, on average."""

    def perform_request(self, method: str, target: str, **options: Any) -> TransportApiResponse:
        for wait in self.waits if options.get("max_retries") != 0 else ():
            answer = super().perform_request(method, target, **options)
            if answer.meta.status not in BUSY or DISK_FULL in str(answer.body):
                return answer
            time.sleep(random.uniform(0.5, 1.5) * wait)
        return super().perform_request(method, target, **options)


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
                transport_class=PatientTransport if request_timeout >= LOAD_TIMEOUT else ServerTransport,
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
