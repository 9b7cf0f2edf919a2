"""A server of esr whose operations tools of `esr mcp` call, with the rights of a key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import urllib3

from esr.plugin import EsrError, NotFound, UsageError, to_one_line
from esr.plugin.provisional import redact

_SECONDS = 30
_BASE = "/api/v1"


class RemoteServer:
    """A server of esr at an address.

    `key` is one of `esr keys`, and `index` the name of the index there, if it has several.
    """

    def __init__(self, address: str, key: str, index: str = "") -> None:
        self._address = address.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
        self._index = {"index": index} if index else {}
        self._pool = urllib3.PoolManager(timeout=_SECONDS, retries=False)

    def get(self, path: str, **arguments: Any) -> Any:
        """The answer of an operation. Raises UsageError, NotFound, or EsrError if the server fails."""
        return self._call("GET", path, None, arguments)

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer of an operation that changes something. Raises as `get`."""
        return self._call("POST", path, body, {})

    def of_index(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, **arguments: Any
    ) -> Any:
        """The answer of an operation of the index. Raises as `get`."""
        return self._call(method, path, body, {**arguments, **self._index})

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None, arguments: Mapping[str, Any]
    ) -> Any:
        address = f"{self._address}{_BASE}{path}{'?' if arguments else ''}{urlencode(arguments, doseq=True)}"
        try:
            response = self._pool.request(method, address, json=body, headers=self._headers)
        except urllib3.exceptions.HTTPError as error:
            raise EsrError(
                f"the server of dossiers and alerts does not answer: {to_one_line(error)}"
            ) from None
        data = _read_object(response.data)
        if response.status == 200 and data is not None:
            return data
        refusal = (data or {}).get("error")
        if not isinstance(refusal, dict) or "message" not in refusal:
            raise EsrError(
                f"{redact(self._address)} answers {response.status}, but not as a server of esr: check the "
                "address of --dossiers, and a proxy in front of it"
            )
        kinds: dict[int, type[EsrError]] = {400: UsageError, 404: NotFound}
        raise kinds.get(response.status, EsrError)(to_one_line(refusal["message"]))


def _read_object(body: bytes) -> dict[str, Any] | None:
    """The object in JSON, None if it is something else, such as the page of a proxy."""
    try:
        data = json.loads(body)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
