"""NewsML 1 of the IPTC, versions 1.0 to 1.2, which agencies still send: https://iptc.org/standards/newsml-1/

A `<NewsItem>` is a tree of `<NewsComponent>`s, some with a headline; the texts are in `<ContentItem>`s. An
article is an innermost component with a headline, or else the whole item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from esr.loaders import markup, nitf, page
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
from esr.loaders.ids import make_id
from esr.text.written_dates import to_iso_date

# Components with these roles contain no article text.
_OTHER_ROLES = frozenset(("title", "headline", "caption", "keywords", "byline"))
_REVISION = re.compile(r":\d+[AUN]?$")
_HTML = re.compile(r"</?(?:a|b|body|br|div|em|i|p|span|strong)\b[^<>]{0,1000}>", re.I)


def read(source: Source) -> Iterator[ReadResult]:
    """A record per article with a text. Raises InputError where the XML is broken.

    Pictures, captions and other items without text are skipped, and so are items that are cancelled, withheld
    or under embargo. If an item has several articles, as in two languages, each gets an id of its own.
    """
    for outermost in markup.iterate_elements(source, frozenset({"NewsItem"})):
        for item in (outermost, *markup.find_all(outermost, "NewsItem")):
            yield from _read_item(source, item)


class _Component(NamedTuple):
    """A component, or an item as the outermost one. Source and language may be inherited."""

    element: Any
    source: str | None
    language: str | None


def _read_item(source: Source, item: Any) -> Iterator[ReadResult]:
    articles = [
        article
        for article in _find_articles(item)
        if next(_iterate_contents(article.element), None) is not None
    ]
    if articles and (reason := _find_skip_reason(item)):
        yield Skipped(f"{source.name}:{item.sourceline}", reason)
        return
    id, date = _find_id(item), _find_date(item)
    for number, article in enumerate(articles, 1):
        where = f"{source.name}:{article.element.sourceline}"
        try:
            fields = _read_article(article)
        except page.NoArticle as error:
            yield Malformed(where, str(error), id)
            continue
        if fields["text"] or fields["title"]:
            part = make_id(article.element.get("Duid") or str(number))
            full_id = f"{id}:{part}" if id and len(articles) > 1 else id
            yield Record(where, {"id": full_id, "date": date, **fields})


def _read_article(article: _Component) -> dict[str, Any]:
    """The fields of an article that do not come from its item. Raises page.NoArticle."""
    text = "\n\n".join(filter(None, map(_extract_text, _iterate_contents(article.element))))
    title = _find_headline(article.element) or nitf.extract_title(article.element)
    return {
        "title": title,
        "source": article.source,
        "language": article.language,
        "authors": _find_authors(article.element),
        "keywords": _find_keywords(article.element),
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
        component = _Component(element, _find_source(element) or parent.source, language or parent.language)
        yield component
        yield from _iterate_components(component)


def _iterate_children(element: Any) -> list[Any]:
    """The components directly in an element; only the first with content if they are equivalent."""
    children = [child for child in element if markup.local_name(child) == "NewsComponent"]
    if element.get("EquivalentsList") == "yes":
        return [child for child in children if markup.find_first(child, "DataContent") is not None][:1]
    return children


def _iterate_contents(component: Any) -> Iterator[Any]:
    """The `<DataContent>`s in a component that may be its text, in order."""
    if _formal_name(_find_child(component, "Role")).lower() in _OTHER_ROLES:
        return
    for child in component:
        if markup.local_name(child) == "ContentItem" and _find_child(child, "Encoding") is None:
            content = _find_child(child, "DataContent")
            if content is not None and any(text.strip() for text in content.itertext()):
                yield content
    for child in _iterate_children(component):
        yield from _iterate_contents(child)


def _extract_text(content: Any) -> str:
    """The text of NITF, XHTML, escaped HTML or plain text. Raises page.NoArticle."""
    if markup.find_first(content, "nitf") is not None:
        return nitf.extract_body(content)
    if next(markup.find_all(content, "body", "p"), None) is not None:
        body = markup.find_first(content, "body")
        return markup.to_text(content if body is None else body)
    text = "".join(content.itertext()).strip()
    return page.html_to_text(text) if _HTML.search(text) else text


def _find_skip_reason(item: Any) -> str | None:
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


def _find_date(item: Any) -> str | None:
    for path in (
        ("NewsManagement", "FirstCreated"),
        ("NewsManagement", "ThisRevisionCreated"),
        ("Identification", "NewsIdentifier", "DateId"),
    ):
        if date := to_iso_date(markup.to_line(_find_child(item, *path))):
            return date
    return None


def _find_source(component: Any) -> str | None:
    """The provider, or else the source, named by a component."""
    metadata = _find_child(component, "AdministrativeMetadata")
    names = (_formal_name(_find_child(metadata, role, "Party")) for role in ("Provider", "Source"))
    return next(filter(None, names), None)


def _find_authors(component: Any) -> list[str]:
    line = markup.to_line(_find_child(component, "NewsLines", "ByLine"))
    return read_list("authors", line) or nitf.extract_authors(component)


def _find_keywords(component: Any) -> list[str]:
    """The keywords in keyword lines, and in the properties that agencies call keywords."""
    lines = _find_child(component, "NewsLines")
    texts = [] if lines is None else map(markup.to_line, markup.find_all(lines, "KeywordLine"))
    keywords = [word for text in texts for word in read_list("keywords", text) or []]
    metadata = _find_child(component, "DescriptiveMetadata")
    for element in [] if metadata is None else markup.find_all(metadata, "Property"):
        if _formal_name(element).lower().startswith("keyword") and element.get("Value"):
            keywords += read_list("keywords", element.get("Value")) or []
    return keywords


def _find_headline(component: Any) -> str:
    return markup.to_line(_find_child(component, "NewsLines", "HeadLine"))


def _formal_name(element: Any) -> str:
    return "" if element is None else element.get("FormalName", "").strip()


def _find_child(element: Any, *path: str) -> Any:
    """The first child along this path of names; None if there is none."""
    for name in path:
        if element is None:
            return None
        element = next((child for child in element if markup.local_name(child) == name), None)
    return element


FORMAT = register(
    Format(
        name="newsml1",
        description="NewsML 1 of the IPTC: <NewsItem>s that contain NITF, XHTML or plain text",
        suffixes=(".newsml",),
        sniff=markup.sniff("NewsML"),
        read=read,
        needs=("lxml.etree",),
        may_lack_documents=True,
    )
)
