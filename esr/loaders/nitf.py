"""NITF, the News Industry Text Format of the IPTC, versions 3.x: https://iptc.org/standards/nitf/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.loaders import markup
from esr.loaders.adapter import EMBARGO_REASON, is_embargoed
from esr.loaders.fields import read_list
from esr.loaders.format import (
    WITHDRAWN,
    WITHDRAWN_STATUSES,
    Format,
    Malformed,
    ReadResult,
    Record,
    Skipped,
    Source,
    register,
)
from esr.loaders.ids import make_id, make_id_from_path
from esr.text.written_dates import to_iso_date

_SECTIONS = ("online_sections", "print_section", "section", "dsk")
"""Names for sections in the head, in the archives of The New York Times and others."""
_DESCRIPTORS = ("descriptor", "general_descriptor", "online_producer")


def read(source: Source) -> Iterator[ReadResult]:
    """A record per `<nitf>`. Raises InputError where the XML is broken.

    Articles that are cancelled, withheld or under embargo are skipped.
    """
    for nitf in markup.iterate_elements(source, frozenset({"nitf"})):
        where = f"{source.name}:{nitf.sourceline}"
        if reason := _find_skip_reason(nitf):
            yield Skipped(where, reason)
            continue
        doc_id = markup.find_first(nitf, "doc-id")
        id = make_id(doc_id.get("id-string", "")) if doc_id is not None else ""
        if not id and nitf.getparent() is None:
            # The Associated Press leaves the id out, and has one article per file.
            id = make_id_from_path(source)
        if not id:
            yield Malformed(where, "this <nitf> has no <doc-id id-string=>: every document needs one")
            continue
        publication = markup.find_first(nitf, "pubdata")
        title = extract_title(nitf)
        yield Record(
            where,
            {
                "id": id,
                "title": title,
                "date": _find_date(nitf),
                "source": _find_source(nitf),
                "url": None if publication is None else publication.get("ex-ref"),
                "language": nitf.get(markup.LANGUAGE) or nitf.get("baselang"),
                **_find_attributes(nitf),
                "text": markup.remove_title(extract_body(nitf), title),
            },
        )


def _find_attributes(nitf: Any) -> dict[str, Any]:
    """Authors, section and keywords, and the other statements of the head as metadata."""
    metadata: dict[str, list[str]] = {}
    for meta in markup.find_all(nitf, "meta"):
        if meta.get("name") and meta.get("content"):
            metadata.setdefault(meta.get("name"), []).append(meta.get("content"))
    publication = markup.find_first(nitf, "pubdata")
    section = None if publication is None else publication.get("position.section")
    for name in _SECTIONS if not section else ():
        if name in metadata:
            section = "; ".join(metadata.pop(name))
            break
    keywords = [keyword.get("key") for keyword in markup.find_all(nitf, "keyword")]
    keywords += [subject.get("tobject.subject.type") for subject in markup.find_all(nitf, "tobject.subject")]
    descriptors = (c for c in markup.find_all(nitf, "classifier") if c.get("type") in _DESCRIPTORS)
    keywords += map(markup.to_line, descriptors)
    return {
        "authors": extract_authors(nitf),
        "section": section,
        "keywords": [keyword for keyword in keywords if keyword],
        "metadata": metadata,
    }


def extract_authors(nitf: Any) -> list[str]:
    """The persons in the bylines, or else the text of the bylines."""
    bylines = list(markup.find_all(nitf, "byline"))
    # The New York Times has a second byline for indexes: "DOE, JANE".
    printed = [byline for byline in bylines if byline.get("class") == "print_byline"] or bylines
    persons = [markup.to_line(person) for byline in printed for person in markup.find_all(byline, "person")]
    lines = persons or map(_line_without_title, printed)
    return [name for line in lines for name in read_list("authors", line) or []]


def _line_without_title(byline: Any) -> str:
    """A byline without the author's title at its end, `<byttl>`."""
    title = markup.to_line(markup.find_first(byline, "byttl"))
    return markup.to_line(byline).removesuffix(title).rstrip(" ,")


def _find_skip_reason(nitf: Any) -> str | None:
    """Why an article must not be loaded; None if it may be."""
    data = markup.find_first(nitf, "docdata")
    status = "" if data is None else data.get("management-status", "")
    if status == "embargoed":
        release = markup.find_first(nitf, "date.release")
        until = "" if release is None else release.get("norm", "")
        return EMBARGO_REASON if is_embargoed(until) else None
    return WITHDRAWN if status in WITHDRAWN_STATUSES else None


def _find_source(nitf: Any) -> str | None:
    """The publication, or else the distributor, or else the copyright holder."""
    publication = markup.find_first(nitf, "pubdata")
    owner = markup.find_first(nitf, "doc.copyright")
    return (
        (None if publication is None else publication.get("name"))
        or markup.to_line(markup.find_first(nitf, "distributor"))
        or (None if owner is None else owner.get("holder"))
        or None
    )


def extract_title(nitf: Any) -> str:
    """The headline, or else the title in the head."""
    headline = markup.find_first(nitf, "hedline")
    main = markup.find_first(headline, "hl1") if headline is not None else None
    title = markup.to_line(main if main is not None else headline)
    return title or markup.to_line(markup.find_first(nitf, "title"))


def extract_body(nitf: Any) -> str:
    """The text of `<body.content>`, or of its full-text blocks: The New York Times repeats the lead."""
    content = list(markup.find_all(nitf, "body.content"))
    blocks = [block for part in content for block in markup.find_all(part, "block")]
    full_text = [block for block in blocks if block.get("class") == "full_text"]
    return "\n\n".join(filter(None, map(markup.to_text, full_text or content)))


def _find_date(nitf: Any) -> str | None:
    elements = list(markup.find_all(nitf, "date.release", "date.issue", "story.date", "pubdata"))
    # Newspapers are dated by day of issue; the release may be the end of an embargo.
    for name in ("date.issue", "date.release", "story.date", "pubdata"):
        for element in elements:
            if markup.local_name(element) == name:
                norm = element.get("norm") or element.get("date.publication") or markup.to_line(element)
                if date := to_iso_date(norm):
                    return date
    return None


# NewsML may contain NITF, but is not NITF.
_START = re.compile(rb"(?s)(?!.*<(?:\w+:)?(?:NewsML|newsItem|newsMessage)[\s>]).*<(?:\w+:)?nitf[\s>]")

FORMAT = register(
    Format(
        name="nitf",
        description="NITF XML of the IPTC: articles in <nitf>, from agencies and archives",
        suffixes=(".nitf",),
        sniff=lambda head: head.startswith(b"<") and bool(_START.match(head)),
        read=read,
        needs=("lxml.etree",),
        may_lack_documents=True,
    )
)
