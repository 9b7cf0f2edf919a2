"""The XML formats of the IPTC, which agencies send: NITF, NewsML-G2 and NewsML 1.

NITF is the News Industry Text Format, versions 3.x: https://iptc.org/standards/nitf/. Items of NewsML-G2
(https://iptc.org/standards/newsml-g2/) contain their text. NewsML 1, versions 1.0 to 1.2
(https://iptc.org/standards/newsml-1/), is still sent. Both may contain NITF.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from esr.plugin import (
    Format,
    Malformed,
    ReadResult,
    Record,
    Skipped,
    Source,
    make_id,
    make_id_from_path,
    read_list,
    to_iso_date,
)
from esr.plugin.provisional import (
    EMBARGO_REASON,
    WITHDRAWN,
    WITHDRAWN_STATUSES,
    html_tree,
    is_embargoed,
    markup,
)


def _skip(where: str, reason: str) -> Skipped:
    """An article that must not be loaded. Only an embargo ends while its file stays the same."""
    return Skipped(where, reason, is_lasting=reason != EMBARGO_REASON)


# NITF

_SECTIONS = ("online_sections", "print_section", "section", "dsk")
"""Names for sections in the head, in the archives of The New York Times and others."""
_DESCRIPTORS = ("descriptor", "general_descriptor", "online_producer")
# NewsML may contain NITF, but is not NITF.
_NITF_START = re.compile(rb"(?s)(?!.*<(?:\w+:)?(?:NewsML|newsItem|newsMessage)[\s>]).*<(?:\w+:)?nitf[\s>]")


def _read_nitf(source: Source) -> Iterator[ReadResult]:
    """A record per `<nitf>`. Raises InputError where the XML is broken.

    Articles that are cancelled, withheld or under embargo are skipped.
    """
    for nitf in markup.iterate_elements(source, frozenset({"nitf"})):
        where = f"{source.name}:{nitf.sourceline}"
        if reason := _find_nitf_skip_reason(nitf):
            yield _skip(where, reason)
            continue
        id = make_id(markup.attribute(markup.find_first(nitf, "doc-id"), "id-string"))
        if not id and nitf.getparent() is None:
            # The Associated Press has no id, and one article per file.
            id = make_id_from_path(source)
        if not id:
            yield Malformed(where, "this <nitf> has no <doc-id id-string=>: every document needs one")
            continue
        title = _extract_nitf_title(nitf)
        yield Record(
            where,
            {
                "id": id,
                "title": title,
                "date": _find_nitf_date(nitf),
                "source": _find_nitf_source(nitf),
                "url": markup.attribute(markup.find_first(nitf, "pubdata"), "ex-ref") or None,
                "language": nitf.get(markup.LANGUAGE) or nitf.get("baselang"),
                **_find_nitf_attributes(nitf),
                "text": markup.remove_title(_extract_nitf_body(nitf), title),
            },
        )


def _find_nitf_attributes(nitf: Any) -> dict[str, Any]:
    """Authors, section and keywords, and the other statements of the head as metadata."""
    metadata: dict[str, list[str]] = {}
    for meta in markup.find_all(nitf, "meta"):
        if meta.get("name") and meta.get("content"):
            metadata.setdefault(meta.get("name"), []).append(meta.get("content"))
    section = markup.attribute(markup.find_first(nitf, "pubdata"), "position.section") or None
    for name in _SECTIONS if not section else ():
        if name in metadata:
            section = "; ".join(metadata.pop(name))
            break
    keywords = [keyword.get("key") for keyword in markup.find_all(nitf, "keyword")]
    keywords += [subject.get("tobject.subject.type") for subject in markup.find_all(nitf, "tobject.subject")]
    descriptors = (c for c in markup.find_all(nitf, "classifier") if c.get("type") in _DESCRIPTORS)
    keywords += map(markup.to_line, descriptors)
    return {
        "authors": _extract_nitf_authors(nitf),
        "section": section,
        "keywords": [keyword for keyword in keywords if keyword],
        "metadata": metadata,
    }


def _extract_nitf_authors(nitf: Any) -> list[str]:
    """The persons in the bylines, or else the text of the bylines."""
    bylines = list(markup.find_all(nitf, "byline"))
    # The New York Times has a second byline for indexes: "DOE, JANE".
    printed = [byline for byline in bylines if byline.get("class") == "print_byline"] or bylines
    persons = [markup.to_line(person) for byline in printed for person in markup.find_all(byline, "person")]
    lines = persons or map(_line_without_title, printed)
    return [name for line in lines for name in read_list("authors", line) or []]


def _line_without_title(byline: Any) -> str:
    """A byline without the author's title (`<byttl>`) at its end."""
    title = markup.to_line(markup.find_first(byline, "byttl"))
    return markup.to_line(byline).removesuffix(title).rstrip(" ,")


