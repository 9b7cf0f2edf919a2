"""Which text between marks is no quotation, but a title or a name."""

from __future__ import annotations

import re

from esr.enrichment.quotations.marked_document import CLAUSE_END, MARKS, OPENING, SENTENCE_END, MarkedDocument
from esr.enrichment.quotations.speakers import Grammar
from esr.enrichment.quotations.word_lists import read_words


def is_title(quoted: str) -> bool:
    """Whether this looks like the title of a work: few words, with capitals."""
    words = re.findall(r"\w+", quoted)
    return len(words) <= 5 and all(word[0].isupper() or len(word) <= 3 for word in words)


def is_name_in_marks(document: MarkedDocument, between: str, end: int, quoted: str, is_part: bool) -> bool:
    """Whether the words beside text between marks, or its own last ones, say that it is a name or a title.

    `between` is what is before it, behind the previous marks. `is_part`: whether it continues a clause.
    """
    is_name = _is_announced(document.grammar, between, is_part) or _is_credited(document, between, end)
    is_name = is_name or document.grammar.is_body(quoted.strip(OPENING + MARKS))
    return is_name and not CLAUSE_END.search(quoted)


def _is_announced(rules: Grammar, between: str, is_part: bool) -> bool:
    """Whether a word before the mark says that a name or a title follows: "el libro de Ann Lee «…»"."""
    words = read_words(between)
    sign = words.pop().text if words and words[-1].text in ",:" else ""
    while words and not is_part and (words[-1].is_capital or words[-1].bare in rules.prepositions):
        del words[-1]
    return bool(words) and rules.leads_to_name(words[-1].bare + sign.strip(","))


def _is_credited(document: MarkedDocument, between: str, end: int) -> bool:
    """Whether the author of a work follows its title: "«…», di Ann Lee"."""
    return not re.search(r"\w", between) and document.grammar.credits.match(document.text, end) is not None


def may_be_listed(rules: Grammar, quoted: str) -> bool:
    """Whether text between marks, after a comma, may be one of some titles."""
    is_part = quoted.lstrip(OPENING)[:1].islower()
    return rules.has_works_in_marks and not is_part and not SENTENCE_END.search(quoted)
