"""A dossier as Markdown, HTML and plain text: each sentence with its source, its notes, and its citation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from esr.dossiers.exports.extract import Entry, Extract, list_place, permalink_of
from esr.stdlib import compile_lazily
from esr.text.scripts import is_language_tag, text_direction
from esr.wording import LONG_TITLE_CHARS, shorten_title

LINK = "Link to the sentence"
"""The text of permanent links."""


def write_text(extract: Extract) -> str:
    """Plain text: numbered sentences, each with what belongs to it in indented lines below."""
    lines = [_line(extract.title), extract.summary]
    for n, entry in enumerate(extract.entries, 1):
        number = f"{n}. "
        lines += ["", number + _bracket(entry)]
        below = [extract.cite(entry), permalink_of(entry)]
        if extract.has_notes:
            below += [
                *entry.cited.note.splitlines(),
                *(f"{name}: {value}" for name, value in facts_of(entry)),
            ]
        lines += [" " * len(number) + _line(text) for text in below if text.strip()]
    return "\n".join(lines) + "\n"


def _bracket(entry: Entry) -> str:
    """The sentence between its neighbours, which stand in brackets."""
    around = [f"[{_line(text)}]" if text.strip() else "" for text in (entry.before, entry.after)]
    return " ".join(filter(None, (around[0], _line(entry.cited.record.text), around[1])))


def write_markdown(extract: Extract) -> str:
    """Markdown of CommonMark with footnotes, as GitHub, pandoc and most editors read it."""
    lines = [f"# {_escape_markdown(extract.title)}", "", _escape_markdown(extract.summary)]
    notes = []
    for n, entry in enumerate(extract.entries, 1):
        title, url = _escape_markdown(_title(entry)), entry.cited.address
        head = [
            *map(_escape_markdown, list_place(entry)),
            f"[{title}]({_markdown_address(url)})" if url else title,
        ]
        text = "".join(_mark_markdown(piece, is_high) for piece, is_high in entry.pieces())
        before, after = (
            f"*{_escape_signs(_line(text))}*" if text.strip() else "" for text in (entry.before, entry.after)
        )
        quoted = " ".join(filter(None, (before, f"{_escape_start(' '.join(text.split()))}[^{n}]", after)))
        lines += ["", " · ".join(head), "", f"> {quoted}"]
        if extract.has_notes:
            for note in filter(str.strip, entry.cited.note.splitlines()):
                lines += ["", _escape_markdown(note)]
            if facts := facts_of(entry):
                lines += ["", " · ".join(f"*{name}:* {_escape_markdown(value)}" for name, value in facts)]
        link = f" [{LINK}]({_markdown_address(address)})." if (address := permalink_of(entry)) else ""
        notes.append(f"[^{n}]: {_cite_markdown(extract.cite(entry), url)}{link}")
    return "\n".join([*lines, "", *notes]) + "\n"


def write_html(extract: Extract) -> str:
    """A page of its own, without scripts."""
    title = escape(_line(extract.title))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{write_fragment(extract)}</body>\n</html>\n"
    )


def write_fragment(extract: Extract) -> str:
    """HTML without head and styles, as a clipboard holds it for word processors."""
    return "".join(
        [f"<h1>{escape(_line(extract.title))}</h1>\n<p>{escape(extract.summary)}</p>\n", *_items(extract)]
    )


_STYLE = (
    "body{max-width:42rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 Georgia,serif}"
    "blockquote{margin:.3rem 0;font-size:1.15rem}mark{background:#fae3a0}"
    ".source,.cite,.around{color:#5f594f;font-size:.85rem}"
    ".note{margin:.3rem 0 .3rem 1rem}section{margin:1.8rem 0}"
)


def _items(extract: Extract) -> Iterator[str]:
    for entry in extract.entries:
        record, url = entry.cited.record, entry.cited.address
        language = f' lang="{record.language}"' if is_language_tag(record.language) else ""
        attributes = f'{language} dir="{text_direction(record.language)}"'
        title = f"<span{attributes}>{escape(_title(entry))}</span>"
        head = [*map(escape, list_place(entry)), f'<a href="{escape(url)}">{title}</a>' if url else title]
        text = "".join(f"<mark>{escape(p)}</mark>" if is_high else escape(p) for p, is_high in entry.pieces())
        yield f'<section>\n<p class="source">{" · ".join(head)}</p>\n'
        around = [
            f'<span class="around">{escape(text)}</span>' if text else ""
            for text in (entry.before, entry.after)
        ]
        yield f"<blockquote{attributes}>{' '.join(filter(None, (around[0], text, around[1])))}</blockquote>\n"
        if extract.has_notes:
            notes = [escape(note) for note in entry.cited.note.splitlines() if note.strip()]
            notes += [f"<b>{name}:</b> {escape(value)}" for name, value in facts_of(entry)]
            yield from (f'<p class="note" dir="auto">{note}</p>\n' for note in notes)
        citation = escape(extract.cite(entry))
        if url:
            shown = escape(url)
            citation = citation.replace(shown, f'<a href="{shown}">{shown}</a>', 1)
        if address := permalink_of(entry):
            citation += f' <a href="{escape(address)}">{LINK}</a>.'
        yield f'<p class="cite">{citation}</p>\n</section>\n'


def facts_of(entry: Entry) -> list[tuple[str, str]]:
    """What people added to a sentence beside the note: names and values."""
    facts = [
        ("Said by", entry.speaker),
        ("Last changed by", entry.by if entry.cited.note else ""),
        ("Tags", ", ".join(entry.cited.tags)),
        ("Judgement", entry.judgement),
    ]
    return [(name, value) for name, value in facts if value]


def _title(entry: Entry) -> str:
    record = entry.cited.record
    return shorten_title(_line(record.title or record.document_id), LONG_TITLE_CHARS)


def _line(text: str) -> str:
    return " ".join(text.split())


_SIGNS = compile_lazily(r"[\\`*_\[\]<>#&~|$]")
_START = compile_lazily(r"([-+=]|\d+(?=[.)]))")


def _escape_markdown(text: str) -> str:
    """The text on one line, without anything that Markdown takes for its own."""
    return _escape_start(_escape_signs(_line(text)))


def _escape_signs(text: str) -> str:
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", text)


def _escape_start(text: str) -> str:
    """The text whose start is no mark of a list or a heading."""
    if not (start := _START.match(text)):
        return text
    end = start.end()
    return f"\\{text}" if not start[0].isdigit() else f"{text[:end]}\\{text[end:]}"


def _mark_markdown(text: str, is_highlighted: bool) -> str:
    """A piece of a sentence, in bold if highlighted: its marks stand beside its first and last letter."""
    inner = text.strip()
    if not is_highlighted or not inner:
        return _escape_signs(text)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}**{_escape_signs(inner)}**{after}"


def _cite_markdown(citation: str, url: str) -> str:
    """A citation, in which the address stands between angle brackets."""
    before, at, after = citation.partition(url) if url else (citation, "", "")
    return _escape_markdown(before) + (f" <{_markdown_address(at)}>" if at else "") + _escape_markdown(after)


def _markdown_address(address: str) -> str:
    return re.sub(r"[<>()\\]", lambda sign: f"%{ord(sign[0]):02X}", address)
