"""A connection to Elasticsearch, and its errors in plain words."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from elastic_transport import ConnectionError, ConnectionTimeout, TlsError, TransportError
from elasticsearch import ApiError, Elasticsearch, UnsupportedProductError

from esr.engines import deadline
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, UsageError

OLDEST = (9, 0)
SEARCH_TIMEOUT = 20
"""Seconds that Elasticsearch may search before it answers with what it has, which esr reports."""
REQUEST_TIMEOUT = SEARCH_TIMEOUT + 10
"""Seconds to wait for any answer to a search; a server that hangs is not asked again."""
LOAD_TIMEOUT = 120
"""Seconds to wait for an answer to a part of a load."""
_ALIAS = re.compile(r"[a-z0-9][a-z0-9_.-]*")


class Cluster:
    """The server of a place `http(s)://[user:password@]host:port/alias`, and the alias on it.

    An API key is taken from the environment variable ESR_API_KEY.
    """

    def __init__(self, where: str, request_timeout: float = REQUEST_TIMEOUT) -> None:
        parts = urlsplit(where)
        alias = parts.path.strip("/")
        if not parts.hostname or not _ALIAS.fullmatch(alias) or len(alias) > 150:
            raise UsageError(
                f"{_hide(where)!r} is not http(s)://host:port/alias, "
                "with an alias of lower-case letters, digits and _ . -"
            )
        try:
            port = parts.port or (443 if parts.scheme == "https" else 9200)
        except ValueError as error:
            raise UsageError(f"{_hide(where)!r}: {error}") from error
        self.alias = alias
        self.documents_alias = f"{alias}-documents"
        self.url = f"{parts.scheme}://{parts.hostname}:{port}"
        self.where = f"{self.url}/{alias}"
        login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        self._timeout = request_timeout
        self._client = Elasticsearch(
            self.url,
            basic_auth=login,
            api_key=None if login else os.environ.get("ESR_API_KEY"),
            request_timeout=request_timeout,
            max_retries=3,
            retry_on_status=(429, 502, 503, 504),
        )

    def close(self) -> None:
        self._client.close()

    @property
    def client(self) -> Elasticsearch:
        """The client. Under a deadline, one that waits no longer than is left."""
        left = deadline.left(self._timeout)
        return self._client if left == self._timeout else self._client.options(request_timeout=left)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the client's errors into ours: what happened, at which server, what to do."""
        try:
            yield
        except (ConnectionTimeout, TlsError) as error:
            raise EngineUnreachable(f"Elasticsearch at {self.url} failed: {error.message}") from error
        except ConnectionError as error:
            raise EngineUnreachable(
                f"cannot reach Elasticsearch at {self.url}: check that it runs"
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

    def _api_error(self, error: ApiError) -> EsrError:
        status, reason = error.meta.status, _reason(error)
        if status < 500 and not from_elasticsearch(error):
            return self._not_elasticsearch()
        if status == 401:
            return EngineUnreachable(
                f"Elasticsearch at {self.url} wants a login: set ESR_API_KEY, or user:password in the place"
            )
        if status == 403:
            return EsrError(f"Elasticsearch at {self.url} refuses: {reason}")
        if "unable to find script" in reason:
            return IndexUnusable(f"{self.where} lacks a stored script: load again, or send index_templates/")
        if status == 404:
            return IndexMissing(f"there is no index at {self.where}: make one with esr load")
        if "media_type" in error.error or "compatible-with" in reason:
            return IndexUnusable(f"Elasticsearch at {self.url} is too old: esr needs {_oldest()} or later")
        if status in (429, 502, 503, 504):
            return EngineUnreachable(f"Elasticsearch at {self.url} is overloaded or not ready: {reason}")
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


def _hide(where: str) -> str:
    """The place without its password."""
    return re.sub(r"//[^/@]*@", "//…@", where)
