"""The names in a document that the speakers of its quotations refer to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from esr.enrichment.quotations.speech_vocabulary import Vocabulary
from esr.enrichment.quotations.word_lists import POSSESSIVE, Word, read_words, word_set
from esr.text.attributes import value_key

_JOINS = word_set("the of for to in der des für von")
"""Words after which a run of capitals may be an office or a body before a name, or the end of a heading."""
_ARTICLES = word_set("the der des")
_PARTICLES = word_set("von van der den de da di del la le al bin ibn zu zur")


class DocumentNames:
    """The full names of a document, to which a speaker's last name may refer."""

    def __init__(self, rules: Vocabulary, texts: Iterable[str]) -> None:
        self._rules = rules
        self._by_last: dict[str, dict[str, None]] = {}
        self._titled: set[str] = set()
        parts: dict[str, dict[str, None]] = {}
        for text in texts:
            words = read_words(text)
            places = {word.start: n for n, word in enumerate(words)}
            for run in self._runs(words):
                name = self._without_titles(self._without_acronyms(run))
                before = places[run[0].start] - 1
                joined = words[before].text if before >= 0 else ""
                is_part = name == run and joined in (_JOINS if len(name) > 2 else _ARTICLES)
                if len(name) > 1 and not self._has_body(name[:-1]):
                    keys = parts if is_part else self._by_last
                    keys.setdefault(_last_name(name), {})[_key(_end_of(name) if is_part else name)] = None
                if 0 < len(name) < len(run):
                    self._titled.add(_last_name(name))
        self._doubtful = {
            last
            for last, keys in parts.items()
            if not any(known.endswith(key) for key in keys for known in self._by_last.get(last, ()))
        }
        self._by_last = parts | self._by_last

    def is_doubtful(self, key: str) -> bool:
        """Whether a full name was only found after words that it may go on: "the United Nations Ann Lee"."""
        return key.rpartition(" ")[2] in self._doubtful

    def is_titled(self, key: str) -> bool:
        """Whether a name has a title in this document, as persons have."""
        return key.rpartition(" ")[2] in self._titled

    def resolve(self, speaker: str) -> str | None:
        """The key of the name of a speaker, not a pronoun, in this document; None if uncertain."""
        core = words = self._after_office(read_words(speaker))
        for n, word in enumerate(words):
            if self._rules.is_particle(words[max(n - 1, 0) : n + 2]):
                continue
            if word.text[0].islower() and word.bare in self._rules.prepositions - self._rules.articles | {
                "of",
                "von",
            }:
                core = words[:n]
                break
        runs = list(self._runs(core))
        if not core or not runs or runs[-1][-1].end != core[-1].end:
            return None
        agents = [n for n, word in enumerate(core) if word.text in self._rules.agents]
        if agents and runs[-1][0] != core[agents[-1] + 1]:
            return None  # "a lawyer representing Ann Lee"
        name = self._without_titles(self._without_acronyms(runs[-1]))
        if not name or POSSESSIVE.search(name[-1].text):
            return None
        if len(name) > 1:
            return _key(name)
        full = self._by_last.get(_last_name(name), {})
        keys = [key for key in full if not any(_is_same(key, other) for other in full)]
        return keys[0] if len(keys) == 1 else _key(name) if not keys else None

    def _after_office(self, words: Sequence[Word]) -> Sequence[Word]:
        """The words after an office within a phrase: "Bank of Ohio Governor Ann Lee" is Ann Lee."""
        joined = next((n for n, word in enumerate(words) if word.bare in {"of", "for", "and"}), len(words))
        for n in range(len(words) - 2, joined, -1):
            if self._is_title(words[n].bare) and all(word.is_capital for word in words[n:]):
                return words[n:]
        return words

    def _runs(self, words: Sequence[Word]) -> Iterable[Sequence[Word]]:
        """The runs of words with capitals, without common words at their beginning."""
        run: list[Word] = []
        for n, word in enumerate(words):
            particle = run and word.bare in _PARTICLES and n + 1 < len(words) and words[n + 1].is_capital
            particle = particle or (run and self._rules.is_particle(words[n - 1 : n + 2]))
            if (word.is_capital and not (not run and word.bare in self._rules.common)) or particle:
                run.append(word)
                if not POSSESSIVE.search(word.text) and not (word.text.endswith(".") and len(word.text) > 5):
                    continue
            if run:
                yield run
                run = []
        if run:
            yield run

    def _without_titles(self, run: Sequence[Word]) -> Sequence[Word]:
        """The name in a run, without all words up to a title or a body: "Texas Sen. Ted Cruz" is Ted Cruz."""
        n = 0
        while n < len(run) and self._is_title(run[n].bare):
            n += 1
        for place in range(n, len(run) - 1):
            is_before_name = run[place].text.endswith(".") or len(run) - place > 2
            if is_before_name and self._is_title(run[place].bare):
                n = place + 1
        for place in range(n, len(run) - 2):
            if self._has_body(run[place : place + 1]) and not self._has_body(run[place + 1 :]):
                n = place + 1
        return run[n:]

    def _has_body(self, words: Sequence[Word]) -> bool:
        return any(word.bare in self._rules.bodies for word in words)

    def _without_acronyms(self, run: Sequence[Word]) -> Sequence[Word]:
        """A run without acronyms at its beginning, if a full name is left: "NATO Ann Lee"."""
        n = 0
        while n < len(run) - 2 and len(run[n].text) > 2 and run[n].text.isalpha() and run[n].text.isupper():
            n += 1
        return run[n:]

    def _is_title(self, word: str) -> bool:
        return word in self._rules.titles or word.rpartition("-")[2] in self._rules.titles


def names_speaker(rules: Vocabulary, text: str, speaker: str) -> bool:
    """Whether a text has the last name of a speaker, as written or as a key: "I told Chancellor Merkel".

    Those who belong to somebody, as in "Merkel's niece", and bodies, as in "the FBI", may be named.
    """
    words = read_words(speaker)
    is_body = (
        bool(words) and words[0].bare in rules.articles and not any(w.bare in rules.titles for w in words)
    )
    names = [word for word in words if rules.has_name([word]) and word.bare not in rules.titles]
    names = names or (words if speaker == value_key(speaker) else [])
    if not names or is_body or any(POSSESSIVE.search(word.text) for word in names):
        return False
    last = _last_name(names)
    return any(word.is_capital and _last_name([word]) == last for word in read_words(text))


def _end_of(name: Sequence[Word]) -> Sequence[Word]:
    """The last two words of a name of at least three, and the particles before the last one."""
    first = len(name) - 1
    while first > 1 and name[first - 1].bare in _PARTICLES:
        first -= 1
    return name[max(first - 1, 0) :]


def _last_name(name: Sequence[Word]) -> str:
    return value_key(POSSESSIVE.sub("", name[-1].text))


def _key(name: Sequence[Word]) -> str:
    return value_key(" ".join(POSSESSIVE.sub("", word.text) for word in name))


def _is_same(key: str, other: str) -> bool:
    """Whether `key` is a longer form of another key: "donald j trump" of "donald trump"."""
    words, others = key.split(), other.split()
    return len(words) > len(others) and words[0] == others[0] and words[-1] == others[-1]
