"""HTML pages: the article of each.

trafilatura extracts the article of a page, without menus, advertisements and comments.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from itertools import islice
from typing import Any

from esr.errors import to_one_line
from esr.loaders import markup
from esr.loaders.document_ids import make_id_from_path
from esr.loaders.encoding import ESCAPE, SAMPLE_BYTES, decode_declared, find_encoding, is_utf8
from esr.loaders.fields import read_list
from esr.loaders.format import Malformed, ReadResult, Record, Source, loads
from esr.loaders.html_tree import MAX_PAGE_BYTES, NoArticle, html_to_text, parse_page
from esr.loaders.refinement import refine_page
from esr.stdlib import compile_lazily
from esr.text.labels import CAPITAL_LINK, LINK
from esr.text.languages import JOINERS
from esr.text.written_dates import to_iso_date

_MAX_ELEMENTS = 100_000
"""Maximum number of elements of a page. The time of extraction grows with their square."""
_HEAD_BYTES = 2**14
_LANG = compile_lazily(
    rb"""<html\b[^<>]{0,1000}?\slang\s{0,9}=\s{0,9}["']?([A-Za-z][A-Za-z0-9-]{1,30})""", re.I
)
_BEGINNING = compile_lazily(
    rb"\s*(?:<\?xml[^<>]{0,200}>\s*)?(?:<!--.{0,1000}?-->\s*)?<(?:!doctype\s+html|html)\b", re.I | re.DOTALL
)
# If a site has no name, trafilatura returns its address up to the first "/".
_HOST = compile_lazily(r"([\w-]{1,63}(?:\.[\w-]{1,63}){1,9})[:/?#]\S{0,9999}")
# A bar between blanks separates links or text cells; it is not a word.
_BAR = compile_lazily(r"(?<!\S)\|+(?!\S)")
_BREAK = "\n\n"
# Elements of trafilatura's tree that are paragraphs.
_BLOCKS = frozenset(("div", "head", "item", "lb", "list", "p", "quote", "row", "table"))
_CELLS = ("cell", "td", "th")


_NO_TEXT = "the page contains no text of an article: leave it out"


@loads(
    "html",
    "HTML pages: the article of each, without the rest of the page; its path is the id",
    suffixes=(".html", ".htm", ".xhtml"),
    sniff=lambda head: _BEGINNING.match(head) is not None,
    needs=("trafilatura",),
    # A page among files of other formats is usually an index of them.
    often_incidental=True,
)
def _read_file(source: Source) -> Iterator[ReadResult]:
    """The record of the page, or the problem with it. A refinement may read several records."""
    data = source.stream.read(MAX_PAGE_BYTES + 1)
    try:
        if len(data) <= MAX_PAGE_BYTES:
            results = refine_page(source.name, data, lambda: parse_page(data))
            if results is not None:
                yield from results
                return
        fields = extract_article(data)
    except NoArticle as error:
        yield Malformed(source.name, str(error))
    else:
        yield Record(source.name, {"id": make_id_from_path(source), **fields})


