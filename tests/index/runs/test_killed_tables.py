"""`kill -9` while a table is fitted, or replaced, leaves old or new vectors, and the next run resumes."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import esr
from esr.cli.main import main
from esr.encoders.table import VectorTable
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import IndexMissing
from esr.index.factory import open_generations
from esr.index.questions import MainEncoder, StoredTable, VectorOrigins, Vectors
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.runs.table_run import run_table
from esr.ranking.searcher import open_searcher
from esr.text.sentence_enrichment import QuantizedVector
from esr.text.validate import to_json_line
from tests.index.test_meaning_parity import make_documents
from tests.support.elasticsearch import http, load
from tests.support.processes import ForkedProcess, run_esr, run_esr_until
from tests.support.runs import need, rounds

need("tokenizers")
need("scipy")

pytestmark = pytest.mark.endurance

NEWS = make_documents(0, 150, seed=5)
IDS = [sentence.id for document in NEWS for sentence in document.sentences]
SAMPLE = 80
KILLS = rounds(40)
COMMANDS = {
    "load": ["load", "news.jsonl", "--if-exists", "replace", "--meaning", "--index"],
    "fit": ["enrich", "--only", "table", "--sample", str(SAMPLE), "--index"],
    "replace": ["enrich", "--only", "vectors", "--index"],
}
ENCODER = "--encoder"
Found = tuple[str | None, QuantizedVector | None]


class Undisturbed(NamedTuple):
    """What runs leave that nobody kills: the table's digest, and all vectors, before and after replacing."""

    digest: str
    fitted: Sequence[Found]
    replaced: Sequence[Found]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, settings: VectorSettings) -> Undisturbed:
    where = str(tmp_path_factory.mktemp("undisturbed") / "index")
    load(where, NEWS)
    digest = fit(where, settings)
    fitted = read(where)
    with open_searcher(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=settings))
    return Undisturbed(digest, fitted, read(where))


@pytest.fixture
def news(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of the documents, in the present folder."""
    monkeypatch.chdir(tmp_path)
    Path("news.jsonl").write_text("".join(f"{to_json_line(document)}\n" for document in NEWS), "utf-8")


def fit(where: str, settings: VectorSettings) -> str:
    with open_searcher(where) as searcher:
        return run_table(searcher.index, settings, sample=SAMPLE).digest


def read(where: str) -> list[Found]:
    """What made the vector of each sentence, and the vector."""
    with open_searcher(where) as searcher:
        encoder = searcher.index.status(MainEncoder())
        if encoder is None:
            return [(None, None)] * len(IDS)
        origins = searcher.index.read(IDS, VectorOrigins(encoder))
        return list(zip(origins, searcher.index.read(IDS, Vectors(encoder)), strict=True))


def prepare(name: str, where: str, settings: VectorSettings) -> None:
    """Make the index that a command is given: that of `replace` has a table, the others no vectors."""
    with suppress(IndexMissing), closing(open_generations(where)) as generations:
        generations.delete_all()
    load(where, NEWS)
    if name == "replace":
        fit(where, settings)


def command(name: str, where: str, settings: VectorSettings) -> list[str]:
    encoder = [] if name == "load" else [ENCODER, settings.encoder]
    return [*COMMANDS[name], where, *encoder]


def changes(settings: VectorSettings) -> Mapping[str, Any]:
    """What is otherwise in commands: small batches, so that a kill finds some stored and others not."""
    return {
        "esr.index.runs.table_run:LEAST_SAMPLE": SAMPLE,
        "esr.index.runs.enrichment_run:BATCH_SENTENCES": 40,
        "esr.index.runs.enrichment_run:CHUNK_SENTENCES": 30,
        "esr.enrichment.table_enricher:default_settings": partial(VectorSettings, settings.encoder),
    }


def check_state(where: str, undisturbed: Undisturbed) -> list[Found]:
    """Check that each sentence has no vector, or one of an undisturbed run, and that searches work."""
    if where.startswith("http"):
        http("GET", f"{where.rpartition('/')[0]}/_cluster/health?wait_for_status=yellow")
        http("POST", f"{where}*/_refresh")
    with open_searcher(where) as searcher:
        table = searcher.index.status(StoredTable())
    assert table is None or VectorTable.from_bytes(table).digest == undisturbed.digest
    found = read(where)
    for of_sentence, *known in zip(found, undisturbed.fitted, undisturbed.replaced, strict=True):
        assert of_sentence in [(None, None), *known]
    assert CliRunner().invoke(main, ["verify", "--index", where]).exit_code == 0
    search(where)
    return found


def search(where: str) -> None:
    with esr.open(where) as index:
        assert list(index.search("storm in the city"))
    time.sleep(0.05)  # leave the processors to the command


def check_repeated(name: str, where: str, settings: VectorSettings, undisturbed: Undisturbed) -> None:
    """Check what the next run leaves, beside searches."""
    process = ForkedProcess(run_esr, command(name, where, settings), changes(settings))
    while process.is_running:
        search(where)
    process.finish()
    assert check_state(where, undisturbed) == (
        undisturbed.replaced if name == "replace" else undisturbed.fitted
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_killed_at_any_time_leaves_old_or_new_vectors_and_resumes(
    anywhere: str, settings: VectorSettings, undisturbed: Undisturbed, news: None, name: str
) -> None:
    prepare(name, anywhere, settings)
    started = time.perf_counter()
    check_repeated(name, anywhere, settings, undisturbed)
    duration = time.perf_counter() - started
    for _ in range(KILLS // 2 if anywhere.startswith("http") else KILLS):
        prepare(name, anywhere, settings)
        process = ForkedProcess(run_esr, command(name, anywhere, settings), changes(settings))
        end = time.perf_counter() + random.uniform(0.1, 1.0) * duration
        while process.is_running and time.perf_counter() < end:
            search(anywhere)
        process.kill()
        check_state(anywhere, undisturbed)
        check_repeated(name, anywhere, settings, undisturbed)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_killed_before_any_change_of_a_file_leaves_old_or_new_vectors_and_resumes(
    tmp_path: Path, settings: VectorSettings, undisturbed: Undisturbed, news: None, name: str
) -> None:
    where = str(tmp_path / "index")
    alone = {"esr.library.meaning:count_workers": partial(int, 1)}
    arguments = str(tmp_path), command(name, where, settings), {**changes(settings), **alone}
    prepare(name, where, settings)
    before = read(where)
    steps = int(ForkedProcess(run_esr_until, 0, *arguments).finish().split()[-1])
    after, between = read(where), 0
    for _ in range(KILLS):
        prepare(name, where, settings)
        ForkedProcess(run_esr_until, random.randint(1, steps), *arguments).wait()
        between += check_state(where, undisturbed) not in (before, after)
        check_repeated(name, where, settings, undisturbed)
    assert after == (undisturbed.replaced if name == "replace" else undisturbed.fitted)
    assert between or KILLS < 10, "no run was killed amid its documents: the test shows nothing"