def _find_nitf_skip_reason(nitf: Any) -> str | None:
    """Why an article must not be loaded; None if it may be."""
    status = markup.attribute(markup.find_first(nitf, "docdata"), "management-status")
    if status == "embargoed":
        until = markup.attribute(markup.find_first(nitf, "date.release"), "norm")
        return EMBARGO_REASON if is_embargoed(until) else None
    return WITHDRAWN if status in WITHDRAWN_STATUSES else None


def _find_nitf_source(nitf: Any) -> str | None:
    """The publication, or else the distributor, or else the copyright holder."""
    return (
        markup.attribute(markup.find_first(nitf, "pubdata"), "name")
        or markup.to_line(markup.find_first(nitf, "distributor"))
        or markup.attribute(markup.find_first(nitf, "doc.copyright"), "holder")
        or None
    )


def _extract_nitf_title(nitf: Any) -> str:
    """The headline, or else the title in the head."""
    headline = markup.find_first(nitf, "hedline")
    main = markup.find_first(headline, "hl1")
    title = markup.to_line(main if main is not None else headline)
    return title or markup.to_line(markup.find_first(nitf, "title"))


def _extract_nitf_body(nitf: Any) -> str:
    """The text of `<body.content>`, or of its full-text blocks: The New York Times repeats the lead."""
    content = list(markup.find_all(nitf, "body.content"))
    blocks = [block for part in content for block in markup.find_all(part, "block")]
    full_text = [block for block in blocks if block.get("class") == "full_text"]
    return "\n\n".join(filter(None, map(markup.to_text, full_text or content)))


def _find_nitf_date(nitf: Any) -> str | None:
    elements = list(markup.find_all(nitf, "date.release", "date.issue", "story.date", "pubdata"))
    # Newspapers are dated by day of issue; the release may be the end of an embargo.
    for name in ("date.issue", "date.release", "story.date", "pubdata"):
        for element in elements:
            if markup.local_name(element) == name:
                norm = element.get("norm") or element.get("date.publication") or markup.to_line(element)
                if date := to_iso_date(norm):
                    return date
    return None


# NewsML-G2

_OTHER_ITEMS = frozenset({"packageItem", "conceptItem", "knowledgeItem", "planningItem", "catalogItem"})
_TEXT_TYPES = ("text/plain", "text/html", "application/xhtml")
_G2_HTML = re.compile(r"</(?:p|div|body)>|<br\s?/?>", re.I)


def _read_g2(source: Source) -> Iterator[ReadResult]:
    """A record per `<newsItem>` that contains text. Raises InputError where the XML is broken.

    Skipped are pictures and other items without text, packages, concepts and plans, and items that are
    cancelled, withheld or under embargo.
    """
    for item in markup.iterate_elements(source, _OTHER_ITEMS | {"newsItem"}):
        if markup.local_name(item) != "newsItem":
            continue
        where = f"{source.name}:{item.sourceline}"
        # Alternative renditions of one content. XML comes first, because plain text may be notes to editors.
        renditions = sorted(
            markup.find_all(item, "inlineXML", "inlineData"), key=markup.local_name, reverse=True
        )
        if not renditions:
            continue
        if reason := _find_g2_skip_reason(item):
            yield _skip(where, reason)
            continue
        id = make_id(item.get("guid", ""))
        try:
            text = next(filter(None, map(_extract_g2_text, renditions)), "")
        except html_tree.NoArticle as error:
            yield Malformed(where, str(error), id or None)
            continue
        if not text:
            continue
        if not id:
            yield Malformed(where, "this <newsItem> has no guid: every item needs one")
            continue
        title = _find_g2_title(item, renditions)
        yield Record(
            where,
            {
                "id": id,
                "title": title,
                "date": _find_g2_date(item),
                "source": _find_g2_source(item),
                "language": _find_g2_language(item),
                "authors": _find_g2_authors(item, renditions),
                "keywords": _find_g2_keywords(item),
                "text": markup.remove_title(text, title),
            },
        )