def extract_article(data: bytes, url: str | None = None, content_type: str = "") -> dict[str, Any]:
    """The fields of the article in a page, except the id. Raises NoArticle.

    The encoding is the charset in `content_type`, the header of the response, or else that of the page's
    markup, or else it is guessed. The date comes only from the page's metadata and JSON-LD; it is not guessed
    from the text.
    """
    import trafilatura

    _silence_libraries()
    data = _to_utf8(data, content_type)
    dates = {"extensive_search": False, "original_date": True}
    try:
        tree = _parse_bounded(data)
        stated = _choose_object(tree)
        _remove_stated_texts(tree)
        names, account = list(_find_site_names(tree)), _find_account(tree)
        page_title = " ".join("".join(tree.xpath("string(//head/title)")).split())
        headings = {_fold("".join(heading.itertext())) for heading in tree.iter("h1")}
        _remove_hidden(tree)
        _remove_links(tree)
        article = trafilatura.bare_extraction(
            tree,
            url=url,
            include_comments=False,
            with_metadata=True,
            date_extraction_params=dates,
        )
    except NoArticle:
        raise
    # trafilatura uses several parsers, which raise various exceptions.
    except Exception as error:
        raise NoArticle(f"the page cannot be read ({to_one_line(error) or type(error).__name__})") from None
    text = "" if article is None else _extract_text(article.body)
    text = _choose_longer(text, stated.get("articleBody"))
    if not text:
        raise NoArticle(_NO_TEXT)
    if article is None:
        article = trafilatura.extract_metadata(tree, default_url=url, date_config=dates)
    sections = list(article.categories or [])
    tags = [tag for text in article.tags or [] for tag in read_list("keywords", text) or []]
    published = stated.get("datePublished")
    date = to_iso_date(published) if isinstance(published, str) else None
    date = date or to_iso_date(article.date or "")
    authors = list(_read_authors(stated)) or _without_dates(data, article.author or "")
    source = _find_source(article, names, account)
    title = _clean(stated.get("headline")) or article.title
    sites = {*names, *filter(None, (source, article.hostname))}
    title = _remove_site(page_title if title in sites and page_title else title, sites, headings)
    return {
        "title": title,
        "date": date[:10] if date else None,
        "source": source,
        **({"author": "; ".join(authors)} if authors else {}),  # for --mapping source=author
        "authors": authors,
        "section": sections[0] if sections else None,
        "keywords": [*sections[1:], *tags],
        "url": url or article.url,
        "language": (language := _find_language(data)),
        "page_language": language,  # which a template may have, so detection takes precedence
        "text": markup.remove_title(text, title or ""),
    }


_CHARSET = compile_lazily(r""";\s*charset\s*=\s*["']?([\w.:-]{1,40})""", re.I)
_DECLARED = compile_lazily(rb"<meta\b[^<>]{0,1000}\bcharset\s*=|<\?xml[^<>]{0,200}\bencoding\s*=", re.I)
_NOT_ASCII = compile_lazily(rb"[\x80-\xff]")


def _to_utf8(data: bytes, content_type: str) -> bytes:
    """The page in UTF-8, by the header of its response, or else by its letters.

    It is unchanged if its own markup declares the encoding, which the parser reads, or if nothing fits.
    """
    is_read = ESCAPE not in data and is_utf8(data)
    for encoding in () if is_read else _find_encodings(data, content_type):
        with suppress(LookupError, ValueError):
            return decode_declared(data, encoding).encode("utf-8", "surrogatepass")
    return data


def _find_encodings(data: bytes, content_type: str) -> Iterator[str]:
    """The encodings that a page that is not UTF-8 may have, the most reliable first."""
    if charset := _CHARSET.search(content_type):
        yield charset[1]
    escape, first = data.find(ESCAPE), _NOT_ASCII.search(data)
    if escape >= 0:  # the parser takes ISO-2022-JP for ASCII, whatever the markup declares
        start = escape
    elif first and not _DECLARED.search(data, 0, _HEAD_BYTES):
        start = first.start()
    else:
        return
    yield from filter(None, [find_encoding(data[start : start + SAMPLE_BYTES])])


def _parse_bounded(data: bytes) -> Any:
    """The elements of a page. Raises NoArticle if it has none, or too many."""
    if len(data) > MAX_PAGE_BYTES:
        raise NoArticle(f"the page is longer than {MAX_PAGE_BYTES // 2**20} MiB: leave it out")
    tree = parse_page(data)
    if tree is None:
        raise NoArticle(_NO_TEXT)
    if next(islice(tree.iter(), _MAX_ELEMENTS, None), None) is not None:
        raise NoArticle(f"the page has more than {_MAX_ELEMENTS:,} elements: leave it out")
    return tree


# The article in the JSON-LD of a page. trafilatura would take the date of any object, or of the last change.

_OBJECTS = ("@graph", "mainEntity")
"""Keys whose objects may be the article. Objects under other keys are related articles."""


