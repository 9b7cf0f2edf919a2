"""HTML and escapes that a table's writer left in its texts: `&lt;b&gt;`, `&amp;`, `<p>`, `\\$`."""

from __future__ import annotations

import html
import re

_BLOCKS = (
    "address article blockquote br center dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr"
)
_BLOCKS += " li ol p pre section table td th tr ul"
_INLINE = (
    "a abbr acronym b big cite code del em font i img ins nobr q s small span strike strong sub sup tt u"
)
_TAG = re.compile(
    rf"</?(?:(?P<block>{_BLOCKS.replace(' ', '|')})|{_INLINE.replace(' ', '|')})"
    r"""(?:\s[^<>"']{0,500}(?:"[^"<>]{0,2000}"[^<>"']{0,500}|'[^'<>]{0,2000}'[^<>"']{0,500}){0,20})?\s?/?>""",
    re.I,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
# No language or path has a backslash before these; programs that write tables do.
_ESCAPED = re.compile(r"""\\([$%&#"'])""")


def decode(text: str) -> str:
    """The text without tags of HTML, character references and backslashes before signs.

    `5 < 6`, `<name>` and `AT&T` stay. Tags of blocks end a paragraph.
    """
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    stripped = _remove_tags(text)
    decoded = _ENTITY.sub(_decode_entity, stripped) if "&" in stripped else stripped
    # In a text with tags, `&lt;b&gt;` is what its reader saw; in one without, its tags are escaped.
    return _remove_tags(decoded) if decoded != stripped and stripped == text else decoded


def _remove_tags(text: str) -> str:
    return _TAG.sub(_to_break, text) if "<" in text else text


def _to_break(tag: re.Match[str]) -> str:
    return "\n\n" if tag["block"] else ""


def _decode_entity(entity: re.Match[str]) -> str:
    """The character, with a blank for one that does not break."""
    return html.unescape(entity[0]).replace("\xa0", " ")