def _find_g2_skip_reason(item: Any) -> str | None:
    """Why an item must not be loaded; None if it may be."""
    status = markup.find_first(item, "itemMeta", "pubStatus")
    codes = f"{markup.attribute(status, 'qcode')} {markup.attribute(status, 'uri')}"
    if codes.strip().endswith(WITHDRAWN_STATUSES):
        return WITHDRAWN
    until = markup.find_first(item, "itemMeta", "embargoed")
    return EMBARGO_REASON if until is not None and is_embargoed(markup.to_line(until)) else None


def _extract_g2_text(rendition: Any) -> str:
    """The body of an article in NITF or XHTML, or plain text with blank lines between paragraphs.

    Raises html_tree.NoArticle.
    """
    if markup.local_name(rendition) == "inlineData":
        return _extract_inline_data(rendition)
    if markup.find_first(rendition, "body.content") is not None:
        return _extract_nitf_body(rendition)
    if next(markup.find_all(rendition, "body", "p"), None) is None:  # results, calendars, market data
        return ""
    body = markup.find_first(rendition, "body")
    return markup.to_text(rendition if body is None else body)


def _extract_inline_data(rendition: Any) -> str:
    """Plain text or HTML. Some agencies label HTML as "text/plain"."""
    content_type = rendition.get("contenttype", "text/plain")
    if not content_type.startswith(_TEXT_TYPES) or rendition.get("encoding"):
        return ""
    text = (rendition.text or "").strip()
    is_plain = content_type.startswith("text/plain") and not _G2_HTML.search(text)
    return text if is_plain else html_tree.html_to_text(text)


def _find_g2_title(item: Any, renditions: list[Any]) -> str:
    headlines = markup.find_all(markup.find_first(item, "contentMeta"), "headline")
    # The main headline has no role, or the role "main".
    ranked = sorted(headlines, key=lambda h: bool(h.get("role")) and not h.get("role").endswith("main"))
    if headline := next(filter(None, map(markup.to_line, ranked)), ""):
        return headline
    title = markup.to_line(markup.find_first(item, "itemMeta", "title"))
    return title or next(filter(None, map(_extract_nitf_title, renditions)), "")


def _find_g2_date(item: Any) -> str | None:
    """The date of creation, or else the date of this version."""
    for path in (
        ("contentMeta", "contentCreated"),
        ("itemMeta", "firstCreated"),
        ("itemMeta", "versionCreated"),
    ):
        if date := to_iso_date(markup.to_line(markup.find_first(item, *path))):
            return date
    return None


def _find_g2_source(item: Any) -> str | None:
    for path in (("contentMeta", "infoSource"), ("itemMeta", "provider"), ("contentMeta", "creditline")):
        element = markup.find_first(item, *path)
        if element is not None:
            name = markup.to_line(markup.find_first(element, "name")) or markup.to_line(element)
            if source := name or element.get("literal") or (element.get("qcode") or "").partition(":")[2]:
                return str(source)
    return None


def _find_g2_authors(item: Any, renditions: list[Any]) -> list[str]:
    lines = map(markup.to_line, markup.find_all(markup.find_first(item, "contentMeta"), "by"))
    names = [name for line in lines for name in read_list("authors", line) or []]
    return names or next(filter(None, map(_extract_nitf_authors, renditions)), [])


def _find_g2_keywords(item: Any) -> list[str]:
    """The keywords, and the names of the subjects."""
    meta = markup.find_first(item, "contentMeta")
    subjects = (markup.find_first(subject, "name") for subject in markup.find_all(meta, "subject"))
    return [*filter(None, map(markup.to_line, (*markup.find_all(meta, "keyword"), *subjects)))]


def _find_g2_language(item: Any) -> str | None:
    stated = markup.attribute(markup.find_first(item, "contentMeta", "language"), "tag")
    return stated or markup.attribute(item, markup.LANGUAGE) or None


# NewsML 1: a `<NewsItem>` is a tree of `<NewsComponent>`s, some with a headline; the texts are in
# `<ContentItem>`s. An article is an innermost component with a headline, or else the whole item.

# Components with these roles contain no article text.
_OTHER_ROLES = frozenset(("title", "headline", "caption", "keywords", "byline"))
_REVISION = re.compile(r":\d+[AUN]?$")
_NEWSML1_HTML = re.compile(r"</?(?:a|b|body|br|div|em|i|p|span|strong)\b[^<>]{0,1000}>", re.I)