def _find_linked_articles(tree: Any) -> Iterator[Mapping[str, Any]]:
    """The articles that the JSON-LD of a page describes."""
    for script in tree.iter("script"):
        if script.get("type", "").strip().lower() == "application/ld+json":
            try:
                yield from _find_articles(json.loads(script.text or ""))
            except (ValueError, RecursionError):
                continue


def _find_articles(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list):
        for inner in value:
            yield from _find_articles(inner)
    elif isinstance(value, dict):
        types = value.get("@type")
        names = [name for name in (types if isinstance(types, list) else [types]) if isinstance(name, str)]
        if any(name.endswith(("Article", "Posting")) for name in names):
            yield value
        for key in _OBJECTS:
            yield from _find_articles(value.get(key))


def _choose_object(tree: Any) -> Mapping[str, Any]:
    """The object whose headline the page shows, or else the first one, without its headline."""
    objects = list(_find_linked_articles(tree))
    if len(objects) > 1:
        shown = [_fold("".join(element.itertext())) for element in tree.iter("h1", "title")]
        for item in objects:
            headline = _fold(str(item.get("headline") or ""))
            if headline and any(text.startswith(headline) for text in shown):
                return item
    return {**objects[0], "headline": None} if objects else {}


def _fold(title: str) -> str:
    return " ".join(html.unescape(title).lower().split())


def _clean(headline: Any) -> str | None:
    return " ".join(html.unescape(headline).split()) or None if isinstance(headline, str) else None


def _read_authors(stated: Mapping[str, Any]) -> Iterator[str]:
    """The names of the authors in an object, without addresses."""
    authors = stated.get("author")
    for author in authors if isinstance(authors, list) else [authors]:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str) and "://" not in name:
            yield from read_list("authors", name) or []


_OTHERS = compile_lazily(
    r"\b(?:related|recommend(?:ed|ations?)|more-from|read-more|most-(?:read|popular)|teasers?)\b"
)
_HAS_OTHERS = compile_lazily(
    rb"<aside\b|related|recommend|more-from|read-more|most-read|most-popular|teaser", re.I
)


_DAY = compile_lazily(
    r"(?P<name>\w+)(?P<day>[;,|·•\s]+(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day[;,\s]+)?(?P<month>[^\W\d_]{3,10}))$"
)


def _without_dates(data: bytes, byline: str) -> list[str]:
    """The authors in a byline such as "Jane Doe March 11, 2015", of which trafilatura drops only digits."""
    date = _DAY.search(byline)
    if date and to_iso_date(f"{date['month']} 1, 2024"):
        words = map(re.escape, re.findall(r"\w+", date[0]))
        if re.search(r"\W+".join((*words, r"\d")), " ".join(_find_texts(parse_page(data)))):
            byline = byline[: date.start("day")]
    return _without_others(data, read_list("authors", byline))


def _without_others(data: bytes, authors: list[str] | None) -> list[str]:
    """The authors without those that are named only in related articles."""
    if not authors or not _HAS_OTHERS.search(data):
        return authors or []
    tree = parse_page(data)
    text = " ".join(_find_texts(tree))
    return [author for author in authors if " ".join(author.split()) in text]


def _find_texts(element: Any) -> Iterator[str]:
    """The words of a page and the contents of its metadata, without asides and related articles."""
    stack = [element]
    while stack:
        node = stack.pop()
        name = markup.local_name(node)
        about = f"{node.get('class', '')} {node.get('id', '')}".lower().replace("_", "-") if name else ""
        if name and name != "aside" and not (name not in ("html", "body") and _OTHERS.search(about)):
            yield from (node.text or "").split()
            yield from (node.get("content") or "").split()
            stack += reversed(node)
        if node is not element:
            yield from (node.tail or "").split()


# The text in the JSON-LD of a page. trafilatura would take it in place of the page's paragraphs.

_TEXT_KEY = "articleBody"
_LONGER = 1.2
"""How many times the letters of the page's text the stated text must have to replace it."""


def _remove_stated_texts(tree: Any) -> None:
    """Remove the texts of articles from the JSON-LD of a page."""
    for script in tree.iter("script"):
        if script.get("type", "").strip().lower() == "application/ld+json" and _TEXT_KEY in (
            script.text or ""
        ):
            try:
                script.text = json.dumps(_without_text(json.loads(script.text)))
            except (ValueError, RecursionError):
                continue


