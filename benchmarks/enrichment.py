"""Enrichment beside a bare spaCy pool: the same components, sentences and number of processes.

    python benchmarks/enrichment.py docs.jsonl.gz [--turns 12] [--sentences 1000] [--workers 2]

The bare pool does what nobody can do without: tokenise, run the components in batches of 128, and send the
counts of words, entities and heads back. Both pools are there all the time and take turns with the same
sentences, so that other work on the machine falls on both. Processor time is that of the workers and of
this process. Needs Linux and `pip install esr[enrich]`; `python -m esr.loaders.example_news news.jsonl`
makes documents.
"""

from __future__ import annotations

import argparse
import os
import statistics
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

from esr import loaders
from esr.documents import Document
from esr.documents.enrichment import PARTS
from esr.enrichment import worker_pool
from esr.enrichment.annotator import BATCH_SIZE, installed_model
from esr.enrichment.enricher import Enricher

COMPONENTS = {
    PARTS: ("tagger", "parser", "ner"),
    ("features",): ("tagger", "ner"),
    ("entities",): ("ner",),
    ("parse",): ("parser",),
}
SHARED = ("tok2vec", "tagger", "parser")
ALL = (*SHARED, "ner", "attribute_ruler", "lemmatizer")


class Took(NamedTuple):
    seconds: float
    processor: float


class Peer(NamedTuple):
    processes: ProcessPoolExecutor
    work: Callable[[Sequence[Document]], int]

    def turn(self, documents: Sequence[Document]) -> Took:
        processor, started = self._processor(), time.perf_counter()
        done = self.work(documents)
        took = Took(time.perf_counter() - started, self._processor() - processor)
        assert done == _sentences(documents)
        return took

    def _processor(self) -> float:
        """Seconds of the workers and of this process."""
        ticks = 0
        for number in self.processes._processes:
            fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK") + time.process_time()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("documents")
    options.add_argument("--turns", type=int, default=12)
    options.add_argument("--sentences", type=int, default=1000, help="a turn")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--parts", choices=PARTS, help="one of them; default: all three")
    given = options.parse_args()
    parts = (given.parts,) if given.parts else PARTS
    source = (located.document for located in loaders.read_documents([given.documents]))
    turns = list(islice(_turns(source, given.sentences), given.turns + 1))
    with _bare(COMPONENTS[parts], given.workers) as bare, _esr(parts, given.workers) as own:
        took = [_both(bare, own, documents, number) for number, documents in enumerate(turns)][1:]
    count = sum(map(_sentences, turns[1:]))
    print(f"{count:,} sentences in {len(took)} turns, {given.workers} workers, {', '.join(parts)}")
    for name, times in zip(("spaCy", "esr"), zip(*took, strict=True), strict=True):
        rates = [_sentences(turn) / each.seconds for turn, each in zip(turns[1:], times, strict=True)]
        processor = 1000 * sum(each.processor for each in times) / count
        print(f"{name:6} {statistics.median(rates):6.1f} sentences/s  {processor:.2f} ms of processor each")
    for what in Took._fields:
        ratios = sorted(getattr(a, what) / getattr(b, what) for a, b in took)
        print(
            f"rate of esr over spaCy's by {what}: median {statistics.median(ratios):.3f}, "
            f"from {ratios[0]:.3f} to {ratios[-1]:.3f}"
        )


def _both(bare: Peer, own: Peer, documents: Sequence[Document], number: int) -> tuple[Took, Took]:
    if number % 2:
        return bare.turn(documents), own.turn(documents)
    took = own.turn(documents)
    return bare.turn(documents), took


def _turns(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    turn: list[Document] = []
    for document in documents:
        turn.append(document)
        if _sentences(turn) >= size:
            yield turn
            turn = []


def _sentences(documents: Sequence[Document]) -> int:
    return sum(len(document.sentences) for document in documents)


@contextmanager
def _esr(parts: tuple[str, ...], workers: int) -> Iterator[Peer]:
    context = get_context("spawn")
    setup = Enricher(parts), context.Barrier(workers)
    with ProcessPoolExecutor(workers, context, worker_pool.init_worker, setup) as processes:
        worker_pool.start_workers(processes, workers)

        def work(documents: Sequence[Document]) -> int:
            done = worker_pool.results_in_order(processes, worker_pool.split_into_chunks(documents), workers)
            return sum(len(sentences) for _, result in done for sentences in result)

        yield Peer(processes, work)


@contextmanager
def _bare(components: Sequence[str], workers: int) -> Iterator[Peer]:
    context = get_context("spawn")
    setup = components, context.Barrier(workers)
    with worker_pool.worker_environment(), ProcessPoolExecutor(workers, context, _load, setup) as processes:
        list(processes.map(_count, [["Ready?"]] * workers))

        def work(documents: Sequence[Document]) -> int:
            # The chunks of the other side, to start with.
            chunks = [
                [s.text for d in some for s in d.sentences]
                for some in worker_pool.split_into_chunks(documents)
            ]
            return sum(map(len, processes.map(_count, chunks)))

        yield Peer(processes, work)


_nlp: Language
"""The pipeline of a process, once `_load` has loaded it."""


def _load(components: Sequence[str], all_loaded: Barrier) -> None:
    global _nlp
    wanted = {*components, "tok2vec"} if set(SHARED) & set(components) else set(components)
    _nlp = spacy.load(installed_model(), exclude=[name for name in ALL if name not in wanted])
    all_loaded.wait()


def _count(texts: Sequence[str]) -> list[tuple[int, int, bytes]]:
    docs = _nlp.pipe(texts, batch_size=BATCH_SIZE)
    return [(len(doc), len(doc.ents), doc.to_array("HEAD").tobytes()) for doc in docs]


if __name__ == "__main__":
    main()
