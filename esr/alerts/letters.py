"""Digests as letters: a text, HTML and JSON of the sentences in their context."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple
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
    summary, sections = _summarize(linked), _divide(linked)
    title = f"{name}: {summary}"
    payload = {"version": FORM, "id": id, "search": search, "name": name, "items": linked}
    return Letter(
        id,
        title,
        "\n".join(_write_text(title, sections)),
        "".join(_write_html(name, summary, sections)),
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


class _Section(NamedTuple):
    """Sentences of a letter: those of an unusual day, or all others; `heading` is empty for these."""

    heading: str
    passages: Sequence[_Passage]


class _Passage(NamedTuple):
    """What a letter says of a hit; values that the hit lacks are empty."""

    text: str
    previous: str
    next: str
    source: str
    """Title, source and date."""
    address: str
    """Where the sentence or its document is read."""
    language: str


def _divide(contents: Sequence[Mapping[str, Any]]) -> list[_Section]:
    return [
        _Section(_describe_day(content["unusual"]), list(map(_read_passage, content["hits"])))
        if "unusual" in content
        else _Section("", [_read_passage(content)])
        for content in contents
    ]


def _read_passage(hit: Mapping[str, Any]) -> _Passage:
    source = (hit.get("title"), hit.get("source"), (hit.get("date") or "")[:10])
    return _Passage(
        hit["text"],
        hit.get("previous") or "",
        hit.get("next") or "",
        " · ".join(filter(None, source)),
        hit.get("permalink") or web_url(hit.get("url")) or "",
        hit.get("language") or "",
    )


def _write_text(title: str, sections: Sequence[_Section]) -> Iterator[str]:
    yield title
    for heading, passages in sections:
        if heading:
            yield f"\n{heading}"
        for passage in passages:
            yield ""
            if passage.previous:
                yield f"  … {passage.previous}"
            yield f"> {passage.text}"
            if passage.next:
                yield f"  {passage.next} …"
            yield from (f"  {line}" for line in (passage.source, passage.address) if line)
    yield ""


def _write_html(name: str, summary: str, sections: Sequence[_Section]) -> Iterator[str]:
    yield f'<!doctype html><html><body style="{_STYLE}"><h1 style="font-size:1.3em">{escape(name)}</h1>'
    yield f"<p>{escape(summary)}</p>"
    for heading, passages in sections:
        if heading:
            yield f"<h2>{escape(heading)}</h2>"
        for passage in passages:
            language = f' lang="{escape(passage.language)}"' if passage.language else ""
            yield f'<blockquote{language} style="margin:1.2em 0;padding-left:.8em;border-left:2px solid">'
            if passage.previous:
                yield f'<span style="color:#666">{escape(passage.previous)}</span> '
            yield f"<strong>{escape(passage.text)}</strong>"
            if passage.next:
                yield f' <span style="color:#666">{escape(passage.next)}</span>'
            source = escape(passage.source or "source")
            linked = f'<a href="{escape(passage.address)}">{source}</a>' if passage.address else source
            yield f'<br><small dir="auto">{linked}</small></blockquote>'
    yield "</body></html>"
