"""Digests as letters: a text, HTML and JSON of the sentences in their context."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from esr.alerts.channels import Letter
from esr.following.alerts.atom import text_digest
from esr.text.addresses import web_url
from esr.wording import count

FORM = 1
"""The version of the JSON."""
_STYLE = "font-family:Georgia,serif;max-width:42em;line-height:1.45"


def write_letter(
    id: str,
    search: str,
    name: str,
    contents: Sequence[Mapping[str, Any]],
    *,
    page: str = "",
    index: str = "",
    attempt: int = 1,
) -> Letter:
    """The letter of a digest.

    `contents` are hits, or unusual days with some hits. `page` is the address of the search page, for links,
    and `index` the name of the index there.
    """
    linked = [_link(content, page, index) for content in contents]
    payload = {"version": FORM, "id": id, "search": search, "name": name, "items": linked}
    return Letter(
        id,
        f"{name}: {_summarize(linked)}",
        "\n".join(_write_text(name, linked)),
        "".join(_write_html(name, linked)),
        json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"),
        attempt,
    )


def _link(content: Mapping[str, Any], page: str, index: str) -> dict[str, Any]:
    if "unusual" in content:
        return {**content, "hits": [_link(hit, page, index) for hit in content["hits"]]}
    linked = dict(content)
    if page:
        values = {"id": content["document_id"], "says": text_digest(content["text"]), "index": index}
        query = urlencode({name: value for name, value in values.items() if value}, errors="replace")
        linked["permalink"] = f"{page.rstrip('/')}/sentence?{query}"
    return linked


def _summarize(contents: Sequence[Mapping[str, Any]]) -> str:
    days = sum("unusual" in content for content in contents)
    if not days:
        return count(len(contents), "new sentence")
    return (
        f"more than usual on {contents[0]['unusual']['day']}"
        if days == 1
        else f"more than usual on {days} days"
    )


def _describe_day(unusual: Mapping[str, Any]) -> str:
    return f"{unusual['day']}: {unusual['count']:,} sentences, usually {unusual['usual']:.1f}"


def _place(hit: Mapping[str, Any]) -> str:
    parts = (hit.get("title"), hit.get("source"), (hit.get("date") or "")[:10])
    return " · ".join(part for part in parts if part)


def _address(hit: Mapping[str, Any]) -> str | None:
    return hit.get("permalink") or web_url(hit.get("url"))


def _write_text(name: str, contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f"{name}: {_summarize(contents)}"
    for content in contents:
        hits: Sequence[Mapping[str, Any]] = (content,)
        if "unusual" in content:
            yield f"\n{_describe_day(content['unusual'])}"
            hits = content["hits"]
        for hit in hits:
            yield ""
            if hit.get("previous"):
                yield f"  … {hit['previous']}"
            yield f"> {hit['text']}"
            if hit.get("next"):
                yield f"  {hit['next']} …"
            if place := _place(hit):
                yield f"  {place}"
            if address := _address(hit):
                yield f"  {address}"
    yield ""


def _write_html(name: str, contents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield f'<!doctype html><html><body style="{_STYLE}"><h1 style="font-size:1.3em">{escape(name)}</h1>'
    yield f"<p>{escape(_summarize(contents))}</p>"
    for content in contents:
        hits: Sequence[Mapping[str, Any]] = (content,)
        if "unusual" in content:
            yield f"<h2>{escape(_describe_day(content['unusual']))}</h2>"
            hits = content["hits"]
        for hit in hits:
            language = f' lang="{escape(hit["language"])}"' if hit.get("language") else ""
            yield f'<blockquote{language} style="margin:1.2em 0;padding-left:.8em;border-left:2px solid">'
            if hit.get("previous"):
                yield f'<span style="color:#666">{escape(hit["previous"])}</span> '
            yield f"<strong>{escape(hit['text'])}</strong>"
            if hit.get("next"):
                yield f' <span style="color:#666">{escape(hit["next"])}</span>'
            place, address = escape(_place(hit) or "source"), _address(hit)
            linked = f'<a href="{escape(address)}">{place}</a>' if address else place
            yield f'<br><small dir="auto">{linked}</small></blockquote>'
    yield "</body></html>"
