"""Decides which resolved speakers are certain: those that nobody could read otherwise.

A speaker is certain if a verb of speech is directly beside the quotation, the speaker directly beside the
verb, and the name beyond doubt, or if the quotation directly follows such a one. All others are probable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from esr.enrichment.quotations.document_names import DocumentNames, names_speaker
from esr.enrichment.quotations.marks import JoinedText
from esr.enrichment.quotations.quotation import Quotation, Source
from esr.enrichment.quotations.speech_vocabulary import Vocabulary
from esr.enrichment.quotations.titles import is_title
from esr.enrichment.quotations.word_lists import read_words
from esr.text.attributes import value_key

_MAX_GAP, _MAX_APPOSITION, _MAX_TAIL = 4, 14, 30
"""Maximum words between a verb and its quotation, of an apposition, and after an attribution."""
_MAX_SPEAKER = 9
_ENDS = re.compile(r"[.?!…][\"”’»)]*\s")
_OBJECT = re.compile(r"\s+(?:that|he|she|they|it|there|we|i|this|these|those|his|her|their)\s", re.IGNORECASE)
"""The beginning of what is said, after the verb: the quotation before it is not what is said."""
_APPOSITION = re.compile(r"\s*(?:,[^“\"]*,|\([^“\"]*\),?)(?:\s*[a-z]+){0,2}\s*")
"""What may be between a speaker and the verb: ", a manager, also"."""
_CLAUSE = re.compile(r"\b(?:when|while|if|as|after|before|because|until)\b")
_WHOLE = re.compile(r"[.?!…][\"”’»)]+$")
_LEADS_ON = re.compile(r"[^\"“”«„]*[,:]\s*[\"“«„]")
_PIECES = re.compile(r"\s*[,–—―-]?\s*")


def find_certain(
    text: JoinedText,
    rules: Vocabulary,
    names: DocumentNames,
    quotations: Sequence[Quotation],
    resolved: Sequence[str | None],
) -> list[bool]:
    """Whether the speaker of each quotation is certain. `resolved` are their names."""
    judge = _Judge(text, rules, names)
    certain: list[bool] = []
    for n, (quotation, name) in enumerate(zip(quotations, resolved, strict=True)):
        before = (quotations[n - 1], resolved[n - 1], certain[n - 1]) if n else None
        certain.append(name is not None and judge.is_certain(quotation, name, before))
    return certain


class _Judge:
    def __init__(self, text: JoinedText, rules: Vocabulary, names: DocumentNames) -> None:
        self._text, self._rules, self._names = text, rules, names

    def is_certain(
        self, quotation: Quotation, name: str, before: tuple[Quotation, str | None, bool] | None
    ) -> bool:
        source = quotation.source
        assert source is not None and source.speaker is not None
        start, end = quotation.pieces[0][0], quotation.pieces[-1][1]
        quoted = " ".join(self._text.text[first:last] for first, last in quotation.pieces)
        is_own = before is None or before[0].source is None or before[0].source.at != source.at
        if before is not None and before[0].pieces[-1][1] <= source.at < source.cue_at < start:
            is_own = is_own or self._leads_on(before[0].pieces[-1][1], source.cue_at + len(source.cue))
        is_pronoun = source.speaker.lower() in self._rules.pronouns
        is_after = source.at >= end and not is_pronoun
        if is_title(quoted) or (not (is_own and is_after) and names_speaker(self._rules, quoted, name)):
            return False  # few people name themselves
        if not is_own and before is not None:
            follows = before[0].pieces[-1][1]
            return before[2] and before[1] == name and self._directly_follows(source, follows, start)
        if not self._is_beside(source, start, end):
            return False
        if is_pronoun:
            return self._is_clear_pronoun(start, name, before)
        return self._is_clear_name(source.speaker, name)

    def _directly_follows(self, source: Source, follows: int, start: int) -> bool:
        """Whether nothing but the end of the attribution is between a quotation and the one before."""
        source_end = max(follows, source.cue_at + len(source.cue), source.at + len(source.speaker or ""))
        if source.at >= start or source.cue_at >= start:
            return False
        between = self._text.text[min(source_end, start) : start]
        return len(_ENDS.findall(between + " ")) <= 1 and self._names_nobody(between, _MAX_TAIL)

    def _names_nobody(self, text: str, most: int) -> bool:
        """Whether a text has few words, and no verb of speech or pronoun of a person."""
        words = read_words(text)
        return len(words) <= most and not any(
            word.bare in self._rules.pronouns or self._rules.cue.fullmatch(word.text) for word in words
        )

    def _is_beside(self, source: Source, start: int, end: int) -> bool:
        """Whether a verb is beside the quotation, and the speaker beside the verb."""
        text, speaker = self._text.text, source.speaker or ""
        stop = source.at + len(speaker)
        if source.cue == ":" or (not source.cue and source.at >= end):
            return len(speaker.split()) > 1
        if not source.cue:
            return False
        if source.cue.lower() in self._rules.doubtful:
            return False
        verb = source.cue_at + len(source.cue)
        after = source.cue_at >= end
        gap = text[end : min(source.at, source.cue_at)] if after else text[max(verb, stop) : start]
        is_led_to = text[:start].rstrip().endswith(":")  # by words that may be somebody else's
        if after and (is_led_to or not _PIECES.fullmatch(gap)):
            return False
        if not after and not self._is_short_gap(gap, source):
            return False
        if after and _OBJECT.match(text, max(verb, stop)):
            return False
        if after and source.at < source.cue_at and self._leads_on(end, verb):
            return False
        if source.at > source.cue_at:
            return self._are_fillers(text[verb : source.at])
        return self._joins(text[stop : source.cue_at], source.cue)

    def _leads_on(self, end: int, verb: int) -> bool:
        """Whether the verb after a whole sentence leads to another quotation: "“Go!” Lee said: “No.”"."""
        text = self._text
        rest = text.text[verb : text.sentence_end(verb)]
        return bool(_WHOLE.search(text.text[:end][-3:])) and bool(_LEADS_ON.match(rest))

    def _is_short_gap(self, gap: str, source: Source) -> bool:
        words = read_words(re.sub(r"[,:;]", " ", gap))
        return len(words) <= _MAX_GAP and not _ENDS.search(gap) and not _CLAUSE.search(gap)

    def _are_fillers(self, between: str) -> bool:
        return all(word.bare in self._rules.fillers for word in read_words(between))

    def _joins(self, between: str, cue: str) -> bool:
        """Whether a text leads from a speaker to the verb: adverbs, or an apposition within commas."""
        rules = self._rules
        words = [word.bare for word in read_words(between)]
        if any(word in rules.passives for word in words) and not cue.lower().endswith("ing"):
            return False
        if all(word in rules.fillers or word.endswith("ly") for word in words):
            return True
        return len(words) <= _MAX_APPOSITION and bool(_APPOSITION.fullmatch(between))

    def _is_clear_name(self, speaker: str, name: str) -> bool:
        """Whether a speaker as written is a name with titles, and no part of a clause."""
        rules, words = self._rules, read_words(speaker)
        if " " not in name:
            is_whole = words[0].is_capital and len(words) <= 2 and "-" not in name
            return is_whole and words[0].bare not in rules.articles and self._is_frequent(words[-1].text)
        is_article = words[0].bare in rules.articles
        if not rules.has_name(words[:1]) and words[0].is_capital and not is_article:
            return False  # "That's the legacy Harry Truman"
        if words[-1].bare in rules.titles:
            return False  # "the Utah Republican", "Green Party MP"
        if self._begins_apart(name):
            return False  # "Rostec Ann Lee", where Rostec is a firm of the document
        if self._names.is_doubtful(name) and name not in value_key(speaker):
            return False
        first = next((n for n, word in enumerate(words) if word.is_capital), 0)
        lower = [word for word in words if word.text[0].islower()]
        return (
            len(words) <= _MAX_SPEAKER
            and first <= 3
            and not any(
                word.bare in rules.prepositions - rules.articles - {"of"}
                or word.bare in rules.auxiliaries
                or rules.cue.fullmatch(word.text)
                for word in lower
            )
        )

    def _begins_apart(self, name: str) -> bool:
        """Whether the first word of a name of three or more also stands without the second."""
        first, second, *others = map(re.escape, name.split())
        apart = rf"(?<!\w){first}(?!\w)(?!\s+{second})"
        return bool(others) and re.search(apart, self._text.text, re.IGNORECASE) is not None

    def _is_frequent(self, word: str) -> bool:
        """Whether a word is more than once in the document, as somebody who speaks is."""
        return len(re.findall(rf"\b{re.escape(word)}\b", self._text.text)) > 1

    def _is_clear_pronoun(
        self, start: int, name: str, before: tuple[Quotation, str | None, bool] | None
    ) -> bool:
        """Whether a pronoun is that of the certain speaker of a quotation that this one directly follows."""
        if before is None or not before[2] or before[1] != name:
            return False
        return self._text.sentence_at(start) - self._text.sentence_at(before[0].pieces[-1][1] - 1) <= 1
