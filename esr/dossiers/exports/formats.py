"""The formats of files of dossiers: documents to read, and the citations and tables of `esr/following`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from esr.dossiers.exports.extract import Extract
from esr.dossiers.exports.markup import write_html, write_markdown, write_text
from esr.dossiers.exports.word import WORD, write_word
from esr.extras import require
from esr.following.exports import CITATIONS, EXPORTS, NOTE, TAGS, Row
from esr.index.hits import Hit
from esr.registry import Registry

COLUMNS = (
    *("place", "text", "title", "authors", "source", "date", "url"),
    *(NOTE, TAGS, "judgement", "permalink", "sentence_id"),
)
"""The columns of tables."""


class DossierFormat(Struct, frozen=True):
    """A format of files. `ending` is that of their names and, after the name of the format, of addresses.

    `is_citation`: whether the file has a citation of each sentence alone. `needs`: an optional module.
    """

    name: str
    label: str
    ending: str
    media_type: str
    write: Callable[[Extract], bytes]
    is_citation: bool = False
    needs: str = ""

    def check(self) -> None:
        """Raise UsageError if the module that the format needs is missing."""
        if self.needs:
            require(f"the format {self.label}", self.needs)


def rows_of(extract: Extract) -> Iterator[Row]:
    """The entries as rows of tables and of citations."""
    for place, entry in enumerate(extract.entries, 1):
        cited, record = entry.cited, entry.cited.record
        added = extract.has_notes
        fields = {
            **{
                name: getattr(record, name)
                for name in ("text", "title", "source", "date", "url", "sentence_id")
            },
            "place": place,
            "authors": record.authors,
            NOTE: cited.note if added else "",
            TAGS: cited.tags if added else (),
            "judgement": entry.judgement if added else "",
            "permalink": cited.permalink,
        }
        yield Row(
            Hit(record.sentence_id, 0.0, record), {name: value for name, value in fields.items() if value}
        )


def _encoded(write: Callable[[Extract], str], extract: Extract) -> bytes:
    return write(extract).encode("utf-8", "replace")


def _tabulated(name: str, extract: Extract) -> bytes:
    format = EXPORTS[name]
    return b"".join(format.write(rows_of(extract), COLUMNS if format.has_columns else ()))


FORMATS: Registry[DossierFormat] = Registry("format of dossiers")
for _format in (
    DossierFormat("word", "Word", "docx", WORD, write_word, needs="docx"),
    DossierFormat("markdown", "Markdown", "md", "text/markdown", partial(_encoded, write_markdown)),
    DossierFormat("text", "Plain text", "txt", "text/plain", partial(_encoded, write_text)),
    DossierFormat("html", "HTML", "html", "text/html", partial(_encoded, write_html)),
    *(
        DossierFormat(
            export.name,
            export.label,
            export.ending,
            export.media_type,
            partial(_tabulated, export.name),
            export.name in CITATIONS,
            export.needs,
        )
        for export in EXPORTS.values()
        if export.name != "jsonl"
    ),
):
    FORMATS.register(_format)
