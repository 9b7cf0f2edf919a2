"""The dependency tree of a sentence, with the words of a query marked in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from esr.dependency.clique_search import ParsedSentences
from esr.dependency.cliques import CliqueEvidence
from esr.index.contract import Index, read_document
from esr.index.questions import Records
from esr.ranking.second_stage.rerank_context import load_parses
from esr.stdlib import import_lazily
from esr.text.document import ParseWord

if TYPE_CHECKING:
    import spacy
else:
    spacy = import_lazily("spacy")


@dataclass(frozen=True, slots=True)
class TermDistance:
    """Two query terms, the positions of their nearest words in the tree, and the links between the words."""

    terms: tuple[str, str]
    words: tuple[int, int]
    distance: int


@dataclass(frozen=True, slots=True)
class SentenceTree:
    """The tree of a sentence, with the query's words marked in it.

    `words` is None if the words cannot be recovered; `marked` has the positions of query words. `apart` has
    all pairs of query terms in the same tree, nearest first.
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
    """Return the tree of a sentence for a query's terms, or None if the sentence has no parse.

    `sentence` is the sentence's parse, if already loaded. Raises UsageError for an unknown id.
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
    """Recover the words of the stored tree, from a parse in the document or with spaCy's tokenizer.

    Returns None if their number differs from that of the heads.
    """
    (record,) = index.read([sentence_id], Records())
    own_parse = read_document(index, record.document_id).sentences[record.position].parse
    words = [word.word for word in own_parse] if own_parse is not None else _tokenizer()(record.text)
    if len(words) != len(heads):
        return None
    return tuple(ParseWord(word, head) for word, head in zip(words, heads, strict=True))


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """A function that splits a text like spaCy's English models, or returns no words without spaCy."""
    try:
        tokenizer = spacy.blank("en").make_doc
    except ImportError:
        return lambda text: []
    return lambda text: [token.text for token in tokenizer(text)]