def _without_text(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_text(inner) for inner in value]
    if isinstance(value, dict):
        return {name: _without_text(inner) for name, inner in value.items() if name != _TEXT_KEY}
    return value


def _choose_longer(text: str, stated: Any) -> str:
    """The text of the page, or the stated one if the page's is only a part of it."""
    if not isinstance(stated, str):
        return text
    paragraphs = html_to_text(stated).replace("\r", "\n").split("\n")
    other = _BREAK.join(line for paragraph in paragraphs for line in _clean_lines(paragraph))
    is_longer = _count_alphanumeric(other) > _LONGER * _count_alphanumeric(text)
    return other if is_longer else text


def _count_alphanumeric(text: str) -> int:
    return sum(map(str.isalnum, text))


# The name of the site, and titles without it

_MAX_NAME_WORDS = 8
_SEPARATORS = (" | ", " - ", " \u2013 ", " \u2014 ", " :: ", " \u00b7 ", " \u2022 ", " \u00bb ", " \u00ab ")
"""What pages have between the title of an article and the name of the site."""


def _read_meta(tree: Any) -> dict[str, str]:
    return {
        (meta.get("property") or meta.get("name") or "").strip().lower(): meta.get("content") or ""
        for meta in tree.iter("meta")
    }


def _find_account(tree: Any) -> str:
    """The account of the site at a social network, which trafilatura takes for its name; "" without one."""
    return _letters(_read_meta(tree).get("twitter:site", ""))


def _find_site_names(tree: Any) -> Iterator[str]:
    """The names of the site that a page states, the most reliable first."""
    stated = _read_meta(tree)
    for name in ("og:site_name", "application-name"):
        yield from filter(_is_name, [" ".join(stated.get(name, "").split())])
    for article in _find_linked_articles(tree):
        publisher = article.get("publisher")
        stated_name = publisher.get("name") if isinstance(publisher, dict) else publisher
        if isinstance(stated_name, str):
            yield from filter(_is_name, [" ".join(html.unescape(stated_name).split())])


def _is_name(text: str) -> bool:
    """Whether a text may be the name of a site, not an account, an address or a headline."""
    is_address = "://" in text or text.startswith(("@", "#", "/"))
    return bool(text) and not is_address and len(text.split()) <= _MAX_NAME_WORDS


def _find_source(article: Any, names: list[str], account: str) -> str | None:
    """The name of the site, or else its host, without the port and the rest of the address."""
    title = _fold(article.title or "")
    site = article.sitename or ""
    is_headline = title.startswith(_fold(site)) and site.count(" ") > 2
    is_account = bool(account) and _letters(site) == account
    sitename = site if _is_name(site) and not is_headline and not is_account else None
    name: str | None = next((name for name in names if _fold(name) != title), None)
    name = name or sitename or article.hostname
    host = _HOST.fullmatch(name or "")
    return host[1] if host else name


def _remove_site(title: str | None, names: Set[str], headings: Set[str]) -> str | None:
    """The title without the name of the site at one end.

    A part of the title is the name if it is one of `names`, or if the rest is a heading of the page.
    """
    known = {_letters(name) for name in names} | {_letters(name.rpartition(".")[0]) for name in names}
    for separator in _SEPARATORS:
        for part in (str.rpartition, str.partition):
            before, mark, after = part(title or "", separator)
            if not mark:
                continue
            for rest, name in ((before, after), (after, before)):
                is_name = _letters(name) in known - {""} or (_fold(rest) in headings and _is_name(name))
                if rest.strip() and is_name:
                    return _remove_site(rest.strip(), names, headings)
    return title


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.lower().removeprefix("www.")))


_LINES = ("h2", "h3", "h4", "h5", "h6", "li", "p")
"""Elements that may consist of a link to another article."""
_LEAST_LINK_WORDS = 4
"""Minimum words of a link to an article. A shorter link may be the author, the day or the section."""
_END_OF_SENTENCE = compile_lazily(r"[.!?…。！？।؟۔:][\W_]*$")


