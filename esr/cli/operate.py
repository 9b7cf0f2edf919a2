"""Commands that operate an index: its generations (`esr indices`, `rollback`, `delete`), `verify`, `backup`,
`restore`, `migrate`, `refresh-priors`, `status`, `export`, the roles for Elasticsearch (`roles`), and the
server (`serve`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from msgspec import to_builtins
from msgspec.structs import asdict, replace
from tqdm import tqdm

from esr.arguments.tables.commands import COMMANDS
from esr.cli import options
from esr.cli.arguments import add_arguments
from esr.cli.loading_options import impacts, keep, workers
from esr.cli.options import as_json, describe_choices, index_or_first, parse_slice
from esr.cli.output import open_output
from esr.cli.run_metrics import measure_run
from esr.errors import EsrError, UsageError
from esr.index import factory
from esr.index.contract import Index
from esr.index.generations import (
    KEPT,
    SERVING,
    STATES,
    CopyReport,
    Drift,
    Generation,
    Verification,
    describe_missing,
)
from esr.index.login_variables import ROLES, redact
from esr.index.questions import Quotes, Records, Summary
from esr.index.writer import LoadOptions
from esr.plans.plan import Mixture
from esr.processes import exit_on_sigterm
from esr.progress import SendProgress
from esr.ranking.searcher import open_searcher
from esr.stdlib import batched, import_lazily
from esr.text.document import Document
from esr.text.sentence_enrichment import TABLE
from esr.text.validate import to_fields, to_json_line, write_json_line
from esr.wording import align_columns, count

if TYPE_CHECKING:
    import webui
    from esr.cli import load as load_command
    from esr.dossiers import backup as desk_backup
    from esr.dossiers import desk as desks
else:
    desk_backup = import_lazily("esr.dossiers.backup")
    desks = import_lazily("esr.dossiers.desk")
    load_command = import_lazily("esr.cli.load")
    webui = import_lazily("webui")


@click.command(epilog="States: " + describe_choices(STATES))
@index_or_first
@as_json
def indices(where: str, as_json: bool) -> None:
    """List the generations of an index.

    They are the serving one, kept ones, and running or interrupted loads.

    \b
    Example:
      esr indices --index my-index
      esr indices --index http://localhost:9200/news --json
    """
    with closing(factory.open_generations(where)) as index:
        generations = index.all()
    if as_json:
        click.echo(json.dumps([generation.as_dict() for generation in generations], indent=1))
        return
    click.echo(_format_table(generations))
    if any(not generation.started_at for generation in generations):
        click.echo(
            "A name that lies in the future comes from a wrong clock: it orders the loads, and is no time."
        )


@click.command()
@index_or_first
@add_arguments(COMMANDS, "rollback")
def rollback(where: str, to: str | None) -> None:
    """Serve the generation before the serving one again. Searches switch from one to the other atomically.

    The generation that was serving is kept, so `--to` can go forward again.

    \b
    Example:
      esr rollback --index my-index
      esr rollback --index my-index --to 20260301t060000000000
    """
    with closing(factory.open_generations(where)) as index:
        generation = index.rollback(to)
    click.echo(f"{redact(where)} serves generation {generation.name} again: {_describe(generation)}")


@click.command()
@index_or_first
@add_arguments(COMMANDS, "delete")
def delete(where: str, names: tuple[str, ...], before: str | None, yes: bool) -> None:
    """Delete generations, old documents, or the whole index.

    Any generation but the serving one can be deleted by its name. With --before, old documents are removed
    for good, as by esr remove --before, which does not ask and has more options; the previous generation
    still contains them while it is kept. Without either, the whole index is deleted with all of its
    generations.

    \b
    Example:
      esr delete 20260301t060000000000 --index my-index
      esr delete --before 2020 --index my-index
      esr delete --index http://localhost:9200/news --yes
    """

    def ask(target: str) -> None:
        if not yes:
            click.confirm(f"Delete {target}?", abort=True, err=True)

    if before is not None:
        if names:
            raise UsageError("generations are deleted by name, documents by --before: leave one of them out")
        load_command.remove_before(where, before, ask)
        return
    with closing(factory.open_generations(where)) as index:
        generations = index.all()
        number = count(len(generations), "generation")
        if names:
            target = f"{', '.join(dict.fromkeys(names))}, of {number} of {redact(where)}"
        else:
            serving = next((g for g in generations if g.state == SERVING), None)
            contents = f"; served: {_describe(serving)}" if serving else ""
            target = f"the index {redact(where)} ({number}{contents})"
            if click.get_current_context().get_parameter_source("where") is ParameterSource.ENVIRONMENT:
                raise UsageError(f"to delete {target}, name it with --index: ESR_INDEX is not enough")
        ask(target)
        index.delete(names) if names else index.delete_all()
    click.echo(f"deleted {target}")


def _format_table(generations: list[Generation]) -> str:
    rows = [("generation", "state", "documents", "sentences", "size", "made")]
    for generation in generations:
        state = f"{generation.state} on {generation.host}" if generation.host else generation.state
        state += ", rejected" if generation.is_rejected else ""
        if generation.missing:
            state += f", {describe_missing(generation.missing)}"
        elif generation.sentences is None and generation.state in (SERVING, KEPT):
            state += ", not ready"
        rows.append(
            (
                generation.name,
                state,
                _format_count(generation.documents),
                _format_count(generation.sentences),
                _format_size(generation.size_bytes),
                generation.started_at,
            )
        )
    return align_columns(rows, (0, 1, 5))


def _describe(stored: Generation | CopyReport) -> str:
    nouns = ((stored.documents, "document"), (stored.sentences, "sentence"))
    return " with ".join(f"? {noun}s" if n is None else count(n, noun) for n, noun in nouns)


def _format_count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _format_size(size: int | None) -> str:
    if size is None:
        return "?"
    for unit, bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}"
    return f"{size} B"


# esr verify, esr backup and esr restore


@click.command()
@index_or_first
@add_arguments(COMMANDS, "verify")
@as_json
def verify(where: str, fast: bool, slice_text: str | None, workers: int, as_json: bool) -> None:
    """Find the damaged files of an index.

    All files are read, and compared with what was written. The exit status is 1 if anything is damaged, or
    may not be opened.
    Elasticsearch compares the checksums of its files itself, so there only missing parts and a damaged
    table of vectors are listed.

    \b
    Example:
      esr verify --index my-index
      esr verify --index my-index --fast --json
      esr verify --index my-index --slice 2/8
    """
    slice = parse_slice(slice_text) if slice_text else None
    report = factory.verify_index(where, fast=fast, slice=slice, workers=workers)
    if as_json:
        click.echo(json.dumps(to_builtins(report), indent=1))
    else:
        for damage in report.damaged:
            generations = f" (generation {', '.join(damage.generations)})" if damage.generations else ""
            click.echo(f"{damage.path}: {damage.problem}{generations}")
        for part in report.unknown:
            click.echo(f"{part}: has no checksums, an older version of esr wrote it; it can be read")
        for reason in report.unopened:
            click.echo(reason)
        of_slice = f"slice {report.slice} of " if report.slice else ""
        if report.damaged:
            click.echo(f"{of_slice}{redact(where)} is damaged: {report.advice or 'see above'}")
        elif report.unopened:
            files = count(len(report.unopened), "file")
            click.echo(f"{of_slice}{redact(where)} is not verified: {files} may not be opened")
        else:
            scope = f"{count(report.files, 'file')}, " if report.files else ""
            parts = f"{_describe_parts(report)}, " if report.slice else ""
            click.echo(
                f"{of_slice}{redact(where)} is intact: {parts}{scope}{_format_size(report.size_bytes)}"
            )
    if report.damaged or report.unopened:
        raise SystemExit(1)


@click.command()
@index_or_first
@add_arguments(
    COMMANDS,
    "backup",
    *("target", "copy", "slice", "workers", "desk"),
    desk={"envvar": "ESR_DESK", "show_envvar": True},
)
@as_json
def backup(
    where: str,
    target: str,
    copy: bool,
    slice_text: str | None,
    workers: int,
    desk: str | None,
    as_json: bool,
) -> None:
    """Back an index folder up to the folder TARGET.

    The next run brings TARGET up to date. A backup has all generations. Loads and searches go on meanwhile.
    Only files that the backup lacks are written. On one disk files are linked, which takes no space, but a
    damaged block then damages both: use --copy, or another disk.

    With --slice, a share of the files is copied, but TARGET stays as it was until the next run without it.

    \b
    Example:
      esr backup /backups/my-index --index my-index
      esr backup /backups/my-index --index my-index --slice 2/8
    """
    slice = parse_slice(slice_text) if slice_text else None
    with measure_run("backup", None if slice else where) as run:
        report = factory.back_up_index(where, target, copy=copy, slice=slice, workers=workers)
        run.copied_bytes = report.copied_bytes
        if desk and not slice:
            with desks.open_desk(desks.find_desk(desk)) as opened:
                size = desk_backup.back_up_desk(opened, Path(target) / desk_backup.NAME)
            click.echo(f"backed the desk {redact(desk)} up to {target}: {_format_size(size)}", err=as_json)
    if slice:
        next_step = "this slice is no backup yet: when all slices are copied, run esr backup without --slice"
        _show_copy(report, f"copied slice {report.slice} of {where} to {target}", as_json, next_step)
        return
    _show_copy(report, f"backed {where} up to {target}", as_json)


@click.command()
@add_arguments(COMMANDS, "restore", "target")
@options.index_or_last
@add_arguments(COMMANDS, "restore", "copy", "slice", "fast", "workers", "yes", "desk")
@as_json
def restore(
    target: str,
    where: str,
    slice_text: str | None,
    yes: bool,
    desk: str | None,
    as_json: bool,
    **how: Any,
) -> None:
    """Make an index folder of the backup TARGET.

    An existing index is reset to the backup. All files are first compared with their checksums. Searches see
    the old state or the new one.

    With --slice, a share of the files is copied, but the index stays as it was until the next run without it.
    That run need not read what the slices copied: give it --fast.

    \b
    Example:
      esr restore /backups/my-index --index my-index
      esr restore /backups/my-index --index my-index --slice 2/8
    """
    if slice_text:
        if desk:
            raise UsageError("a slice leaves out the desk: restore it by the run without --slice")
        report = factory.restore_index(target, where, slice=parse_slice(slice_text), **how)
        next_step = "the index is not restored yet: when all slices are copied, run esr restore --fast"
        _show_copy(report, f"copied slice {report.slice} of {target} to {where}", as_json, next_step)
        return
    if not yes and options.is_folder_of_index(where) and not factory.is_restore_unfinished(where):
        click.confirm(f"Replace the index {where} by {target}?", abort=True, err=True)
    if desk and not yes and _has_desk(desk):
        click.confirm(
            f"Replace all dossiers in the desk {redact(desk)} by those of {target}?", abort=True, err=True
        )
    report = factory.restore_index(target, where, **how)
    if desk:
        with desks.open_desk(desk) as opened:
            desk_backup.restore_desk(Path(target) / desk_backup.NAME, opened)
        click.echo(f"restored the desk {redact(desk)} from {target}", err=as_json)
    _show_copy(report, f"restored {where} from {target}", as_json)


def _has_desk(desk: str) -> bool:
    """Whether there may be a desk, which a restore would replace."""
    try:
        desks.find_desk(desk)
    except desks.DeskUnusable:
        return False
    return True


def _show_copy(report: CopyReport, done: str, as_json: bool, next_step: str = "") -> None:
    if as_json:
        click.echo(json.dumps(to_builtins(report), indent=1))
        return
    ways = {
        "copied": report.copied_bytes,
        "linked": report.linked_bytes,
        "there already": report.present_bytes,
    }
    sizes = [f"{_format_size(size)} {way}" for way, size in ways.items() if size]
    contents = _describe_parts(report) if report.slice else _describe(report)
    click.echo(f"{done}: {', '.join((contents, *sizes))}")
    if next_step:
        click.echo(next_step)


def _describe_parts(report: Verification | CopyReport) -> str:
    """How much of a folder a slice has covered."""
    return f"{report.parts:,} of {report.all_parts:,} segments and layers"


# esr migrate and esr refresh-priors


@click.command()
@index_or_first
@keep
@impacts
@workers
@as_json
def migrate(where: str, keep: int, precomputed_mixture: Mixture | None, workers: int, as_json: bool) -> None:
    """Convert an index to the format of this version.

    It is rebuilt from its contents, and replaced in one step. What esr enrich stored is preserved. To resume
    an interrupted run, run it again.

    \b
    Example:
      esr migrate --index my-index
      esr migrate --index http://localhost:9200/news --workers 4
    """
    exit_on_sigterm()
    with SendProgress() as progress:
        options = LoadOptions(
            keep=keep,
            workers=workers,
            on_progress=progress.update,
            precomputed_mixture=precomputed_mixture,
            merge=True,
        )
        report = factory.open_migration(where, options).run()
    if as_json:
        click.echo(json.dumps(to_builtins(report), indent=1))
        return
    if report.documents:
        click.echo(
            f"migrated {count(report.documents, 'document')} with {count(report.sentences, 'sentence')} "
            f"of {redact(where)} in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)


@click.command("refresh-priors")
@index_or_first
@as_json
def refresh_priors(where: str, as_json: bool) -> None:
    """Recompute the stored importance priors.

    They then follow the current p(t|C). esr status --drift shows how far off they are. Elasticsearch stores
    priors as of the time that a sentence was loaded; an index folder stores none. Searches continue meanwhile
    and see the new priors gradually. To resume an interrupted run, run it again.

    \b
    Example:
      esr refresh-priors --index http://localhost:9200/news
    """
    exit_on_sigterm()
    with closing(factory.open_priors(where)) as priors, SendProgress(" sentences", "compared") as progress:
        report = priors.refresh(progress.update)
    if as_json:
        click.echo(json.dumps(asdict(report), indent=1))
        return
    if report.sentences:
        click.echo(
            f"{redact(where)}: {report.changed:,} of {count(report.sentences, 'sentence')} got another "
            f"prior, in {report.seconds:.1f} s"
        )
    for note in report.notes:
        click.echo(note)


# esr status


@click.command()
@options.index
@add_arguments(COMMANDS, "status")
@options.as_json
def status(where: str, shows_drift: bool, as_json: bool) -> None:
    """Show an index's counts, size and settings.

    Elasticsearch stores importance priors. They depend on p(t|C), which drifts as documents are added and
    removed. With --drift, a sample of the sentences of each load is examined, which takes some seconds. The
    output shows natural logarithms: the mean change of log p(t|C) per occurrence, and the error of priors
    with their spread.

    \b
    Example:
      esr status --index my-index
      esr status --index http://localhost:9200/news --drift
    """
    with open_searcher(where) as searcher:
        index_status = dict(searcher.index.status(Summary()))
        unknown_pieces = _describe_unknown_pieces(searcher.index, index_status["enrichment"])
    drifts: list[Drift] = []
    if shows_drift:
        with closing(factory.open_priors(where)) as priors:
            drifts = priors.drift()
    if as_json:
        drift = {"drift": [asdict(drift) for drift in drifts]} if shows_drift else {}
        click.echo(json.dumps({**index_status, **drift}, indent=1))
        return
    periods = index_status.pop("periods", ())
    parts, unresolved = index_status.pop("enrichment"), index_status.pop("unresolved_names", 0)
    for name, value in index_status.items():
        click.echo(f"{name.replace('_', ' '):<12} {_format_value(value)}")
    if not parts:
        click.echo(f"{'enrichment':<12} none")
    total = index_status["documents"]
    for part in parts:
        tools = ", ".join(f"{name} {value}" for name, value in part["made_with"].items())
        click.echo(f"{part['part']:<12} {part['documents']:,} of {count(total, 'document')} ({tools})")
    if unknown_pieces:
        click.echo(f"{'table':<12} {unknown_pieces}")
    if unresolved:
        click.echo(
            f"{'names':<12} of {count(unresolved, 'document', 'were')} stored by an older esr: run esr enrich"
        )
    for period in periods:
        click.echo(_format_period(period))
    for line in format_drifts(drifts):
        click.echo(line)


def _format_period(period: Mapping[str, Any]) -> str:
    """A line about a period of a divided index."""
    size = "unknown size" if period["size_bytes"] is None else _format_size(period["size_bytes"])
    dates = f", {period['first']} to {period['last']}" if period["first"] else ""
    documents, sentences = count(period["documents"], "document"), count(period["sentences"], "sentence")
    return f"{period['period']:<12} {documents}, {sentences}, {size}{dates}"


def _describe_unknown_pieces(index: Index, parts: Sequence[Mapping[str, Any]]) -> str | None:
    """What the table of vectors lacks. None if it lacks little, there is none, or it cannot be read here."""
    if not any(TABLE in part["made_with"] for part in parts):
        return None
    from esr.index.runs.table_run import describe_unknown_pieces  # slow to import, needed by few indices

    try:
        return describe_unknown_pieces(index)
    except EsrError:  # a package or a right is missing
        return None


def _format_value(value: Any) -> Any:
    if value is None:
        return "unknown"
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def format_drifts(drifts: list[Drift]) -> Iterator[str]:
    """The drift of p(t|C) for each load, and the resulting error of its priors."""
    for drift in drifts:
        sample = f"{drift.sampled:,} of {drift.sentences:,} sentences sampled"
        if drift.largest:
            yield (
                f"{'drift':<12} {drift.load}: log p(t|C) by {drift.occurrence:.4f} per occurrence; "
                f"priors are off by {drift.mean:.3f}, at most {drift.largest:.3f}, "
                f"and spread by {drift.spread:.3f} ({sample})"
            )
        else:
            yield f"{'drift':<12} {drift.load}: none, stored priors are exact ({sample})"
    if any(drift.largest for drift in drifts):
        yield f"{'':<12} esr refresh-priors makes them exact; only rankings with --prior importance use them"


# esr export, esr roles and esr serve


@click.command()
@index_or_first
@add_arguments(COMMANDS, "export")
def export(where: str, output: str, **parts: bool) -> None:
    """Write all documents of an index as JSON Lines.

    They are in the order of the index, and esr load makes the same index from them. Sentences, features,
    parses and quotations are those of the original documents. What esr enrich stored is included on request.
    esr load reads features and quotations back; names it leaves to esr enrich.

    \b
    Example:
      esr export --index my-index -o news.jsonl
      esr export --index my-index --quotes --features --names -o enriched.jsonl.gz
      esr export --index http://localhost:9200/news > news.jsonl
    """
    with open_searcher(where) as searcher, open_output(output) as file:
        index = searcher.index.snapshot()
        total = index.status(Summary())["documents"]
        documents = tqdm(index.documents(), total=total, unit=" documents", disable=None, leave=False)
        lines = (
            _write_enriched(index, documents, **parts)
            if any(parts.values())
            else map(to_json_line, documents)
        )
        for line in lines:
            file.write(f"{line}\n")
    if output != "-":
        click.echo(f"wrote {count(total, 'document')} to {output}")


_EXPORTED_AT_ONCE = 100


def _write_enriched(
    index: Index, documents: Iterable[Document], quotes: bool, features: bool, names: bool
) -> Iterator[str]:
    """The documents as lines of JSON, with these parts of what the index stores with their sentences."""
    for batch in batched(documents, _EXPORTED_AT_ONCE):
        ids = [sentence.id for document in batch for sentence in document.sentences]
        records = iter(index.read(ids, Records()) if features or names else [None] * len(ids))
        stored_quotes = iter(index.read(ids, Quotes()) if quotes else [()] * len(ids))
        for document in batch:
            entities, sentences = [], []
            for sentence, record, quotes_of_sentence in zip(
                document.sentences, records, stored_quotes, strict=False
            ):
                sentence = replace(sentence, quotes=quotes_of_sentence) if quotes else sentence
                if record is not None and features:
                    sentence = replace(sentence, features=record.features)
                entities.append(record.entities if record is not None and names else None)
                sentences.append(sentence)
            fields = to_fields(replace(document, sentences=tuple(sentences)))
            for of_sentence, of_type in zip(fields["sentences"], entities, strict=True):
                if of_type:
                    of_sentence["entities"] = {
                        type: list(quotes_of_sentence) for type, quotes_of_sentence in of_type.items()
                    }
            yield write_json_line(fields)


@click.command(epilog="Roles: " + describe_choices(ROLES))
@add_arguments(COMMANDS, "roles")
def roles(aliases: tuple[str, ...], roles: tuple[str, ...], file: Path | None, patience: float) -> None:
    """Print the roles that esr needs in Elasticsearch.

    ALIAS is the alias that the roles are for, or its URL: http(s)://host:port/alias. The output is the
    `role_descriptors` of an API key; each value in it is the body of a role.

    \b
    Example:
      esr roles news
      esr roles https://localhost:9200/news --role page --key page.key
    """
    descriptors = factory.role_descriptors(aliases, roles or tuple(ROLES))
    if file is None:
        click.echo(json.dumps(descriptors, indent=1))
        return
    if len(descriptors) != 1 or "://" not in aliases[0]:
        raise UsageError("--key needs exactly one --role, and a URL as the first ALIAS")
    try:  # create the file first: a key can be read only once
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"cannot create {file}: {error.strerror}") from None
    try:
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(factory.create_api_key(aliases[0], descriptors, patience))
    except BaseException:
        file.unlink()
        raise
    click.echo(f"{file} contains an API key for {', '.join(descriptors)}")


@click.command()
@options.index
@add_arguments(COMMANDS, "serve")
def serve(where: str, host: str, port: int) -> None:
    """Serve the search page and the API.

    Several indices are written as NAME=WHERE, separated by blanks; the first is the default. Settings are
    environment variables: see docs/serving.md.

    \b
    Example:
      esr serve --index my-index --port 8080
      esr serve --index "news=my-index old=http://localhost:9200/old"
    """
    webui.serve(where, host, port)
