"""The stored tree of a sentence with a query's words in it, and how far these stand from each other."""

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
from esr.ranking.view import parsed


@dataclass(frozen=True, slots=True)
class Apart:
    """Two query terms, the nearest of their words in the tree by position, and the links between these."""

    terms: tuple[str, str]
    words: tuple[int, int]
    distance: int


@dataclass(frozen=True, slots=True)
class SentenceTree:
    """`words` are None if they cannot be told; `marked` are the positions of query words.

    `apart` has each two query terms that stand in one tree, the nearest first.
    """

    words: tuple[ParseWord, ...] | None
    marked: tuple[int, ...]
    apart: tuple[Apart, ...]

    def as_dict(self) -> dict[str, Any]:
        words = None if self.words is None else [word._asdict() for word in self.words]
        apart = [asdict(each) for each in self.apart]
        return {"words": words, "marked": list(self.marked), "apart": apart}


def sentence_tree(
    index: Index, terms: Sequence[str], sentence_id: str, trees: ParsedSentences | None = None
) -> SentenceTree | None:
    """The tree of a sentence for a query's terms; None if it was not parsed.

    `trees`: its parse, where that is at hand. Raises UsageError for an unknown id.
    """
    trees = trees or parsed(index, terms, [sentence_id])
    if not len(trees.forest.heads):
        return None
    heads = [max(head, -1) for head in (trees.forest.heads - trees.forest.starts[0]).tolist()]
    marked = sorted(set(trees.evidence("adjacent").occurrences.nodes.tolist()))
    return SentenceTree(
        _words(index, sentence_id, heads), tuple(marked), tuple(_apart(trees.evidence("subsets")))
    )


def _apart(evidence: CliqueEvidence) -> list[Apart]:
    found = []
    for pairs in evidence.cliques:
        if pairs.size == 2:
            for number, rows in enumerate(np.split(np.arange(len(pairs.sets)), pairs.first_choices[1:])):
                best = rows[pairs.distances[rows].argmin()]
                one, other = (evidence.terms[term] for term in pairs.terms[:, number])
                here, there = evidence.occurrences.nodes[pairs.members[:, best]].tolist()
                found.append(Apart((one, other), (here, there), round(float(pairs.distances[best]))))
    return sorted(found, key=lambda each: each.distance)


def _words(index: Index, sentence_id: str, heads: Sequence[int]) -> tuple[ParseWord, ...] | None:
    """The words of the stored tree: as the document gave them, or as the parser's tokenizer cuts the text."""
    (record,) = index.sentences([sentence_id])
    given = index.document(record.document_id).sentences[record.position].parse
    words = [word.word for word in given] if given is not None else _tokenizer()(record.text)
    if len(words) != len(heads):
        return None
    return tuple(ParseWord(word, head) for word, head in zip(words, heads, strict=True))


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """What gives the words of a text as spaCy's English models see them; none if spaCy is not installed."""
    try:
        import spacy
    except ImportError:
        return lambda text: []
    tokenizer = spacy.blank("en").make_doc
    return lambda text: [token.text for token in tokenizer(text)]
