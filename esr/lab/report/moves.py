"""The topics with the largest gains and losses, each with the sentences that moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from esr.lab.judgements import Qrels
from esr.lab.report.gains import Gains
from esr.lab.report.result_tables import format_figure, format_signed
from esr.lab.results import RunEvaluation
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import Records, Scores, sort_sentences

MOVED_TOPICS, MOVES_DEPTH, MOVES = 10, 10, 12
"""Topics listed at each end of a run, ranks considered, and maximum sentences shown for a topic."""


class Move(NamedTuple):
    """A sentence with its ranks, from 1, by the baseline and by the run; None if it is not ranked.

    `grade` is None for a sentence that was not judged.
    """

    sentence: str
    before: int | None
    after: int | None
    grade: int | None


class TopicMoves(NamedTuple):
    """A topic's values by the baseline and by a run, and the sentences that moved, the relevant first."""

    run: str
    topic: str
    before: float
    after: float
    moves: Sequence[Move]


def find_moves(
    gains: Sequence[Gains],
    results: Sequence[RunEvaluation],
    measure: str,
    qrels: Qrels,
    runs: Mapping[str, Scores],
) -> list[TopicMoves]:
    """The MOVED_TOPICS largest gains of each run, then as many losses.

    For each topic they have at most MOVES sentences: relevant ones whose rank differs, and others that enter
    or leave the first MOVES_DEPTH ranks.
    """
    values = {result.name: result.values[measure] for result in results}
    baseline = next(result.name for result in results if result.is_baseline)
    moves_of_topics = []
    for of_run in gains:
        pairs = list(zip(of_run.topics, of_run.values, strict=True))
        best = [topic for topic, value in pairs[:MOVED_TOPICS] if value > 0]
        worst = [topic for topic, value in pairs[: -MOVED_TOPICS - 1 : -1] if value < 0]
        for topic in [*best, *worst]:
            before, after = (
                {sentence: rank for rank, sentence in enumerate(sort_sentences(scores.get(topic, {})), 1)}
                for scores in (runs[baseline], runs[of_run.run])
            )
            moves = choose_moves(before, after, qrels[topic])
            of_topic = values[baseline][topic], values[of_run.run][topic]
            moves_of_topics.append(TopicMoves(of_run.run, topic, *of_topic, moves))
    return moves_of_topics


def choose_moves(
    before: Mapping[str, int], after: Mapping[str, int], grades: Mapping[str, int]
) -> list[Move]:
    moves = [Move(s, before.get(s), after.get(s), grades.get(s)) for s in {**before, **after}]
    relevant = [move for move in moves if (move.grade or 0) > 0 and move.before != move.after]
    others = [
        move for move in moves if (move.grade or 0) <= 0 and _is_seen(move.before) != _is_seen(move.after)
    ]
    return [*sorted(relevant, key=_find_best_rank), *sorted(others, key=_find_best_rank)][:MOVES]


def _is_seen(rank: int | None) -> bool:
    return rank is not None and rank <= MOVES_DEPTH


def _find_best_rank(move: Move) -> tuple[int, str]:
    return min(rank for rank in (move.before, move.after) if rank is not None), move.sentence


def read_texts(index: Index, topics: Sequence[TopicMoves]) -> dict[str, str]:
    """The text of every sentence that moved. Raises UsageError if the index lacks one."""
    ids = list(dict.fromkeys(move.sentence for topic in topics for move in topic.moves))
    return {record.sentence_id: record.text for record in index.read(ids, Records())}


def render_moves(
    topics: Sequence[TopicMoves],
    measure: str,
    baseline: str,
    queries: Mapping[str, str],
    texts: Mapping[str, str],
) -> str:
    """A section of HTML with a collapsible line for each topic. Queries and texts may be missing."""
    if not topics:
        return ""
    return (
        '<section class="moves">\n<h2>Topics that gain or lose most, and the sentences that moved</h2>\n'
        f"<p>At most {MOVED_TOPICS} topics of each run that gain, and {MOVED_TOPICS} that lose, "
        f"by {escape(measure)}. "
        f"Shown are relevant sentences with another rank than by {escape(baseline)}, then others that enter "
        f"or leave the first {MOVES_DEPTH}.</p>\n"
        f"{''.join(_render_runs(topics, measure, queries, texts))}</section>"
    )


def _render_runs(
    topics: Sequence[TopicMoves], measure: str, queries: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[str]:
    run = None
    for changed in topics:
        if changed.run != run:
            run = changed.run
            yield f"<h3>{escape(run)}</h3>\n"
        query = f" {escape(queries[changed.topic])}" if changed.topic in queries else ""
        change = f"{measure} {format_figure(changed.before)} → {format_figure(changed.after)}"
        yield (
            f"<details><summary><b>{escape(changed.topic)}</b>{query} "
            f"<span>{escape(change)} ({format_signed(changed.after - changed.before)})</span></summary>\n"
            '<div class="wide"><table><thead><tr><th scope="col">sentence</th><th scope="col">before</th>'
            '<th scope="col">after</th><th scope="col">judged</th></tr></thead><tbody>'
        )
        for move in changed.moves:
            text = f" {escape(texts[move.sentence])}" if move.sentence in texts else ""
            ranks = "".join(f"<td>{'–' if rank is None else rank}</td>" for rank in move[1:3])
            grade = "not judged" if move.grade is None else str(move.grade)
            yield f'<tr><th scope="row"><i>{escape(move.sentence)}</i>{text}</th>{ranks}<td>{grade}</td></tr>'
        yield "</tbody></table></div></details>\n"
