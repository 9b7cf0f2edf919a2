"""A connection to the servers of an index."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elastic_transport import TransportError
from elasticsearch import ApiError, Elasticsearch

from esr.engines import deadline
from esr.engines.elasticsearch.cluster.errors import BUSY, OLDEST_VERSION, ErrorTranslator
from esr.engines.elasticsearch.cluster.location import parse_location
from esr.engines.elasticsearch.cluster.login import Login
from esr.engines.elasticsearch.cluster.node_selector import StickyNodeSelector
from esr.errors import IndexMissing

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
        self._client = Elasticsearch(
            urls,
            **login.client_options(self.url),
            request_timeout=request_timeout / self._attempts,
            max_retries=max(3, len(urls)),
            retry_on_timeout=self._attempts > 1,
            retry_on_status=BUSY,
            node_selector_class=StickyNodeSelector,
        )

    def close(self) -> None:
        self._client.close()

    @property
    def client(self) -> Elasticsearch:
        """The client. Under a deadline, it waits no longer than the time that is left."""
        left = deadline.time_remaining(self._timeout)
        if left == self._timeout:
            return self._client
        return self._client.options(request_timeout=left / self._attempts)

    def switch_node(self) -> None:
        """Send the requests of this thread to the next node from now on."""
        selector = self._client.transport.node_pool.node_selector
        assert isinstance(selector, StickyNodeSelector)
        selector.switch()

    @contextmanager
    def translate_errors(self) -> Iterator[None]:
        """Turn errors of the client into EsrErrors: what happened, at which server, what to do."""
        try:
            yield
        except (ApiError, TransportError) as error:
            raise self._error_translator.translate(error) from error

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
