"""Trees of HTML pages and fragments, within limits of size, depth and attributes."""

from __future__ import annotations

import re
from typing import Any

from esr.errors import to_one_line
from esr.loaders import markup
from esr.stdlib import compile_lazily

# Pages of articles are shorter, and extraction is slow on long pages.
MAX_PAGE_BYTES = 8 * 2**20
_MAX_DEPTH = 2_000
"""Maximum number of nested elements of a page. The time of extraction grows with their cube."""
_MAX_ATTRIBUTES = 1_000
"""Maximum number of attributes of an element. The time of parsing it grows with their square."""
_TAG = compile_lazily(rb"<!--.*?(?:-->|\Z)|<(?P<name>[A-Za-z][^\s/>]*+)", re.DOTALL)
"""A comment, or the beginning of a tag."""
_VALUE = compile_lazily(rb"""=\s*+(?:"[^"]*+"|'[^']*+'|)""")
_END_OF_TAG = compile_lazily(rb""">|=\s*+(?:"[^"]*+"|'[^']*+')""")
"""The end of a tag, or a quoted value before it, which may contain ">". Each byte is looked at once."""
_CODE = (b"script", b"style")
_CODE_END = compile_lazily(rb"</(?:script|style)", re.I)


class NoArticle(ValueError):
    """A page contains no article, or none that can be extracted."""


def parse_page(data: bytes) -> Any:
    """The tree of a page. Raises NoArticle for elements nested too deeply or with too many attributes.

    trafilatura's parser would drop everything after 256 nested elements.
    """
    from lxml import etree
    from lxml import html as lxml_html
    from trafilatura.utils import HTML_PARSER, decode_file, load_html

    check_attributes(data)
    tree = load_html(data)
    if all(entry.type != etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in HTML_PARSER.error_log):
        return tree
    parser = lxml_html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    tree = lxml_html.document_fromstring(decode_file(data).encode("utf-8", "surrogatepass"), parser=parser)
    depth = 0
    for event, _ in etree.iterwalk(tree, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if depth > _MAX_DEPTH:
            raise NoArticle(f"the page has more than {_MAX_DEPTH:,} nested elements: leave it out")
    return tree


def check_attributes(data: bytes, *, has_code: bool = True) -> None:
    """Raise NoArticle if an element has too many attributes.

    Scripts and styles are text if `has_code` is set, unless they have no end. In XML, they have elements.
    """
    data, position = data.replace(b"\0", b""), 0  # UTF-16 has zero bytes
    while tag := _TAG.search(data, position):
        position = tag.end()
        if tag["name"] is None:
            continue
        while (part := _END_OF_TAG.search(data, position)) and part[0] != b">":
            position = part.end()
        position = part.start() if part else len(data)
        attributes, name = data[tag.end() : position], tag["name"].lower()
        is_long = len(attributes) > 2 * _MAX_ATTRIBUTES
        if is_long and len(_VALUE.sub(b"= ", attributes).split()) > _MAX_ATTRIBUTES:
            raise NoArticle(f"an element has more than {_MAX_ATTRIBUTES:,} attributes: leave it out")
        if has_code and name in _CODE and not attributes.endswith(b"/"):
            end = _CODE_END.search(data, position)
            position = end.start() if end else position
            has_code = end is not None  # no later one has an end either


def html_to_text(fragment: str) -> str:
    """The text of an HTML fragment, as in feeds and mails, with blank lines between paragraphs."""
    if "<" not in fragment and "&" not in fragment:
        return fragment
    tree = parse_fragment(fragment)
    try:
        return markup.to_text(tree)
    except RecursionError:
        raise NoArticle("the HTML cannot be read: its elements are nested too deeply") from None


def parse_fragment(fragment: str) -> Any:
    """The tree of an HTML fragment. Raises NoArticle."""
    from lxml import etree
    from lxml import html as lxml_html

    try:
        parser = lxml_html.HTMLParser(
            huge_tree=True
        )  # the default parser drops everything after 256 nested elements
        fragment = fragment.replace("\0", " ")
        check_attributes(fragment.encode("utf-8", "surrogatepass"))
        return lxml_html.fragment_fromstring(fragment, create_parent="div", parser=parser)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise NoArticle(f"the HTML cannot be read ({to_one_line(error)})") from None