def _read_newsml1(source: Source) -> Iterator[ReadResult]:
    """A record per article with a text. Raises InputError where the XML is broken.

    Pictures, captions and other items without text are skipped, and so are items that are cancelled, withheld
    or under embargo. If an item has several articles, as in two languages, each gets a different id.
    """
    for outermost in markup.iterate_elements(source, frozenset({"NewsItem"})):
        for item in (outermost, *markup.find_all(outermost, "NewsItem")):
            yield from _read_item(source, item)


class _Component(NamedTuple):
    """A component, or an item as the outermost component. Source and language may be inherited."""

    element: Any
    source: str | None
    language: str | None


def _read_item(source: Source, item: Any) -> Iterator[ReadResult]:
    articles = [
        article
        for article in _find_articles(item)
        if next(_iterate_contents(article.element), None) is not None
    ]
    if articles and (reason := _find_newsml1_skip_reason(item)):
        yield _skip(f"{source.name}:{item.sourceline}", reason)
        return
    id, date = _find_id(item), _find_newsml1_date(item)
    for number, article in enumerate(articles, 1):
        where = f"{source.name}:{article.element.sourceline}"
        try:
            fields = _read_article(article)
        except html_tree.NoArticle as error:
            yield Malformed(where, str(error), id)
            continue
        if fields["text"] or fields["title"]:
            part = make_id(article.element.get("Duid") or str(number))
            full_id = f"{id}:{part}" if id and len(articles) > 1 else id
            yield Record(where, {"id": full_id, "date": date, **fields})


def _read_article(article: _Component) -> dict[str, Any]:
    """The fields of an article that do not come from its item. Raises html_tree.NoArticle."""
    text = "\n\n".join(filter(None, map(_extract_newsml1_text, _iterate_contents(article.element))))
    title = _find_headline(article.element) or _extract_nitf_title(article.element)
    return {
        "title": title,
        "source": article.source,
        "language": article.language,
        "authors": _find_newsml1_authors(article.element),
        "keywords": _find_newsml1_keywords(article.element),
        "text": markup.remove_title(text, title),
    }


def _find_articles(item: Any) -> list[_Component]:
    """The innermost components with a headline, or else the item itself."""
    domain = markup.to_line(_find_child(item, "Identification", "NewsIdentifier", "ProviderId"))
    whole = _Component(item, domain or None, item.get(markup.LANGUAGE))
    with_headline = [part for part in _iterate_components(whole) if _find_headline(part.element)]
    outer = {ancestor for part in with_headline for ancestor in part.element.iterancestors()}
    return [part for part in with_headline if part.element not in outer] or [whole]


def _iterate_components(parent: _Component) -> Iterator[_Component]:
    """The components inside a component, outer ones first."""
    for element in _iterate_children(parent.element):
        language = _formal_name(_find_child(element, "DescriptiveMetadata", "Language")) or element.get(
            markup.LANGUAGE
        )
        component = _Component(
            element, _find_newsml1_source(element) or parent.source, language or parent.language
        )
        yield component
        yield from _iterate_components(component)


def _iterate_children(element: Any) -> list[Any]:
    """The direct child components of an element; if they are equivalent, only the first with content."""
    children = markup.find_children(element, "NewsComponent")
    if element.get("EquivalentsList") == "yes":
        return [child for child in children if markup.find_first(child, "DataContent") is not None][:1]
    return children


def _iterate_contents(component: Any) -> Iterator[Any]:
    """The `<DataContent>`s in a component that may be its text, in order."""
    if _formal_name(_find_child(component, "Role")).lower() in _OTHER_ROLES:
        return
    for child in markup.find_children(component, "ContentItem"):
        if _find_child(child, "Encoding") is None:
            content = _find_child(child, "DataContent")
            if content is not None and any(text.strip() for text in content.itertext()):
                yield content
    for child in _iterate_children(component):
        yield from _iterate_contents(child)


def _extract_newsml1_text(content: Any) -> str:
    """The text of NITF, XHTML, escaped HTML or plain text. Raises html_tree.NoArticle."""
    if markup.find_first(content, "nitf") is not None:
        return _extract_nitf_body(content)
    if next(markup.find_all(content, "body", "p"), None) is not None:
        body = markup.find_first(content, "body")
        return markup.to_text(content if body is None else body)
    text = "".join(content.itertext()).strip()
    return html_tree.html_to_text(text) if _NEWSML1_HTML.search(text) else text


