"""Snowball's stemmers of version 2.2, whose stems are those of Lucene.

PyStemmer runs them compiled, in about 1 µs a word. It is installed where this version has wheels. Elsewhere
`snowballstemmer` runs the same algorithms in Python, in 10 to 190 µs a word. Analyzers remember the stems.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from threading import Lock


@cache
def get_stemmer(language: str) -> Callable[[str], str]:
    """The function that stems a word of a language of Snowball, such as "english". Threads may share it."""
    if is_compiled():
        stem: Callable[[str], str] = import_module("Stemmer").Stemmer(language, 0).stemWord
        return stem
    return interpreted_stemmer(language)


def is_compiled() -> bool:
    """Whether PyStemmer is installed. Its version 3 does not count: it stems some words otherwise."""
    try:
        version: str = import_module("Stemmer").version()
    except ImportError:
        return False
    return version.startswith("2.")


def interpreted_stemmer(language: str) -> Callable[[str], str]:
    """The same as `get_stemmer`, in Python."""
    module = import_module(f"snowballstemmer.{language}_stemmer")
    stemmer = getattr(module, f"{language.title()}Stemmer")()
    lock = Lock()  # a stemmer keeps the word that it works on

    def stem(word: str) -> str:
        with lock:
            result: str = stemmer.stemWord(word)
            return result

    return stem
