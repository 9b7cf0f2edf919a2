"""Commands for runs and judgements: `esr run` writes a run, `esr evaluate` measures runs, and `esr compare`
evaluates rankings on collections. `esr pool` writes the sentences to judge, and `esr agreement` measures the
agreement of two judges.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import click
from msgspec import Struct
from msgspec.structs import replace
from tqdm import tqdm

from esr.lab import measures
from esr.lab.commands.arguments import LAB
from esr.lab.comparison import (
    ComparisonPlan,
    build_cells,
    build_default_rankings,
    compute_cells,
    find_unanswerable,
    read_results,
)
from esr.lab.judgements import (
    Agreement,
    Pool,
    Qrels,
    find_topics_without_relevant,
    find_unknown_sentences,
    keep_judged,
    make_pool,
    measure_agreement,
    read_qrels,
)
from esr.lab.results import evaluate_runs, to_csv, to_json, to_table
from esr.lab.significance import compare_common, correct_p_values
from esr.plugin import EsrError, UsageError, index_option
from esr.plugin.provisional import (
    Answer,
    Filters,
    Hit,
    PreparedQuery,
    Ranking,
    Records,
    Scores,
    Topic,
    UnsearchableQuery,
    add_arguments,
    align_columns,
    as_json_option,
    best_of_documents,
    check_output,
    check_tag,
    choose_restrictions,
    collect_options,
    count,
    display_names,
    filter_options,
    format_lines,
    list_examples,
    open_output,
    open_searcher,
    ranking_options,
    read_run,
    read_topic_kinds,
    read_topics,
    redact,
    remove_duplicates,
    require,
    require_record,
    split_fields,
)
from esr.plugin.provisional import EngineIndex as Index

# esr run


class RunOptions(Struct, frozen=True):
    """How `esr run` searches for each topic."""

    k: int
    unit: str
    restrict: str | None
    field: str
    syntax: bool
    tag: str


@click.command()
@add_arguments(LAB, "run")
@index_option
@ranking_options
@filter_options
@collect_options(RunOptions)
def run(
    topics: str,
    where: str,
    ranking: Ranking,
    filters: Filters,
    options: RunOptions,
    output: str,
) -> None:
    """Search for every topic and write a TREC run. TOPICS has lines of "qid<TAB>query",
    or is JSON Lines, or TREC topics (<top>). It may be compressed with gzip. ir_datasets:NAME takes the
    queries of a data set.

    Scores decrease strictly; ties are in the collection's order. The file appears when it is complete.

    \b
    Example:
      esr run topics.tsv --index my-index --model 2si --set mu=50 -o 2si.run
    """
    check_tag(options.tag)
    split_fields(options.field)
    all_topics = read_topics(topics)
    allowed = choose_restrictions(options.restrict, all_topics)
    queries, skipped = _build_queries(all_topics, options.field)
    total = 0
    with open_searcher(where) as searcher, open_output(output, topics, options.restrict) as file:
        for topic, query in tqdm(queries.items(), unit=" topics", disable=None, leave=False):
            topic_filters = filters
            if allowed is not None:
                topic_filters = replace(filters, documents=allowed.get(topic, ()))
                if not topic_filters.documents:
                    skipped.append(f"topic {topic}: --restrict names no document for it")
                    continue
            try:
                if options.unit == "document":
                    prepared = searcher.prepare(query, ranking, literal=not options.syntax)
                    answer = find_documents(prepared, options.k, topic_filters)
                else:
                    answer = searcher.search(
                        query,
                        options.k,
                        ranking=ranking,
                        filters=topic_filters,
                        records=False,
                        literal=not options.syntax,
                    )
            except UnsearchableQuery as error:
                skipped.append(f"topic {topic}: {error}")
                continue
            if answer.incomplete:
                raise EsrError(f"topic {topic}: the answer is incomplete: {answer.incomplete}; run again")
            if answer.unread:
                raise EsrError(
                    f"topic {topic}: the cross-encoder had no time for {answer.unread} of the sentences: "
                    "give it more, as in --rerank cross:MODEL:seconds=60, or a smaller depth"
                )
            file.writelines(format_lines(topic, answer.hits, options.tag))
            total += len(answer.hits)
    for reason in skipped:
        click.echo(f"skipped: {reason}", err=True)
    if output != "-":
        answered = count(len(all_topics) - len(skipped), "topic")
        click.echo(f"wrote {count(total, 'line')} for {answered} to {output}")


def find_documents(prepared: PreparedQuery, k: int, filters: Filters) -> Answer:
    """The best k documents, each with the score of its best sentence. The hits have ids of documents."""
    answer = Answer([], 0, 0.0)

    def find(n: int) -> Sequence[Hit]:
        nonlocal answer
        answer = prepared.search(n, filters)
        return answer.hits

    hits = best_of_documents(find, k, _find_document)
    return replace(answer, hits=[hit._replace(sentence_id=_find_document(hit)) for hit in hits])


def _find_document(hit: Hit) -> str:
    return require_record(hit).document_id


def _build_queries(topics: Sequence[Topic], field: str) -> tuple[dict[str, str], list[str]]:
    """The queries by topic id, and a message for each topic without the field.

    Raises UsageError if no topic has it.
    """
    queries: dict[str, str] = {}
    skipped: list[str] = []
    for topic in topics:
        try:
            queries[topic.id] = topic.query(field)
        except UsageError as error:
            skipped.append(str(error))
    if not queries:
        raise UsageError(f"no topic can be searched for: {skipped[0]}")
    return queries, skipped


# esr evaluate


def parse_measures(texts: Iterable[str]) -> list[str]:
    """The names of the measures. Raises UsageError if one does not exist, before any long file is read."""
    names = measures.split_names(" ".join(texts))
    if not names:
        raise UsageError("no measure given: name one with -m, like -m AP")
    for name in names:
        measures.parse(name)
    return names


_MAX_EXAMPLES = 5


class Inputs(NamedTuple):
    """Judgements and runs by name.

    `baseline` names one of the runs; `notes` are for readers of the report.
    """

    qrels: Qrels
    runs: dict[str, Scores]
    baseline: str | None
    notes: list[str]


def read_inputs(
    qrels: str, runs: Sequence[str], baseline: str | None, kinds: Mapping[str, str] | None
) -> Inputs:
    """Read judgements and runs. The baseline becomes the first run, whether it is among `runs` or not.

    Runs are named by their tags, or all by their paths if two have the same tag. Raises InputError.
    """
    judged = read_qrels(qrels)
    paths = remove_duplicates([*([baseline] if baseline else []), *runs])
    by_path = {path: read_run(path) for path in paths}
    names = display_names(by_path)
    notes = [*_check_judgements(judged, kinds)]
    scores = {names[path]: run.scores for path, run in by_path.items()}
    notes += _check_runs(scores, judged)
    return Inputs(judged, scores, names[baseline] if baseline else None, notes)


def _check_judgements(judged: Qrels, kinds: Mapping[str, str] | None) -> Iterator[str]:
    of = f"of {count(len(judged), 'judged topic')} without a"
    irrelevant = find_topics_without_relevant(judged)
    yield from _format_note(f"{len(irrelevant):,} {of} relevant sentence (score 0)", irrelevant)
    if kinds is not None:
        others = [topic for topic in judged if topic not in kinds]
        yield from _format_note(f"{len(others):,} {of} type", others)


def _check_runs(runs: Mapping[str, Scores], judged: Qrels) -> Iterator[str]:
    """Notes on missing and unjudged topics. Runs with the same topics share a note."""
    lacks = _group_runs({run: [t for t in judged if t not in scores] for run, scores in runs.items()})
    for missing, names in lacks.items():
        verb = "lack" if len(names) > 1 else "lacks"
        of = f"{len(missing):,} of {count(len(judged), 'judged topic')}"
        yield from _format_note(f"{_join_names(names)} {verb} {of} (score 0)", missing)
    extras = _group_runs({run: [t for t in scores if t not in judged] for run, scores in runs.items()})
    for extra, names in extras.items():
        verb = "answer" if len(names) > 1 else "answers"
        topics = count(len(extra), "topic")
        yield from _format_note(f"{_join_names(names)} {verb} {topics} without judgements (ignored)", extra)


def _group_runs(topics_by_run: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for run, judged in topics_by_run.items():
        groups.setdefault(tuple(sorted(judged)), []).append(run)
    return groups


def _join_names(names: Sequence[str]) -> str:
    """List the first names."""
    more = f" and {len(names) - _MAX_EXAMPLES} more" if len(names) > _MAX_EXAMPLES else ""
    return ", ".join(names[:_MAX_EXAMPLES]) + more


def _format_note(text: str, ids: Sequence[str]) -> Iterator[str]:
    """A note with the first ids; nothing without ids."""
    if ids:
        yield f"{text}: {list_examples(ids)}"


class EvaluateOptions(Struct, frozen=True):
    """What `esr evaluate` measures."""

    measure_texts: tuple[str, ...]
    baseline: str | None
    by: str | None
    condensed: bool
    resamples: int
    seed: int


@click.command()
@add_arguments(LAB, "evaluate")
@as_json_option
@collect_options(EvaluateOptions)
def evaluate(
    qrels_file: str,
    run_files: tuple[str, ...],
    options: EvaluateOptions,
    per_topic: bool,
    as_csv: bool,
    as_json: bool,
    where: str | None,
) -> None:
    """Evaluate TREC runs of esr or other systems.

    QRELS has lines of "qid 0 sentence_id grade", or of "N12 docno:num" as in the Novelty track. A topic
    that a run lacks scores 0. Files may be compressed with gzip; - is standard input, and ir_datasets:NAME
    the judgements of a data set.

    \b
    Example:
      esr evaluate qrels.txt 2si.run
      esr evaluate qrels.txt 2si.run bm25.run -m "AP P@10" --baseline tfisf.run
    """
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other: leave one out")
    require("esr evaluate", "ir_measures", "scipy")
    names = parse_measures(options.measure_texts)
    kinds = read_topic_kinds(options.by) if options.by else None
    data = read_inputs(qrels_file, run_files, options.baseline, kinds)
    for note in [*data.notes, *(_check_index(data.qrels, where) if where else ())]:
        click.echo(note, err=True)
    select = keep_judged if options.condensed else lambda run, _: run
    results = evaluate_runs(
        names,
        data.qrels,
        {name: select(run, data.qrels) for name, run in data.runs.items()},
        baseline=data.baseline,
        kinds=kinds,
        resamples=options.resamples,
        seed=options.seed,
    )
    if as_json:
        click.echo(json.dumps(to_json(results, per_topic=per_topic), indent=1, ensure_ascii=False))
    elif as_csv:
        click.echo(to_csv(results, per_topic=per_topic), nl=False)
    else:
        click.echo(to_table(results, per_topic=per_topic))


def _check_index(judged: Qrels, where: str) -> Iterator[str]:
    with open_searcher(where) as searcher:
        unknown = find_unknown_sentences(judged, searcher.index)
    total = len({sentence for grades in judged.values() for sentence in grades})
    of = f"{len(unknown):,} of {count(total, 'judged sentence')}"
    yield from _format_note(f"{redact(where)} lacks {of}", unknown)


# esr compare


_RESAMPLES = 1  # the table shows only the t-test


@click.command()
@add_arguments(LAB, "compare")
def compare(comparison: Path, output: Path, workers: int) -> None:
    """Evaluate every ranking on every collection.

    One table per measure is printed. COMPARISON is a JSON file: {"collections": {name: {"index", "topics",
    "qrels"}}, "rankings": {name: ranking}, "measures": ["AP"], "baseline": name}. Without rankings, every
    model is evaluated in every context. With "parameters": ["default", "tuned", "estimated"] each ranking is
    evaluated with its own parameters, with those tuned on four fifths of the topics for the last fifth, and
    with those estimated from the collection. An interrupted call resumes where it stopped. * and ** mark
    differences from the baseline at 95 % and 99 % (paired t-test, Holm's correction).

    \b
    Example:
      esr compare comparison.json -o figures.jsonl
    """
    require("esr compare", "ir_measures", "scipy")
    plan = ComparisonPlan.from_file(comparison)
    all_cells = build_cells(plan)
    try:
        inputs = (file for c in plan.collections.values() for file in (c.topics, c.qrels))
        check_output(output, comparison, *inputs)
        results = read_results(output)
        keys = [cell.key() for cell in all_cells]
        missing = {key: cell for key, cell in zip(keys, all_cells, strict=True) if key not in results}
        if unanswerable := find_unanswerable(missing.values()):
            plan = _leave_out(plan, unanswerable)
            missing = {key: cell for key, cell in missing.items() if cell.ranking in plan.rankings}
        for result in tqdm(
            compute_cells(missing, output, workers),
            total=len(missing),
            unit=" cells",
            disable=None,
            leave=False,
        ):
            results[result["key"]] = result
    except OSError as error:
        raise EsrError(f"cannot use {error.filename or output}: {error.strerror}") from error
    table = {
        (cell.collection, cell.ranking, cell.parameters): results[key]
        for key, cell in zip(keys, all_cells, strict=True)
        if cell.ranking in plan.rankings
    }
    for name in plan.measures:
        click.echo(f"{name}\n{_format_table(plan, table, name)}\n")


def _leave_out(plan: ComparisonPlan, unanswerable: Mapping[str, str]) -> ComparisonPlan:
    """The plan without these rankings.

    Raises UsageError if the plan itself names its rankings, or if the baseline is one of those to leave out.
    """
    reason = next(iter(unanswerable.values()))
    if plan.rankings != build_default_rankings() or plan.baseline in unanswerable:
        raise UsageError(reason)
    click.echo(f"left out {', '.join(unanswerable)}: {reason}", err=True)
    answerable = {name: ranking for name, ranking in plan.rankings.items() if name not in unanswerable}
    return dataclasses.replace(plan, rankings=answerable)


Results = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Stored results by collection, ranking and source of parameters."""


def _format_table(plan: ComparisonPlan, results: Results, measure: str) -> str:
    """One row per ranking and source of parameters. Marks compare with the baseline from the same source."""
    marks = _find_marks(plan, results, measure)
    rows = [["", *plan.collections]]
    for ranking, source in product(plan.rankings, plan.parameters):
        keys = [(collection, ranking, source) for collection in plan.collections]
        figures = [f"{results[key]['measures'][measure]:.4f}{marks.get(key, ''):<2}" for key in keys]
        rows.append([ranking if len(plan.parameters) == 1 else f"{ranking}, {source}", *figures])
    return align_columns(rows)


def _find_marks(plan: ComparisonPlan, results: Results, measure: str) -> dict[tuple[str, str, str], str]:
    """The marks of significant differences from the baseline.

    P-values are corrected for the number of rankings.
    """
    marks: dict[tuple[str, str, str], str] = {}
    if plan.baseline is None:
        return marks
    for collection, source in product(plan.collections, plan.parameters):
        of_ranking = {name: results[collection, name, source]["values"][measure] for name in plan.rankings}
        baseline = of_ranking.pop(plan.baseline)
        tests = {
            name: test
            for name, values in of_ranking.items()
            if (test := compare_common(baseline, values, baseline, resamples=_RESAMPLES)) is not None
        }
        for name, test in zip(tests, correct_p_values([*tests.values()]), strict=True):
            marks[collection, name, source] = test.mark
    return marks


# esr pool and esr agreement


_FIELDS = ("previous", "next", "title", "date", "source")
"""The fields that judges see in addition to the query and the text."""


@click.command()
@add_arguments(LAB, "pool")
@index_option
def pool(
    run_files: tuple[str, ...],
    where: str,
    depth: int,
    topics_file: str | None,
    field: str,
    qrels_file: str | None,
    output: str,
) -> None:
    """Write the sentences to judge, from several runs.

    These are the best of each run, each once, in an order that hides runs and ranks. The page `/judge` of esr
    serve reads the file, which has a line of JSON for each sentence: topic, query, sentence_id and text, its
    neighbours (previous, next), and title, date and source of its article.

    \b
    Example:
      esr pool 2si.run bm25.run --depth 10 --topics topics.tsv --index my-index -o pool.jsonl
    """
    split_fields(field)
    inputs = [name for name in (*run_files, topics_file, qrels_file) if name]
    queries = {topic.id: topic.query(field) for topic in read_topics(topics_file)} if topics_file else {}
    judged = read_qrels(qrels_file) if qrels_file else {}
    loaded = [read_run(path).scores for path in remove_duplicates(run_files)]
    pooled = make_pool(loaded, depth, judged)
    with open_searcher(where) as searcher, open_output(output, *inputs) as file:
        lacking = find_unknown_sentences(
            {t: dict.fromkeys(ids, 0) for t, ids in pooled.items()}, searcher.index
        )
        if lacking:
            examples = ", ".join(lacking[:_MAX_EXAMPLES])
            problem = f"{redact(where)} lacks {len(lacking):,} of the sentences, such as {examples}"
            raise UsageError(f"{problem}: give the index and the runs of sentences that were made with it")
        file.writelines(_write_lines(pooled, queries, searcher.index))
    if output != "-":
        total = sum(map(len, pooled.values()))
        click.echo(f"wrote {count(total, 'sentence')} of {count(len(pooled), 'topic')} to {output}")


def _write_lines(pooled: Pool, queries: Mapping[str, str], index: Index) -> Iterator[str]:
    for topic, ids in pooled.items():
        for record in index.read(ids, Records()):
            line = {"topic": topic, "query": queries.get(topic), "sentence_id": record.sentence_id}
            line |= {"text": record.text, **{name: getattr(record, name) for name in _FIELDS}}
            stated = {name: value for name, value in line.items() if value is not None}
            yield json.dumps(stated, ensure_ascii=False) + "\n"


@click.command()
@add_arguments(LAB, "agreement")
@as_json_option
def agreement(first: str, second: str, as_json: bool) -> None:
    """Measure the agreement of two judges by Cohen's kappa.

    Only sentences that both judged count. A kappa of 1 means full agreement, 0 agreement by chance. The first
    kappa takes grades as relevant (above 0) or not; the second weights each disagreement by the distance of
    the grades.

    \b
    Example:
      esr agreement ann.qrels bob.qrels
    """
    judges = read_qrels(first), read_qrels(second)
    result = measure_agreement(*judges)
    if as_json:
        click.echo(json.dumps(_to_json(result), indent=1))
        return
    alone = [sum(map(len, grades.values())) - result.sentences for grades in judges]
    click.echo(
        f"{count(result.sentences, 'sentence')} judged by both, {alone[0]:,} by the first alone, "
        f"{alone[1]:,} by the second alone"
    )
    click.echo(f"relevant or not: {result.agreed:.1%} the same, kappa {_format(result.kappa)}")
    click.echo(f"grades: weighted kappa {_format(result.weighted)}\n")
    head = [f"{first} \\ {second}", *map(str, result.grades)]
    rows = [[str(g), *map(str, row)] for g, row in zip(result.grades, result.counts.tolist(), strict=True)]
    click.echo(align_columns([head, *rows]))


def _to_json(result: Agreement) -> dict[str, object]:
    numbers = {"kappa": result.kappa, "weighted": result.weighted}
    return {
        "sentences": result.sentences,
        "agreed": result.agreed,
        **{name: None if math.isnan(value) else value for name, value in numbers.items()},
        "grades": list(result.grades),
        "counts": result.counts.tolist(),
    }


def _format(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
