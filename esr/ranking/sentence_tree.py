"""The stored tree of a sentence with the query's words in it, and the distances between these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from esr.dependency.cliques import CliqueEvidence
from esr.dependency.parsed_sentences import ParsedSentences
from esr.documents import ParseWord
from esr.engines.index import Index
from esr.ranking.rerank_context import load_parses


@dataclass(frozen=True, slots=True)
class TermDistance:
    """Two query terms, the positions of their nearest words in the tree, and the links between these."""

    terms: tuple[str, str]
    words: tuple[int, int]
    distance: int


@dataclass(frozen=True, slots=True)
class SentenceTree:
    """`words` are None if they cannot be recovered; `marked` are the positions of query words.

    `apart` has all pairs of query terms that are in one tree, the nearest first.
    """

    words: tuple[ParseWord, ...] | None
    marked: tuple[int, ...]
    apart: tuple[TermDistance, ...]

    def as_dict(self) -> dict[str, Any]:
        words = None if self.words is None else [word._asdict() for word in self.words]
        apart = [asdict(pair) for pair in self.apart]
        return {"words": words, "marked": list(self.marked), "apart": apart}


def sentence_tree(
    index: Index, terms: Sequence[str], sentence_id: str, sentence: ParsedSentences | None = None
) -> SentenceTree | None:
    """The tree of a sentence for a query's terms; None if it was not parsed.

    `sentence` is its parse, if the caller has loaded it. Raises UsageError for an unknown id.
    """
    sentence = sentence or load_parses(index, terms, [sentence_id])
    if not len(sentence.forest.heads):
        return None
    heads = [max(head, -1) for head in (sentence.forest.heads - sentence.forest.starts[0]).tolist()]
    marked = sorted(set(sentence.evidence("adjacent").occurrences.nodes.tolist()))
    return SentenceTree(
        _words(index, sentence_id, heads), tuple(marked), tuple(_term_distances(sentence.evidence("subsets")))
    )


def _term_distances(evidence: CliqueEvidence) -> list[TermDistance]:
    distances = []
    for pairs in evidence.cliques:
        if pairs.size == 2:
            choices_of_sets = np.split(np.arange(len(pairs.sets)), pairs.first_choices[1:])
            for number, choices in enumerate(choices_of_sets):
                nearest = choices[pairs.distances[choices].argmin()]
                term_a, term_b = (evidence.terms[term] for term in pairs.terms[:, number])
                word_a, word_b = evidence.occurrences.nodes[pairs.members[:, nearest]].tolist()
                links = round(float(pairs.distances[nearest]))
                distances.append(TermDistance((term_a, term_b), (word_a, word_b), links))
    return sorted(distances, key=lambda pair: pair.distance)


def _words(index: Index, sentence_id: str, heads: Sequence[int]) -> tuple[ParseWord, ...] | None:
    """The words of the stored tree, from the document's own parse or from the text by spaCy's tokenizer."""
    (record,) = index.sentences([sentence_id])
    own_parse = index.document(record.document_id).sentences[record.position].parse
    words = [word.word for word in own_parse] if own_parse is not None else _tokenizer()(record.text)
    if len(words) != len(heads):
        return None
    return tuple(ParseWord(word, head) for word, head in zip(words, heads, strict=True))


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """Splits a text into the words of spaCy's English models; gives none if spaCy is not installed."""
    try:
        import spacy
    except ImportError:
        return lambda text: []
    tokenizer = spacy.blank("en").make_doc
    return lambda text: [token.text for token in tokenizer(text)]
