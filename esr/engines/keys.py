"""The keys by which written names are compared: those with the same key count as the same."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from esr.analysis.tables import CharacterTable
from esr.documents.attributes import value_key

KEY_VERSION = 1
"""Raise it when `name_key` changes: stored keys of another version are computed again by `esr enrich`."""
MAX_KEY_CHARS = 200
"""A key ends here: what is longer is a table that was taken for a name."""

_ASCII = CharacterTable("ascii_folding", None)
# `re` compiles the patterns when the first name needs them, and keeps them: most searches read no name.
_MARKED = (
    "([a-z\u00df-\u02af\u1e00-\u1eff\u0370-\u03ff\u1f00-\u1fff])[\u0300-\u036f]+"  # Latin and Greek letters
)
_OTHER_SCRIPTS = str.maketrans({"ё": "е", "ʼ": "'", "\u00ad": None})
_LETTER = r"[^\W\d_]"
_SPACED_INITIAL = rf"(?<!\w)({_LETTER})\. (?={_LETTER}\.)"
_INITIAL = rf"(?<!\w)({_LETTER})\."
_LAST_PERIOD = r"(?<=\w)\.(?=\s|$)"
_ARTICLES = ("the ", "a ", "an ")
_ARTICLE = r"^(?:the|an?) (?=\w)"
_POSSESSIVE = r"(?<=\w)'s$|(?<=\ws)'$"


@lru_cache(1 << 16)
def name_key(name: str) -> str:
    """The key of a written name: "the U.S.'s" and "US" have the same.

    It has no English article at its beginning and no English possessive at its end, no periods of acronyms,
    initials and abbreviations, and single spaces. Case is folded. Accents are folded on Latin and Greek
    letters, which are often written without them; marks of other scripts make other letters, so they stay,
    except that Russian ё is often written е. The key of a key is the key itself.
    """
    key = name
    while (folded := _fold(key)) != key:
        key = folded
    return key


def fold_accents(text: str) -> str:
    """A text in lower case without the accents of Latin and Greek, and with straight apostrophes."""
    if text.isascii():
        return text
    bare = re.sub(_MARKED, r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).translate(_OTHER_SCRIPTS).translate(_ASCII)


def _fold(name: str) -> str:
    """The name with its case and accents folded, and with less of what is left out of keys."""
    folded = fold_accents(value_key(name))
    if "." not in folded and "'" not in folded and not folded.startswith(_ARTICLES):
        return folded[:MAX_KEY_CHARS].strip()
    key = re.sub(_INITIAL, r"\1", re.sub(_SPACED_INITIAL, r"\1.", folded))
    key = re.sub(_POSSESSIVE, "", re.sub(_LAST_PERIOD, "", key))
    return (re.sub(_ARTICLE, "", key) or folded)[:MAX_KEY_CHARS].strip()
