"""`kill -9` of a load at any moment."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from esr.folder.index import EmbeddedIndex
from tests.support.endurance import rounds
from tests.support.folder_index import document, indexed_ids, load
from tests.support.processes import ForkedProcess, run_esr

SMALL_SEGMENTS = {"esr.folder.write.segment_writer:FULL_TERMS": 2500}
DOCUMENTS, SENTENCES = 600, 8
KILLS = rounds(20)


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = random.Random(3)
    file = tmp_path_factory.mktemp("news") / "news.jsonl"
    with file.open("w") as lines:
        for n in range(DOCUMENTS):
            texts = [" ".join(f"w{rng.randrange(4000)}" for _ in range(12)) for _ in range(SENTENCES)]
            lines.write(json.dumps({"id": f"n{n}", "sentences": [{"text": text} for text in texts]}) + "\n")
    return file


NEWS_IDS = [f"n{n}.s{m}" for n in range(DOCUMENTS) for m in range(SENTENCES)]


def start(news: Path, where: Path, if_exists: str) -> ForkedProcess:
    options = ["--index", where, "--if-exists", if_exists, "--keep", "0"]
    return ForkedProcess(run_esr, ["load", news, *options], SMALL_SEGMENTS)


@pytest.mark.endurance
@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_killed_load_leaves_the_last_commit_and_can_be_repeated(
    tmp_path: Path, news: Path, if_exists: str
) -> None:
    before = ["old.s0", "old.s1"]
    after = [*before, *NEWS_IDS] if if_exists == "append" else NEWS_IDS
    analyzer = None  # the default, as the command line takes it
    load(tmp_path / "timed", [document("old", "storm", "flood")], analyzer=analyzer)
    started = time.perf_counter()
    start(news, tmp_path / "timed", if_exists).finish()
    duration = time.perf_counter() - started
    assert EmbeddedIndex(str(tmp_path / "timed")).status()["segments"] > 10

    rng = random.Random()
    unfinished = 0
    for attempt in range(KILLS):
        where = tmp_path / f"index{attempt}"
        load(where, [document("old", "storm", "flood")], analyzer=analyzer)
        loader = start(news, where, if_exists)
        if attempt % 2:
            time.sleep(rng.uniform(0.1, 1.1) * duration)
        else:  # in the middle of a segment, however fast the machine is
            segments = rng.randrange(1, 20)
            while loader.is_running and len(list((where / "segments").iterdir())) <= segments:
                time.sleep(0.001)
        loader.kill()
        ids = indexed_ids(where)
        assert ids in (before, after)
        unfinished += ids == before and len(list((where / "segments").iterdir())) > 1
        start(news, where, if_exists).finish()
        assert indexed_ids(where) == after
        segments = EmbeddedIndex(str(where)).status()["segments"]
        assert len(list((where / "segments").iterdir())) == segments, "what the killed load left is deleted"
    assert unfinished, "no load was killed in the middle: the test shows nothing"


@pytest.mark.endurance
def test_a_killed_first_load_can_be_repeated(tmp_path: Path, news: Path) -> None:
    for segments in (0, 1, 7):
        where = tmp_path / f"index{segments}"
        loader = start(news, where, "fail")
        while loader.is_running and len(list(where.glob("segments/*"))) < segments:
            time.sleep(0.001)
        while not segments and loader.is_running and not where.exists():
            pass  # the very first moment
        loader.kill()
        if not (where / "esr-index.json").exists() or indexed_ids(where) == []:
            start(news, where, "fail").finish()
        assert indexed_ids(where) == NEWS_IDS
