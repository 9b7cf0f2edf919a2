"""Citations of articles as lines in the styles APA (7th edition), MLA (9th) and Chicago (17th, bibliography).

Only newspaper articles are cited, so each style is a template of one type. citeproc-py, the processor of CSL
styles for Python, is not used: where an article has no author, as most of a news collection, its version 0.11
writes the title twice in APA and MLA, and it adds the word "Edition" in Chicago. Any other style can be made
of the CSL-JSON that esr exports, by a reference manager or pandoc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from esr.text.dates import MONTHS

_SHORT = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")


class Name(NamedTuple):
    """An author: family and given names, or all of the name as `family` if it is not a person's."""

    family: str
    given: str = ""

    @property
    def inverted(self) -> str:
        """The name by its family name, as indexes have it."""
        return ", ".join(filter(None, self))

    @property
    def initials(self) -> str:
        """The name by its family name, with the initials of the given names."""
        letters = " ".join(f"{part[0]}." for part in self.given.split())
        return ", ".join(filter(None, (self.family, letters)))

    @property
    def direct(self) -> str:
        """The name as it is spoken."""
        return " ".join(filter(None, (self.given, self.family)))


_PARTICLES = {
    *(
        "al",
        "ap",
        "ben",
        "bin",
        "da",
        "de",
        "del",
        "den",
        "der",
        "di",
        "dos",
        "du",
        "el",
        "ibn",
        "la",
    ),
    *(
        "le",
        "ten",
        "ter",
        "van",
        "von",
        "zu",
    ),
}
_GROUPS = {
    *(
        "agencies",
        "agency",
        "agencia",
        "associated",
        "bbc",
        "board",
        "bureau",
        "channel",
        "cnn",
    ),
    *(
        "correspondent",
        "correspondents",
        "desk",
        "editor",
        "editorial",
        "editors",
        "group",
        "herald",
    ),
    *(
        "international",
        "jazeera",
        "journal",
        "magazine",
        "media",
        "network",
        "news",
        "newsroom",
        "online",
    ),
    *(
        "post",
        "press",
        "radio",
        "redaktion",
        "reporter",
        "reporters",
        "reuters",
        "room",
        "service",
    ),
    *(
        "staff",
        "team",
        "television",
        "times",
        "today",
        "tribune",
        "tv",
        "wire",
        "writers",
    ),
}


def split_name(text: str) -> Name:
    """An author's name in parts. Names of groups, and those that cannot be split safely, stay whole.

    "Ludwig van Beethoven" is van Beethoven, Ludwig; "Al Jazeera", "Reuters" and "Our own reporters" stay.
    """
    text = " ".join(text.split())
    if "," in text:
        family, _, given_name = text.partition(",")
        return (
            Name(family.strip(), given_name.strip())
            if given_name.strip() and "," not in given_name
            else Name(text)
        )
    words = text.split()
    if not 2 <= len(words) <= 5 or any(word.lower() in _GROUPS for word in words):
        return Name(text)
    end = len(words) - 1
    while end > 1 and words[end - 1].lower() in _PARTICLES and words[end - 1][0].islower():
        end -= 1
    named = [*words[:end], words[-1]]
    if not all(map(_is_written_as_name, named)):
        return Name(text)
    return Name(" ".join(words[end:]), " ".join(words[:end]))


def _is_written_as_name(word: str) -> bool:
    """Whether a word begins with a capital and goes on small, or is an initial."""
    return len(word.strip(".")) == 1 or (word[0].isupper() and any(map(str.islower, word)))


class Reference(NamedTuple):
    """What a style prints of an article. The parts of `issued` are empty if unknown; texts too."""

    authors: Sequence[Name]
    title: str
    source: str
    issued: tuple[str, str, str]
    url: str
    accessed: date


def write_apa(reference: Reference) -> str:
    """Authors. (Date). Title. Source. Retrieved date, from URL"""
    year, month, day = reference.issued
    when = f"{MONTHS[int(month) - 1]} {int(day)}" if day else MONTHS[int(month) - 1] if month else ""
    issued = f"({', '.join(filter(None, (year, when)))})." if year else "(n.d.)."
    authors = _list_names([name.initials for name in reference.authors], ", & ", ", & ")
    heads = (
        [_close(authors), issued, _close(reference.title)] if authors else [_close(reference.title), issued]
    )
    accessed = f"Retrieved {_american(reference.accessed)}, from {reference.url}" if reference.url else ""
    return _join(*heads, _close(reference.source), accessed)


def write_mla(reference: Reference) -> str:
    """Authors. “Title.” Source, date, URL. Accessed date."""
    year, month, day = reference.issued
    issued = " ".join(
        filter(None, (str(int(day)) if day else "", _SHORT[int(month) - 1] if month else "", year))
    )
    inside = ", ".join(filter(None, (reference.source, issued, reference.url)))
    accessed = (
        f"Accessed {reference.accessed.day} {_SHORT[reference.accessed.month - 1]} {reference.accessed.year}."
        if reference.url
        else ""
    )
    return _join(
        _close(_by_first(reference.authors, ", and ")),
        _quote_title(reference.title),
        _close(inside),
        accessed,
    )


def write_chicago(reference: Reference) -> str:
    """Authors. “Title.” Source, date. Accessed date. URL. Without authors, the source stands for them."""
    year, month, day = reference.issued
    issued = (
        f"{MONTHS[int(month) - 1]} {int(day)}, {year}"
        if day
        else " ".join(filter(None, (MONTHS[int(month) - 1] if month else "", year)))
    )
    head = _by_first(reference.authors, ", and ") or reference.source
    inside = ", ".join(filter(None, (reference.source if reference.authors else "", issued)))
    accessed = f"Accessed {_american(reference.accessed)}. {reference.url}." if reference.url else ""
    return _join(_close(head), _quote_title(reference.title), _close(inside), accessed)


STYLES: Mapping[str, Callable[[Reference], str]] = {
    "APA": write_apa,
    "MLA": write_mla,
    "Chicago": write_chicago,
}
"""The styles by their labels."""


def _american(day: date) -> str:
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def _by_first(names: Sequence[Name], last: str) -> str:
    """The names, of which the first one is inverted; of more than three, only the first in MLA's way."""
    if len(names) > 3:
        return f"{names[0].inverted}, et al."
    return _list_names([name.direct if n else name.inverted for n, name in enumerate(names)], last, last)


def _list_names(names: Sequence[str], of_two: str, last: str) -> str:
    if len(names) < 3:
        return of_two.join(names)
    return ", ".join(names[:-1]) + last + names[-1]


def _close(text: str) -> str:
    """The text with a full stop, unless it ends in a mark, or is empty."""
    return text if not text or text[-1] in ".?!…" else f"{text}."


def _quote_title(title: str) -> str:
    return f"“{_close(quote_inside(title))}”"


def _join(*parts: str) -> str:
    return " ".join(filter(None, parts))


SINGLE_QUOTES = str.maketrans('"“”„‟＂〝〞〟«»', "'‘’‚‛'‘’’‹›")
"""Double quotation marks and the single ones that replace them."""
_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«"}


def quote_inside(text: str) -> str:
    """The text as it stands between double quotation marks: without marks around all of it, others single."""
    text = text.strip()
    inner = text[1:-1]
    if len(text) > 2 and text[-1] in _PAIRS.get(text[0], "") and not set(inner) & {text[0], text[-1]}:
        text = inner.strip()
    return text.translate(SINGLE_QUOTES)
