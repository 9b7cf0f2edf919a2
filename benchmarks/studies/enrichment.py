"""The rate of enrichment compared with a bare spaCy pool with the same components, sentences and processes.

    python -m benchmarks.studies.enrichment docs.jsonl.gz [--turns 12] [--sentences 1000] [--workers 2]
    python -m benchmarks.studies.enrichment docs.jsonl.gz --command [--turns 3] [--sentences 10000]

The bare pool does only the necessary work: it tokenises, runs the components in batches of 128, and returns
the counts of words, entities and heads. Both pools exist all the time and take turns with the same sentences,
so that other work on the machine affects both. Processor time is that of the workers and of this process.

With `--command`, whole programs take turns instead: `esr enrich`, which opens a folder, reads and stores, and
a program that reads the same sentences from a file of lines and gives them to a bare pool. Both start their
processes and load their models each time. Quotations need no spaCy, so `esr enrich` alone is timed for them.
Needs Linux and `pip install esr[enrich]`; `python -m esr.loaders.example_news news.jsonl` writes documents.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.language import Language

import esr
from esr import loaders
from esr.enrichment.enricher import BATCH_SIZE, Enricher
from esr.enrichment.recipe import installed_models
from esr.index.runs import enrichment_run
from esr.text.document import Document
from esr.text.sentence_enrichment import DEFAULT_PARTS, QUOTES

COMPONENTS = {
    DEFAULT_PARTS: ("tagger", "parser", "ner"),
    ("features",): ("tagger", "ner"),
    ("entities",): ("ner",),
    ("parse",): ("parser",),
}
SHARED = ("tok2vec", "tagger", "parser")
ALL = (*SHARED, "ner", "attribute_ruler", "lemmatizer")


class Timing(NamedTuple):
    """Seconds of wall-clock and of processor time."""

    seconds: float
    processor: float


class Peer(NamedTuple):
    """A pool, and a function that processes documents with it and returns the number of sentences."""

    processes: ProcessPoolExecutor
    process: Callable[[Sequence[Document]], int]

    def time(self, documents: Sequence[Document]) -> Timing:
        processor, started = self._processor_time(), time.perf_counter()
        sentences = self.process(documents)
        timing = Timing(time.perf_counter() - started, self._processor_time() - processor)
        assert sentences == _count_sentences(documents)
        return timing

    def _processor_time(self) -> float:
        """Processor seconds of the workers and of this process."""
        ticks = 0
        for number in self.processes._processes:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("documents")
    options.add_argument("--turns", type=int, help="default: 12, of commands 3")
    options.add_argument("--sentences", type=int, help="per turn; default: 1000, of commands 10000")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument(
        "--parts", choices=(*DEFAULT_PARTS, QUOTES), help="one part; default: the first three"
    )
    options.add_argument("--command", action="store_true", help="time whole programs")
    options.add_argument(
        "--bare", action="store_true", help="process the lines of a file by a bare pool once"
    )
    arguments = options.parse_args()
    parts = (arguments.parts,) if arguments.parts else DEFAULT_PARTS
    if arguments.bare:
        _process_lines(Path(arguments.documents), COMPONENTS[parts], arguments.workers)
        return
    source = (located.document for located in loaders.read_documents([arguments.documents]))
    if arguments.command:
        documents = next(_split_into_turns(source, arguments.sentences or 10_000))
        _compare_commands(documents, parts, arguments.workers, arguments.turns or 3)
        return
    turns = list(islice(_split_into_turns(source, arguments.sentences or 1000), (arguments.turns or 12) + 1))
    with _bare(COMPONENTS[parts], arguments.workers) as bare, _esr(parts, arguments.workers) as own:
        timings = [_time_both(bare, own, documents, number) for number, documents in enumerate(turns)][1:]
    count = sum(map(_count_sentences, turns[1:]))
    print(f"{count:,} sentences in {len(timings)} turns, {arguments.workers} workers, {', '.join(parts)}")
    for name, times in zip(("spaCy", "esr"), zip(*timings, strict=True), strict=True):
        rates = [_count_sentences(turn) / t.seconds for turn, t in zip(turns[1:], times, strict=True)]
        processor = 1000 * sum(timing.processor for timing in times) / count
        print(f"{name:6} {statistics.median(rates):6.1f} sentences/s  {processor:.2f} ms of processor each")
    for field in Timing._fields:
        ratios = sorted(getattr(a, field) / getattr(b, field) for a, b in timings)
        print(
            f"rate of esr over spaCy's by {field}: median {statistics.median(ratios):.3f}, "
            f"from {ratios[0]:.3f} to {ratios[-1]:.3f}"
        )


def _time_both(bare: Peer, own: Peer, documents: Sequence[Document], number: int) -> tuple[Timing, Timing]:
    """The timings of both, whose order alternates from turn to turn."""
    if number % 2:
        return bare.time(documents), own.time(documents)
    own_timing = own.time(documents)
    return bare.time(documents), own_timing


def _split_into_turns(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    turn: list[Document] = []
    for document in documents:
        turn.append(document)
        if _count_sentences(turn) >= size:
            yield turn
            turn = []


def _count_sentences(documents: Sequence[Document]) -> int:
    return sum(len(document.sentences) for document in documents)


@contextmanager
def _esr(parts: tuple[str, ...], workers: int) -> Iterator[Peer]:
    context = get_context("spawn")
    setup = Enricher(parts), context.Barrier(workers), context.RawValue("b", False)
    with ProcessPoolExecutor(workers, context, enrichment_run.init_worker, setup) as processes:
        enrichment_run.start_workers(processes, workers)

        def process(documents: Sequence[Document]) -> int:
            results = enrichment_run.results_in_order(
                processes, enrichment_run.split_into_chunks(documents), workers
            )
            return sum(len(sentences) for _, result in results for sentences in result)

        yield Peer(processes, process)


@contextmanager
def _bare_pool(components: Sequence[str], workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that have loaded the components."""
    context = get_context("spawn")
    setup = components, context.Barrier(workers)
    with (
        enrichment_run.worker_environment(),
        ProcessPoolExecutor(workers, context, _load, setup) as processes,
    ):
        list(processes.map(_count, [["Ready?"]] * workers))
        yield processes