_ARTICLE = compile_lazily(r"(?:html|body|main|article|h1)")


def _remove_hidden(tree: Any) -> None:
    """Remove hidden elements, except around the article, which a script may show later.

    An element with more than half of the letters counts as the article.
    """
    elements = tree.xpath("//*[@hidden or @style] | //template")
    hidden = [element for element in elements if element.tag == "template" or markup.is_hidden(element)]
    letters = _count_letters(tree) if hidden else 0
    for element in hidden:
        has_article = any(map(_ARTICLE.fullmatch, map(markup.local_name, element.iter())))
        if element.getparent() is not None and not has_article and 2 * _count_letters(element) < letters:
            element.drop_tree()


def _count_letters(element: Any) -> int:
    return sum(map(len, element.xpath(".//text()[not(ancestor::script or ancestor::style)]")))


def _remove_links(tree: Any) -> None:
    """Remove lines that are links to other articles: a label and a link, or a link alone that is no sentence.

    trafilatura removes lists of links, but keeps a single link between two paragraphs.
    """
    for line in list(tree.iter(*_LINES)):
        links = list(line.iter("a"))
        if len(links) != 1 or line.getparent() is None:
            continue
        link, text = (" ".join(element.text_content().split()) for element in (links[0], line))
        rest = text.replace(link, "", 1).strip()
        is_label = LINK.fullmatch(rest) or CAPITAL_LINK.fullmatch(rest)
        is_bare = not any(map(str.isalnum, rest)) and not _END_OF_SENTENCE.search(text)
        if is_label or (is_bare and len(link.split()) >= _LEAST_LINK_WORDS):
            line.drop_tree()


def _extract_text(body: Any) -> str:
    """The text of trafilatura's tree, with blank lines between paragraphs.

    trafilatura's text output has bars between cells of tables and dashes before items of lists, which would
    become words.
    """
    pieces: list[str] = []
    _collect_text(body, pieces, in_row=False)
    text = _BAR.sub(" ", html.unescape("".join(pieces)))
    paragraphs = ("\n".join(_clean_lines(paragraph)) for paragraph in text.split(_BREAK))
    return _BREAK.join(filter(None, paragraphs))


def _clean_lines(text: str) -> Iterator[str]:
    """The lines that have words. In pages without paragraphs, line ends are the only separators."""
    for line in text.split("\n"):
        if any(map(str.isalnum, line)):
            yield _keep_printable(" ".join(line.split()))


def _keep_printable(text: str) -> str:
    """The text without soft hyphens and control characters, which would split words."""
    return text if text.isprintable() else "".join(c for c in text if c.isprintable() or c in JOINERS)


def _collect_text(element: Any, pieces: list[str], in_row: bool) -> None:
    """Append the text of an element. A row of several cells is one line.

    A row of a single cell keeps its line ends, because pages use such tables for layout.
    """
    name = markup.local_name(element)
    texts = [(text or "").replace("\n", " " if in_row else "\n") for text in (element.text, element.tail)]
    if name:
        separator = _separator(name, in_row)
        pieces += (separator, texts[0])
        is_in_row = in_row or (name == "row" and sum(map(_has_text, element)) > 1)
        for child in element:
            _collect_text(child, pieces, is_in_row)
        pieces.append(separator)
    pieces.append(texts[1])


def _separator(name: str, in_row: bool) -> str:
    if name in _BLOCKS:
        return " " if in_row else _BREAK
    return " " if name in _CELLS else ""


def _has_text(element: Any) -> bool:
    return any(text.strip() for text in element.itertext())


def _find_language(data: bytes) -> str | None:
    """The language that `<html lang="…">` declares."""
    match = _LANG.search(data, 0, _HEAD_BYTES)
    return match[1].decode() if match else None


def _silence_libraries() -> None:
    """Stop libraries from logging every unusual page to standard error."""
    import logging  # slow to import

    for library in ("trafilatura", "htmldate", "justext", "courlan", "charset_normalizer"):
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
