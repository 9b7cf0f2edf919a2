"""A connection to Elasticsearch, and its errors in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elastic_transport import ConnectionError, ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from esr.engines import deadline
from esr.engines.access import API_KEY, CA_FILE, PASSWORD, USER
from esr.engines.elasticsearch.cluster import place
from esr.engines.elasticsearch.cluster.login import Login
from esr.engines.elasticsearch.cluster.nodes import StayingSelector
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable

OLDEST = (9, 0)
SEARCH_TIMEOUT = 20
"""Seconds that Elasticsearch may search before it answers with what it has, which esr reports."""
REQUEST_TIMEOUT = SEARCH_TIMEOUT + 10
"""Seconds to wait for any answer to a search; a server that hangs is not asked again."""
LOAD_TIMEOUT = 120
"""Seconds to wait for an answer to a part of a load."""
_TURNS = 3
"""Nodes that are asked within the time of one request, if the place names as many."""
_ADVICE = {
    "flood-stage": "its disk is full: free some or add a node, the block goes by itself then",
    "read-only": "somebody made it read-only: take that back, in the settings …blocks.read_only",
    "index write (api)": "somebody blocked writes: take that back (index.blocks.write in its settings)",
    "failed to parse field": "if its type is not esr's, see that no other index template names these indices",
    "unauthorized for": "the login lacks a right: esr roles prints what each needs",
}
"""What to do, by a part of Elasticsearch's reason."""


class Cluster:
    """The servers of a place `http(s)://[user:password@]host:port[,host:port…]/alias`, and the alias on them.

    Several hosts are nodes of one cluster: what one does not answer, another is asked. Without a login in
    the place, that of the environment is taken: see `login`.
    """

    def __init__(self, where: str, request_timeout: float = REQUEST_TIMEOUT) -> None:
        scheme, basic, hosts, self.alias = place.parts(where)
        self.documents_alias = f"{self.alias}-documents"
        urls = [f"{scheme}://{host}" for host in hosts]
        self.url = f"{scheme}://{','.join(hosts)}"
        self.where = f"{self.url}/{self.alias}"
        self._login = Login.given(basic)
        self._turns = min(len(urls), _TURNS)
        self._timeout = request_timeout
        self._client = Elasticsearch(
            urls,
            **self._login.arguments(self.url),
            request_timeout=request_timeout / self._turns,
            max_retries=max(3, len(urls)),
            retry_on_timeout=self._turns > 1,
            retry_on_status=(429, 502, 503, 504),
            node_selector_class=StayingSelector,
        )

    def close(self) -> None:
        self._client.close()

    @property
    def client(self) -> Elasticsearch:
        """The client. Under a deadline, one that waits no longer than is left."""
        left = deadline.left(self._timeout)
        if left == self._timeout:
            return self._client
        return self._client.options(request_timeout=left / self._turns)

    def turn(self) -> None:
        """Let the next node answer what this thread asks from now on."""
        selector = self._client.transport.node_pool.node_selector
        assert isinstance(selector, StayingSelector)
        selector.turn()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the client's errors into ours: what happened, at which server, what to do."""
        try:
            yield
        except ConnectionTimeout as error:
            raise EngineUnreachable(f"Elasticsearch at {self.url} failed: {error.message}") from error
        except TlsError as error:
            raise EngineUnreachable(self._not_trusted(error)) from error
        except ConnectionError as error:
            hint = "" if self.url.startswith("https:") else ", and that it does not want https://"
            raise EngineUnreachable(
                f"cannot reach Elasticsearch at {self.url}: check that it runs{hint}"
            ) from error
        except UnsupportedProductError as error:
            raise self._not_elasticsearch() from error
        except ApiError as error:
            raise self._api_error(error) from error
        except TransportError as error:
            raise EngineUnreachable(f"Elasticsearch at {self.url} failed: {error.message}") from error

    def check_version(self) -> None:
        """Raises IndexUnusable for an Elasticsearch that is too old."""
        with self.errors():
            number = str(self.client.info()["version"]["number"])
        if tuple(int(n) for n in number.split(".")[:2]) < OLDEST:
            raise IndexUnusable(f"Elasticsearch at {self.url} is {number}: esr needs {_oldest()} or later")

    def _not_elasticsearch(self) -> EsrError:
        return IndexUnusable(f"the server at {self.url} is not Elasticsearch {_oldest()} or later")

    def _not_trusted(self, error: TlsError) -> str:
        if "certificate" in error.message.lower():
            return (
                f"the certificate of Elasticsearch at {self.url} is not trusted: {error.message}. "
                f"Set {CA_FILE} to the certificate of the authority that signed it"
            )
        return f"no TLS with Elasticsearch at {self.url}: {error.message}. Check that it speaks https"

    def _no_entry(self, error: ApiError) -> str:
        if self._login.is_anonymous:
            return f"Elasticsearch at {self.url} wants a login: set {API_KEY}, or {USER} and {PASSWORD}"
        expired = "expired" in str(error.body)
        what = "API key" if self._login.api_key else "user and password"
        why = " has expired: make another and set it" if expired else ": check it, or make another"
        return f"Elasticsearch at {self.url} refuses the login, the {what}{why}"

    def _api_error(self, error: ApiError) -> EsrError:
        status, reason = error.meta.status, _reason(error)
        if status < 500 and not from_elasticsearch(error):
            return self._not_elasticsearch()
        if status == 401:
            return EngineUnreachable(self._no_entry(error))
        if status == 403:
            return EsrError(f"Elasticsearch at {self.url} refuses: {reason}{advice(reason)}")
        if "unable to find script" in reason:
            return IndexUnusable(f"{self.where} lacks a stored script: load again, or send index_templates/")
        if status == 404:
            return IndexMissing(f"there is no index at {self.where}: make one with esr load")
        if "media_type" in error.error or "compatible-with" in reason:
            return IndexUnusable(f"Elasticsearch at {self.url} is too old: esr needs {_oldest()} or later")
        if "time_exceeded_exception" in reason:
            # A search whose time runs out inside a script: it is told as that script's error, as if it were a
            # bad request. Anywhere else there is an answer with what was found.
            return EngineUnreachable(f"Elasticsearch at {self.url} did not answer in its time")
        if status in (429, 502, 503, 504):
            said = f"{reason}{advice(reason)}"
            return EngineUnreachable(f"Elasticsearch at {self.url} is overloaded or not ready: {said}")
        return EsrError(f"Elasticsearch at {self.url} answered {status}: {reason}")


def from_elasticsearch(error: ApiError) -> bool:
    """Whether Elasticsearch itself gave this answer: its security gives some without the product's header."""
    body = error.body
    shaped = isinstance(body, dict) and isinstance(body.get("error"), dict)
    return shaped or "x-elastic-product" in error.meta.headers


def _oldest() -> str:
    return ".".join(map(str, OLDEST))


def _reason(error: ApiError) -> str:
    """The innermost reason that Elasticsearch gives."""
    body = error.body
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict):
        return str(error.error or error.meta.status)
    cause = body["error"]
    shards = cause.get("failed_shards") or []
    if shards:
        cause = shards[0]["reason"]
    while isinstance(cause.get("caused_by"), dict):
        cause = cause["caused_by"]
    return str(cause.get("reason") or cause.get("type"))


def advice(reason: str) -> str:
    """What an operator does about a refusal, as the end of a message; empty if nothing is known."""
    for sign, what in _ADVICE.items():
        if sign in reason:
            return f"; {what}"
    return ""
