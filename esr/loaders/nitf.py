"""NITF, the News Industry Text Format of the IPTC, versions 3.x: https://iptc.org/standards/nitf/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from esr.documents.written_dates import iso
from esr.loaders import embargo, markup
from esr.loaders.base import (
    WITHDRAWN,
    Format,
    Found,
    Malformed,
    PassedOver,
    Record,
    Source,
    id_of,
    path_id_of,
    register,
)

_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read(source: Source) -> Iterator[Found]:
    """A record of each `<nitf>`. Raises InputError where the XML is broken.

    Passed over are articles that were cancelled or withheld, or whose embargo holds.
    """
    for nitf in markup.elements(source, frozenset({"nitf"})):
        where = f"{source.name}:{nitf.sourceline}"
        if why := _withdrawn(nitf):
            yield PassedOver(where, why)
            continue
        doc_id = markup.first(nitf, "doc-id")
        id = id_of(doc_id.get("id-string", "")) if doc_id is not None else ""
        if not id and nitf.getparent() is None:
            # The Associated Press leaves it out: there, a file is an article.
            id = path_id_of(source)
        if not id:
            yield Malformed(where, "this <nitf> has no <doc-id id-string=>: give every document one")
            continue
        publication = markup.first(nitf, "pubdata")
        headline = title(nitf)
        yield Record(
            where,
            {
                "id": id,
                "title": headline,
                "date": _date(nitf),
                "source": _source(nitf),
                "url": None if publication is None else publication.get("ex-ref"),
                "language": nitf.get(_XML_LANG) or nitf.get("baselang"),
                "text": markup.without_title(body(nitf), headline),
            },
        )


def _withdrawn(nitf: Any) -> str | None:
    """Why an article must not be found; None if it may."""
    data = markup.first(nitf, "docdata")
    status = "" if data is None else data.get("management-status", "")
    if status == "embargoed":
        release = markup.first(nitf, "date.release")
        return embargo.WHY if embargo.holds("" if release is None else release.get("norm", "")) else None
    return WITHDRAWN if status in ("canceled", "withheld") else None


def _source(nitf: Any) -> str | None:
    """The publication, or else who distributes it, or else whose it is."""
    publication = markup.first(nitf, "pubdata")
    owner = markup.first(nitf, "doc.copyright")
    return (
        (None if publication is None else publication.get("name"))
        or markup.line(markup.first(nitf, "distributor"))
        or (None if owner is None else owner.get("holder"))
        or None
    )


def title(nitf: Any) -> str:
    """The headline, or else the title in the head."""
    headline = markup.first(nitf, "hedline")
    main = markup.first(headline, "hl1") if headline is not None else None
    return markup.line(main if main is not None else headline) or markup.line(markup.first(nitf, "title"))


def body(nitf: Any) -> str:
    """The text of `<body.content>`. The New York Times has it twice: of its blocks, that of all is taken."""
    content = list(markup.find(nitf, "body.content"))
    blocks = [block for part in content for block in markup.find(part, "block")]
    full = [block for block in blocks if block.get("class") == "full_text"]
    return "\n\n".join(filter(None, map(markup.text, full or content)))


def _date(nitf: Any) -> str | None:
    dates = list(markup.find(nitf, "date.release", "date.issue", "story.date", "pubdata"))
    # The day of issue is what a paper is known by; a release may be an embargo.
    for wanted in ("date.issue", "date.release", "story.date", "pubdata"):
        for date in dates:
            if markup.name(date) == wanted:
                norm = date.get("norm") or date.get("date.publication") or markup.line(date)
                if found := iso(norm):
                    return found
    return None


# NewsML-G2 has NITF inside.
_START = re.compile(rb"(?s)(?!.*<(?:\w+:)?(?:newsItem|newsMessage)[\s>]).*<(?:\w+:)?nitf[\s>]")

FORMAT = register(
    Format(
        name="nitf",
        description="NITF XML of the IPTC: articles in <nitf>, as agencies and archives have them",
        suffixes=(".nitf",),
        sniff=lambda head: head.startswith(b"<") and bool(_START.match(head)),
        read=read,
        needs=("lxml.etree",),
        holds_others=True,
    )
)
