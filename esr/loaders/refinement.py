"""Refinements: readers of certain pages, mails and office documents, such as exports of databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from esr.loaders.format import ReadResult
from esr.loaders.html_tree import NoArticle
from esr.registry import Registry

Results = Iterator[ReadResult] | None


class Refinement(Struct, frozen=True, kw_only=True):
    """Reads certain files of other formats, such as a page with all articles that a database exports.

    Formats of pages, mails and office documents offer each file to all refinements, before they read it as
    one document. `read_page` gets the name of the file for messages, the bytes of an HTML page, and a
    function that returns its tree (lxml). `read_lines` gets the name and the lines or paragraphs of a text.
    Both return the results of the file, as `Format.read` does, or None for files that they do not recognise.
    """

    name: str
    read_page: Callable[[str, bytes, Callable[[], Any]], Results] | None = None
    read_lines: Callable[[str, Sequence[str]], Results] | None = None


REFINEMENTS: Registry[Refinement] = Registry("refinement", "refinements", Refinement)


def refine_page(name: str, data: bytes, parse: Callable[[], Any]) -> Results:
    """The results of the first refinement that recognises an HTML page; None if none does.

    Raises what `parse` raises, such as NoArticle.
    """
    return _find_results(lambda item: item.read_page and item.read_page(name, data, parse))


def refine_lines(name: str, lines: Sequence[str]) -> Results:
    """The results of the first refinement that recognises the lines of a text; None if none does."""
    return _find_results(lambda item: item.read_lines and item.read_lines(name, lines))


def _find_results(read: Callable[[Refinement], Results]) -> Results:
    """The first results. A refinement of a plug-in that fails is reported, and the others are tried."""
    for refinement in REFINEMENTS.values():
        try:
            results = read(refinement)
        except NoArticle:
            raise
        except Exception as error:  # of a plug-in; the page is read without it
            REFINEMENTS.report_failure(refinement, error)
            continue
        if results is not None:
            return results
    return None
