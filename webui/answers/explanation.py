"""Why a sentence has its score for a search, with the sentence and its tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esr.analysis.spans import words_by_term
from esr.documents.direction import text_direction
from esr.engines.index import SentenceRecord
from esr.errors import UsageError
from esr.ranking.explain import Explanation, explain
from esr.ranking.searcher import Searcher
from esr.ranking.sentence_tree import SentenceTree, sentence_tree
from webui.arguments.query_check import check_query
from webui.arguments.search_request import SearchRequest
from webui.running.request_errors import UnknownId, blame_argument
from webui.running.settings import Settings


@dataclass(frozen=True)
class ExplainedSentence:
    """A sentence and its explanation. `tree` is None where no parse is stored.

    `words`: the first word of the query for each of its terms, as it was typed.
    """

    record: SentenceRecord
    explanation: Explanation
    tree: SentenceTree | None
    words: Mapping[str, str]

    def as_dict(self) -> dict[str, Any]:
        tree = None if self.tree is None else self.tree.as_dict()
        language = self.record.language
        about_text = {"text": self.record.text, "language": language, "direction": text_direction(language)}
        return self.explanation.as_dict() | about_text | {"tree": tree}


def explain_sentence(
    searcher: Searcher, search: SearchRequest, sentence_id: str, settings: Settings
) -> ExplainedSentence:
    """Raises UnknownId for an unknown sentence, RequestError for a bad query."""
    snapshot = searcher.snapshot()
    check_query(snapshot, search.parsed, settings)
    try:
        (record,) = snapshot.index.sentences([sentence_id])
    except UsageError as error:
        raise UnknownId(f"there is no sentence {sentence_id!r}", "id") from error
    with blame_argument(None):
        prepared = search.prepare(snapshot)
        explanation = explain(prepared, sentence_id, search.filters)
    words = words_by_term(snapshot.index.analyzer, search.query)
    tree = sentence_tree(snapshot.index, list(prepared.counts), sentence_id)
    return ExplainedSentence(record, explanation, tree, words)
