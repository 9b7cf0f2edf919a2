"""Exports of Europresse (Eureka.cc, CEDROM-SNi) as HTML: one document per article.

The newer layout has an `<article>` for each article, the older one a cell of a table. The refinement
`europresse` recognises such pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from esr.plugin import (
    Malformed,
    ReadResult,
    Record,
    Refinement,
    make_id,
    make_id_from_content,
    read_list,
    to_iso_date,
)
from esr.plugin.provisional import compile_lazily, markup

_MARK = b"DocPublicationName"
_ID = compile_lazily(r"(?:news|web|rdp|tweet|tv)[\u00b7.](\d{8}[\u00b7.][\w\u00b7.-]+)")
_ISSUE = compile_lazily(r"(?:,| -)? (?:no|n\u00b0|n\u00ba|#)\.? ?[\d-]+.*$", re.I)
"""The number of the issue after the name of a newspaper."""
_RIGHTS = compile_lazily(
    r"\s*(?:\u00a9|Num\u00e9ro de document|Document number|Ce certificat|This certificate)"
)
_WEEKDAY = compile_lazily(r"^(?:[^\W\d]+di|dimanche|\w+day)\b,?\s*", re.I)
_FIRST = compile_lazily(r"\b1er\b", re.I)


def read_page(name: str, data: bytes, parse: Callable[[], Any]) -> Iterator[ReadResult] | None:
    """The records of the articles in an export; None for any other page. `parse` returns its tree."""
    if _MARK not in data:
        return None
    articles = list(_find_articles(parse()))
    return _read_articles(name, articles) if articles else None


def _find_articles(tree: Any) -> Iterator[Any]:
    """The innermost elements that have the name of a publication and one title."""
    for name in _find_by_class(tree, "DocPublicationName"):
        parents = name.iterancestors("article", "td")
        article = next((element for element in parents if _find_first(element, *_TITLES) is not None), None)
        if article is not None:
            yield article


_TITLES = ("titreArticleVisu", "TitreArticleVisu", "rdp__articletitle")


def _find_by_class(element: Any, *names: str) -> Iterator[Any]:
    for descendant in element.iter():
        if markup.local_name(descendant) and not {*names}.isdisjoint(descendant.get("class", "").split()):
            yield descendant


def _find_first(element: Any, *names: str) -> Any:
    return next(_find_by_class(element, *names), None)


def _read_articles(document: str, articles: Iterable[Any]) -> Iterator[ReadResult]:
    for number, article in enumerate(dict.fromkeys(articles), 1):
        where = f"{document}:article {number}"
        fields = {name: value for name, value in _read_article(article).items() if value}
        if not fields.get("text") and not fields.get("title"):
            yield Malformed(where, "this article has no title and text where Europresse has them: remove it")
        else:
            yield Record(where, {"id": make_id_from_content(fields), **fields})


def _read_article(article: Any) -> dict[str, Any]:
    lines = [markup.to_line(element) for element in _find_by_class(article, "DocHeader")]
    section, date = _read_header(" ".join(" ".join(lines).split()))
    number = _ID.search(" ".join(article.itertext()))
    text = _read_text(article)
    fields = {
        "title": markup.to_line(_find_first(article, *_TITLES)),
        "date": date,
        "source": _ISSUE.sub("", markup.to_line(_find_first(article, "DocPublicationName"))),
        "section": section,
        "authors": read_list("authors", _find_author(article)),
        "text": text,
    }
    return {**({"id": make_id(number[0].replace(".", "\u00b7"))} if number else {}), **fields}


def _read_header(header: str) -> tuple[str, str | None]:
    """The section and the date in a line such as "Politique, mardi 14 mars 2006, p. 12".

    A date in English has a comma itself: "Tuesday, March 14, 2006".
    """
    parts = [part.strip() for part in header.split(",") if part.strip()]
    for size in (1, 2):
        for n in range(len(parts) - size + 1):
            text = _FIRST.sub("1", _WEEKDAY.sub("", ", ".join(parts[n : n + size])))
            if _DAY.search(text) and (date := to_iso_date(_TIME.sub("", text))):
                before = [part for part in parts[:n] if _WEEKDAY.sub("", part)]
                return ", ".join(before), date[:10]
    return "", None


_DAY = compile_lazily(r"\b\d{1,2}\b.*\b\d{4}\b")
_TIME = compile_lazily(r"\s+(?:-\s+)?\d{1,2}[:h]\d\d.*$")


def _find_author(article: Any) -> str:
    """The line below the title, which has no class of its own in most exports."""
    if (author := _find_first(article, "docAuthors")) is not None:
        return markup.to_line(author)
    title = _find_first(article, "titreArticle")
    following = title.getnext() if title is not None else None
    return markup.to_line(following) if following is not None and following.tag in ("div", "p") else ""


def _read_text(article: Any) -> str:
    """The paragraphs below the header, without notes about rights and the certificate."""
    body = _find_first(article, "docOcurrContainer", "DocText")
    if body is None:
        body = next(article.iter("section"), None)
    if body is not None:
        return markup.to_text(body)
    return _read_old_text(article)


def _read_old_text(article: Any) -> str:
    """The text of the older layout: what follows the title, up to the line of rights."""
    title = _find_first(article, *_TITLES)
    for element in title.itersiblings():
        if element.tag == "br":
            element.tag = "hr"  # ends a paragraph
    lines = [title.tail or ""]
    for element in title.itersiblings():
        text = markup.to_text(element)
        if _RIGHTS.match(text) or _RIGHTS.match(element.tail or ""):
            break
        is_paragraph = element.tag in ("p", "hr", "div", "table")
        lines.append(f"\n\n{text}\n\n" if is_paragraph else f" {text} ")
        lines.append(element.tail or "")
    paragraphs = (" ".join(line.split()) for line in "".join(lines).split("\n\n"))
    return "\n\n".join(filter(None, paragraphs))


EUROPRESSE = Refinement(name="europresse", read_page=read_page)
