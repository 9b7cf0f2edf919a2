"""The tools of `esr mcp` for the dossiers of a server of esr, where they have the rights of a key."""

import json
from typing import Annotated, Any
from urllib.parse import urlencode

import urllib3
from mcp.types import CallToolResult

from esr.bridges.mcp_budget import fit
from esr.bridges.mcp_schemas import AddedItems, Dossiers, ReadDossier
from esr.plugin import EsrError, NotFound, UsageError, to_one_line

_SECONDS = 30
_CHARS = 200
"""Characters of descriptions."""
_BASE = "/api/v1/dossiers"
Texts = list[str] | str


class DossierTools:
    """The tools for the dossiers of a server. They raise EsrError.

    `server` is its address, `key` one of `esr keys`, and `index` the name of the index there, if it has
    several.
    """

    def __init__(self, server: str, key: str, index: str = "") -> None:
        self._server = server.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}", "Accept": "application/json"}
        self._index = {"index": index} if index else {}
        self._pool = urllib3.PoolManager(timeout=_SECONDS, retries=False)

    def dossiers(self, budget: int) -> Annotated[CallToolResult, Dossiers]:
        """List the dossiers of the people you work for, those that changed last first."""
        listed = self._call("GET", "")["dossiers"]
        names = ("id", "name", "description", "owner", "role", "items")
        items = [_shorten({name: dossier[name] for name in names}) for dossier in listed]
        return fit({"total": len(items)}, "dossiers", items, budget)

    def dossier(self, id: str, budget: int) -> Annotated[CallToolResult, ReadDossier]:
        """Read a dossier: what people keep, with their notes and tags, and whether the texts have changed."""
        read = self._call("GET", "/one", id=id)
        items = [_describe_item(number, reading) for number, reading in enumerate(read["items"], 1)]
        head = _shorten({name: read[name] for name in ("id", "name", "description", "role", "version")})
        return fit({**head, "total": len(items)}, "items", items, budget)

    def add_to_dossier(
        self, id: str, sentences: Texts, note: str | None, tags: Texts | None, budget: int
    ) -> Annotated[CallToolResult, AddedItems]:
        """Add sentences to a dossier by their ids, with a note and tags for people to read."""
        body = {"id": id, "sentences": _as_list(sentences)}
        body |= {"note": note} if note else {}
        body |= {"tags": _as_list(tags)} if tags else {}
        written = self._call("POST", "/add", body, **self._index)
        items = [{"id": item["id"], "text": item["text"]} for item in written["items"]]
        answer = {"version": written["version"], "total": len(items), "known": len(written["known"])}
        return fit(answer, "items", items, budget)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None, **arguments: str) -> Any:
        """The answer of an operation. Raises UsageError, NotFound, or EsrError if the server fails."""
        address = f"{self._server}{_BASE}{path}{'?' if arguments else ''}{urlencode(arguments)}"
        try:
            response = self._pool.request(method, address, json=body, headers=self._headers)
            data = json.loads(response.data)
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise EsrError(f"the server of the dossiers does not answer: {to_one_line(error)}") from None
        if response.status == 200:
            return data
        message = to_one_line(data.get("error", {}).get("message", f"status {response.status}"))
        kinds: dict[int, type[EsrError]] = {400: UsageError, 404: NotFound}
        raise kinds.get(response.status, EsrError)(message)


def _shorten(dossier: dict[str, Any]) -> dict[str, Any]:
    text = dossier["description"]
    return {**dossier, "description": text if len(text) <= _CHARS else text[: _CHARS - 1] + "…"}


def _as_list(texts: Texts) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _describe_item(number: int, reading: dict[str, Any]) -> dict[str, Any]:
    item = reading["item"]
    if item is None:
        return {"number": number, "status": reading["status"]}
    known = {name: item[name] for name in ("title", "date", "source", "url", "note", "tags") if item[name]}
    id = item["sentence_id"] or item["document_id"]
    later = {"now": reading["now"]} if reading["now"] else {}
    return {"number": number, "status": reading["status"], "id": id, "text": item["text"], **later, **known}
