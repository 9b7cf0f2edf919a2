"""The tools of `esr mcp` for the dossiers of a server of esr, where they have the rights of a key."""

from typing import Annotated, Any

from mcp.types import CallToolResult

from esr.bridges.mcp_budget import fit
from esr.bridges.mcp_remote import RemoteServer
from esr.bridges.mcp_schemas import AddedItems, Dossiers, ReadDossier

_CHARS = 200
"""Characters of descriptions."""
Texts = list[str] | str


class DossierTools:
    """The tools for the dossiers of a server. They raise EsrError."""

    def __init__(self, server: RemoteServer) -> None:
        self._server = server

    def dossiers(self, budget: int) -> Annotated[CallToolResult, Dossiers]:
        """List the dossiers of the people you work for, those that changed last first."""
        listed = self._server.get("/dossiers")["dossiers"]
        names = ("id", "name", "description", "owner", "role", "items")
        items = [_shorten({name: dossier[name] for name in names}) for dossier in listed]
        return fit({"total": len(items)}, "dossiers", items, budget)

    def dossier(self, id: str, budget: int) -> Annotated[CallToolResult, ReadDossier]:
        """Read a dossier: what people keep, with their notes and tags, and whether the texts have changed."""
        read = self._server.get("/dossiers/one", id=id)
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
        written = self._server.of_index("POST", "/dossiers/add", body)
        items = [{"id": item["id"], "text": item["text"]} for item in written["items"]]
        answer = {"version": written["version"], "total": len(items), "known": len(written["known"])}
        return fit(answer, "items", items, budget)


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