@contextmanager
def _bare(components: Sequence[str], workers: int) -> Iterator[Peer]:
    with _bare_pool(components, workers) as processes:

        def process(documents: Sequence[Document]) -> int:
            # The same chunks as those of esr.
            chunks = [
                [sentence.text for document in chunk for sentence in document.sentences]
                for chunk in enrichment_run.split_into_chunks(documents)
            ]
            return sum(map(len, processes.map(_count, chunks)))

        yield Peer(processes, process)


def _compare_commands(
    documents: Sequence[Document], parts: tuple[str, ...], workers: int, turns: int
) -> None:
    """Print the processor time of `esr enrich` and of a bare program, the least of some turns."""
    count = _count_sentences(documents)
    with tempfile.TemporaryDirectory() as work:
        index, lines = Path(work, "index"), Path(work, "sentences.txt")
        esr.create(index, documents, meaning=False).close()
        lines.write_text("".join(" ".join(s.text.split()) + "\n" for d in documents for s in d.sentences))
        own = (*_ESR, "enrich", "--index", f"{index}.copy", "--only", ",".join(parts))
        bare = (*_BARE, str(lines), "--bare", *(("--parts", *parts) if len(parts) == 1 else ()))
        commands = {"esr": own} if parts == (QUOTES,) else {"spaCy": bare, "esr": own}
        timings: dict[str, list[Timing]] = {name: [] for name in commands}
        for turn in range(turns):
            for name in sorted(commands, reverse=bool(turn % 2)):
                shutil.rmtree(f"{index}.copy", ignore_errors=True)
                shutil.copytree(index, f"{index}.copy")
                timings[name].append(_time_command((*commands[name], "--workers", str(workers))))
    print(f"{count:,} sentences, {workers} workers, {', '.join(parts)}; the least of {turns} turns")
    least = {name: min(timing.processor for timing in times) for name, times in timings.items()}
    for name, seconds in least.items():
        print(
            f"{name:6} {seconds:.1f} s of processor, {count / seconds:,.0f} sentences a second and processor"
        )
    if "spaCy" in least:
        print(f"rate of esr over spaCy's by processor: {least['spaCy'] / least['esr']:.3f}")


_ESR = (str(Path(sys.executable).with_name("esr")),)
_BARE = (sys.executable, "-m", "benchmarks.studies.enrichment")


def _time_command(command: Sequence[str]) -> Timing:
    """The time of a program and of all its processes."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Timing(time.perf_counter() - started, processor)


def _process_lines(file: Path, components: Sequence[str], workers: int) -> None:
    """Process the lines of a file by a bare pool, in chunks as long as those of esr."""
    texts = file.read_text().splitlines()
    size = enrichment_run.CHUNK_SENTENCES
    chunks = [texts[start : start + size] for start in range(0, len(texts), size)]
    with _bare_pool(components, workers) as processes:
        assert sum(map(len, processes.map(_count, chunks))) == len(texts)


_nlp: Language
"""The pipeline of a process, once `_load` has loaded it."""


def _load(components: Sequence[str], all_loaded: Barrier) -> None:
    global _nlp
    needed = {*components, "tok2vec"} if set(SHARED) & set(components) else set(components)
    _nlp = spacy.load(installed_models()["en"].name, exclude=[name for name in ALL if name not in needed])
    all_loaded.wait()


def _count(texts: Sequence[str]) -> list[tuple[int, int, bytes]]:
    docs = _nlp.pipe(texts, batch_size=BATCH_SIZE)
    return [(len(doc), len(doc.ents), doc.to_array("HEAD").tobytes()) for doc in docs]


if __name__ == "__main__":
    main()
