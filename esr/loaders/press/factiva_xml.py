"""Factiva's XML (`PPSResponse`): one document per article."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.plugin import Format, Malformed, ReadResult, Record, Source, make_id, read_list, to_iso_date
from esr.plugin.provisional import compile_lazily, markup

_TEXTS = ("leadParagraph", "tailParagraphs")
_METADATA = {
    "edition": "edition",
    "pages": "pages",
    "copyright": "copyright",
    "publisherName": "publisher",
    "notes": "notes",
    "volume": "volume",
    "wordCount": "words",
}
"""Elements whose text is kept as metadata, and the names there."""
_BYLINE = compile_lazily(r"(?:By|Von|Par|Por|Di)\s+", re.I)


def read(source: Source) -> Iterator[ReadResult]:
    """A record per `<article>`, whose accession number is the id. Raises InputError if the XML is broken."""
    for number, article in enumerate(markup.iterate_elements(source, frozenset(("article",))), 1):
        where = f"{source.name}:article {number}"
        fields = _read_article(article)
        if fields["id"] is None:
            yield Malformed(where, "this article has no accessionNo: correct or remove it")
        else:
            yield Record(where, {name: value for name, value in fields.items() if value})


def _read_article(article: Any) -> dict[str, Any]:
    texts = [element for element in article if markup.local_name(element) in _TEXTS]
    published = markup.find_first(article, "publicationDate")
    dates = [markup.to_line(element) for element in markup.find_all(published, "dateTime", "date")]
    others = {
        name: markup.to_line(element)
        for element in article
        if (name := _METADATA.get(markup.local_name(element)))
    }
    subjects = [
        markup.to_line(markup.find_first(e, "name")) for e in markup.find_children(article, "newsSubject")
    ]
    regions = [markup.to_line(markup.find_first(e, "name")) for e in markup.find_children(article, "region")]
    byline = _BYLINE.sub("", markup.to_line(markup.find_first(article, "byline")), count=1)
    metadata = {**others, "regions": "; ".join(filter(None, regions))}
    return {
        "id": make_id(markup.to_line(markup.find_first(article, "accessionNo"))) or None,
        "title": markup.to_line(markup.find_first(article, "headline")),
        "date": next(filter(None, map(to_iso_date, dates)), None),
        "source": markup.to_line(markup.find_first(article, "sourceName")),
        "authors": read_list("authors", byline),
        "section": markup.to_line(markup.find_first(article, "sectionName")),
        "keywords": list(filter(None, subjects)),
        "language": markup.to_line(markup.find_first(article, "baseLanguage")).lower(),
        "metadata": {name: value for name, value in metadata.items() if value},
        "text": "\n\n".join(filter(None, map(_read_text, texts))),
    }


def _read_text(element: Any) -> str:
    """The text of an element. `<paragraph>` is none of the elements that are paragraphs elsewhere."""
    paragraphs = list(markup.find_all(element, "paragraph"))
    if not paragraphs:
        return markup.to_text(element)
    return "\n\n".join(filter(None, map(markup.to_line, paragraphs)))


FACTIVA_XML = Format(
    "factivaxml",
    "Factiva's XML: one document per article",
    suffixes=(),
    sniff=markup.sniff("PPSResponse", "ppsArticleResponse", "ppsarticleResultSet"),
    read=read,
    needs=("lxml.etree",),
)