def _find_newsml1_skip_reason(item: Any) -> str | None:
    """Why an item must not be loaded; None if it may be."""
    management = _find_child(item, "NewsManagement")
    status = _formal_name(_find_child(management, "Status")).lower()
    if status in WITHDRAWN_STATUSES:
        return WITHDRAWN
    if status != "embargoed":
        return None
    until = markup.to_line(_find_child(management, "StatusWillChange", "DateAndTime"))
    return EMBARGO_REASON if is_embargoed(until) else None


def _find_id(item: Any) -> str | None:
    """The item's identifier without the revision, so that a later revision replaces an earlier one."""
    identifier = _find_child(item, "Identification", "NewsIdentifier")
    parts = [markup.to_line(_find_child(identifier, name)) for name in ("ProviderId", "DateId", "NewsItemId")]
    if all(parts):
        return make_id(":".join(["urn:newsml", *parts]))
    public = _REVISION.sub("", markup.to_line(_find_child(identifier, "PublicIdentifier")))
    component = _find_child(item, "NewsComponent")
    duids = (element.get("Duid") for element in (item, component) if element is not None)
    return make_id(public or next(filter(None, duids), "")) or None


def _find_newsml1_date(item: Any) -> str | None:
    for path in (
        ("NewsManagement", "FirstCreated"),
        ("NewsManagement", "ThisRevisionCreated"),
        ("Identification", "NewsIdentifier", "DateId"),
    ):
        if date := to_iso_date(markup.to_line(_find_child(item, *path))):
            return date
    return None


def _find_newsml1_source(component: Any) -> str | None:
    """The provider, or else the source, named by a component."""
    metadata = _find_child(component, "AdministrativeMetadata")
    names = (_formal_name(_find_child(metadata, role, "Party")) for role in ("Provider", "Source"))
    return next(filter(None, names), None)


def _find_newsml1_authors(component: Any) -> list[str]:
    line = markup.to_line(_find_child(component, "NewsLines", "ByLine"))
    return read_list("authors", line) or _extract_nitf_authors(component)


def _find_newsml1_keywords(component: Any) -> list[str]:
    """The keywords in keyword lines, and in the properties that agencies call keywords."""
    lines = _find_child(component, "NewsLines")
    texts = map(markup.to_line, markup.find_all(lines, "KeywordLine"))
    keywords = [word for text in texts for word in read_list("keywords", text) or []]
    metadata = _find_child(component, "DescriptiveMetadata")
    for element in markup.find_all(metadata, "Property"):
        if _formal_name(element).lower().startswith("keyword") and element.get("Value"):
            keywords += read_list("keywords", element.get("Value")) or []
    return keywords


def _find_headline(component: Any) -> str:
    return markup.to_line(_find_child(component, "NewsLines", "HeadLine"))


def _formal_name(element: Any) -> str:
    return markup.attribute(element, "FormalName").strip()


def _find_child(element: Any, *path: str) -> Any:
    """The first child along this path of names; None if there is none."""
    for name in path:
        element = next(iter(markup.find_children(element, name)), None)
    return element


NITF = Format(
    "nitf",
    "NITF XML of the IPTC: articles in <nitf>, from agencies and archives",
    suffixes=(".nitf",),
    sniff=lambda head: head.startswith(b"<") and bool(_NITF_START.match(head)),
    read=_read_nitf,
    needs=("lxml.etree",),
    may_lack_documents=True,
)
NEWSML_G2 = Format(
    "newsml",
    "NewsML-G2 of the IPTC: <newsItem>s that contain NITF, XHTML or plain text",
    suffixes=(".newsml", ".newsmlg2"),
    sniff=markup.sniff("newsMessage", "newsItem"),
    read=_read_g2,
    needs=("lxml.etree",),
    may_lack_documents=True,
)
NEWSML_1 = Format(
    "newsml1",
    "NewsML 1 of the IPTC: <NewsItem>s that contain NITF, XHTML or plain text",
    suffixes=(".newsml",),
    sniff=markup.sniff("NewsML"),
    read=_read_newsml1,
    needs=("lxml.etree",),
    may_lack_documents=True,
)
