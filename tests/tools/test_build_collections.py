"""The collections of the results are built from published files, and the judged news fit the demo."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from esr.cli.main import main as esr
from esr.loaders import read_documents
from esr.loaders.example_news import Unreachable, fetch
from esr.topics import read_topics
from tools import build_collections
from tools.build_collections import (
    PUBLISHED,
    RECIPES,
    SAMPLE_SIZE,
    build_claims,
    build_questions,
    choose_topics,
    list_published,
    main,
    write,
)

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "collections"
JUDGED = ROOT / "examples" / "judged-news"


def split(text: str) -> Iterator[tuple[int, int]]:
    return ((match.start(), match.end()) for match in re.finditer(r"[^ .][^.]*\.", text))


def paragraph(text: str, *questions: dict[str, object]) -> dict[str, object]:
    return {"context": text, "qas": list(questions)}


def question(id: str, *begins: int, **others: object) -> dict[str, object]:
    return {"id": id, "question": "Who  came?", "answers": [{"answer_start": n} for n in begins], **others}


def squad(title: str, *paragraphs: dict[str, object]) -> dict[str, object]:
    return {"data": [{"title": title, "paragraphs": list(paragraphs)}]}


FERRY = "A ferry came.  Ida  left."


def test_the_sentence_in_which_an_answer_begins_is_relevant() -> None:
    built = build_questions(
        [("p-", squad("Port,_Old_(Town)", paragraph(FERRY, question("q", 2, 15))))], split
    )
    assert built.documents == [
        {
            "id": "p-Port_Old_Town.p0",
            "title": "Port, Old (Town)",
            "group": "p-Port_Old_Town",
            "sentences": [
                {"id": "p-Port_Old_Town.p0.s0", "text": "A ferry came."},
                {"id": "p-Port_Old_Town.p0.s1", "text": "Ida left."},
            ],
        }
    ]
    assert built.topics == ["p-q\tWho came?"]
    assert built.qrels == ["p-q 0 p-Port_Old_Town.p0.s0 1", "p-q 0 p-Port_Old_Town.p0.s1 1"]


def test_a_paragraph_of_two_files_is_one_document_with_the_questions_of_both() -> None:
    again = squad("Port", paragraph(f"{FERRY} ", question("b", 2)))
    built = build_questions([("", squad("Port", paragraph(FERRY, question("a", 2)))), ("", again)], split)
    assert len(built.documents) == 1
    assert built.qrels == ["a 0 Port.p0.s0 1", "b 0 Port.p0.s0 1"]


def test_a_question_without_an_answer_is_no_topic() -> None:
    questions = (question("a"), question("b", 2, is_impossible=True))
    assert build_questions([("", squad("Port", paragraph(FERRY, *questions)))], split).topics == []


CLAIM = {
    "label": "supported",
    "claim": "A ferry\ncame.",
    "meta": {"id": "dev1"},
    "evidence": [
        *("(meta data) TITLE: Ferry  news", "(meta data) AUTHOR: Ida", "A ferry  came.", " ", "It left."),
        *("(meta data) TITLE: Other", "Nothing."),
    ],
    "supporting_sentences": [[2], [2, 4]],
}


def test_a_claim_judges_every_sentence_of_its_pages() -> None:
    built = build_claims([CLAIM])
    first, second = (document["id"] for document in built.documents)
    assert first == "WC-" + hashlib.sha1(b"Ferry news|A ferry came.\nIt left.").hexdigest()[:10]
    assert [document["title"] for document in built.documents] == ["Ferry news", "Other"]
    assert built.topics == ["dev1\tA ferry came."]
    assert built.qrels == [f"dev1 0 {first}.s0 1", f"dev1 0 {first}.s1 1", f"dev1 0 {second}.s0 0"]


@pytest.mark.parametrize("change", [{"label": "not_supported"}, {"supporting_sentences": [[0]]}])
def test_a_claim_without_support_is_no_topic_but_keeps_its_pages(change: dict[str, object]) -> None:
    built = build_claims([CLAIM | change])
    assert (len(built.documents), built.topics, built.qrels) == (2, [], [])


def test_esr_reads_what_is_written(tmp_path: Path) -> None:
    write(build_claims([CLAIM]), tmp_path / "claims")
    documents = list(read_documents([str(tmp_path / "claims/docs.jsonl.gz")]))
    assert [len(found.document.sentences) for found in documents] == [2, 1]
    assert [topic.id for topic in read_topics(tmp_path / "claims/sample/topics.tsv")] == ["dev1"]
    with gzip.open(tmp_path / "claims/sample/qrels.txt.gz", "rt") as lines:
        assert len(list(lines)) == 3


def test_the_sample_has_only_topics_with_a_relevant_sentence() -> None:
    topics = [f"t{n}\tferry" for n in range(1000)]
    sample = choose_topics(topics, [f"t{n} 0 d {n % 2}" for n in range(1000)])
    assert len(sample) == SAMPLE_SIZE == len(set(sample))
    assert all(int(topic.split("\t")[0][1:]) % 2 for topic in sample)


def test_a_file_that_is_missing_or_differs_is_named_with_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = next(file.address for file in PUBLISHED if file.name == "dev.jsonl")
    for expected in ("cannot be read", "other contents"):
        with pytest.raises(SystemExit) as ended:
            main([str(tmp_path), str(tmp_path / "out"), "--only", "wice-dev"])
        message = capsys.readouterr().err
        assert ended.value.code == 1 and expected in message and address in message
        (tmp_path / "dev.jsonl").write_text("{}")
    assert not (tmp_path / "out").exists()


def test_every_file_has_a_fixed_address_and_a_licence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == list(list_published())
    for line in lines:
        name, address, licence = line.split("\t")
        assert licence and re.fullmatch(rf"https://.+/[0-9a-f]{{40}}/.*{re.escape(name)}", address)
    used = {name for recipe in RECIPES.values() for _, name in recipe.files}
    assert used < {file.name for file in PUBLISHED}


@pytest.mark.parametrize("name", list(RECIPES))
def test_the_digests_are_those_of_the_collections_of_the_results(name: str) -> None:
    if not (SHARED / name).is_dir():
        pytest.skip(
            f"the collection {name} is not there: it would be in shared/collections beside the project"
        )
    docs, qrels = (
        gzip.decompress((SHARED / name / f).read_bytes()) for f in ("docs.jsonl.gz", "qrels.txt.gz")
    )
    topics = (SHARED / name / "topics.tsv").read_bytes()
    assert RECIPES[name][1:] == tuple(hashlib.sha256(part).hexdigest() for part in (docs, topics, qrels))


def test_what_is_built_is_compared_with_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_collections, "build", lambda name, sources: build_claims([CLAIM]))
    with pytest.raises(SystemExit):
        main([str(tmp_path), str(tmp_path / "out")])
    assert "differs from the collection of docs/results.md" in capsys.readouterr().err


# The judged news of the demonstration


def read_sentences() -> dict[str, str]:
    lines = (JUDGED / "sentences.jsonl").read_text("utf-8").splitlines()
    return {sentence["id"]: sentence["text"] for sentence in map(json.loads, lines)}


def test_every_judged_sentence_has_its_text_and_every_topic_its_judgements() -> None:
    judged = [line.split() for line in (JUDGED / "qrels.txt").read_text().splitlines()]
    topics = [topic.id for topic in read_topics(JUDGED / "topics.tsv")]
    assert len(topics) == 60 and {topic for topic, *_ in judged} == set(topics)
    assert {sentence for _, _, sentence, _ in judged} == read_sentences().keys()


@pytest.mark.slow
def test_the_commands_of_the_docs_measure_the_judged_news(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/collections.md").read_text("utf-8").partition("## The judged news")[2]
    block = re.search(r"^```sh\n(.*?)^```", page, re.M | re.S)
    assert block
    by_document: dict[str, list[dict[str, str]]] = defaultdict(list)
    for id, text in read_sentences().items():
        by_document[id.rpartition(".")[0]].append({"id": id, "text": text})
    documents = [{"id": id, "sentences": sentences} for id, sentences in by_document.items()]
    (tmp_path / "news.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in documents), "utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    outputs = []
    for line in block[1].splitlines():
        result = CliRunner().invoke(esr, shlex.split(line)[1:])
        assert result.exit_code == 0, result.output
        outputs.append(result.output)
    assert "nDCG@5" in outputs[-1] and re.search(r"^2si +60 ", outputs[-1], re.M)


@pytest.mark.endurance
def test_the_judged_sentences_are_those_of_the_demonstration() -> None:
    try:
        news = fetch()
    except Unreachable as error:
        pytest.skip(str(error))
    texts = {
        f"{found.document.id}.s{n}": sentence.text
        for found in read_documents([str(news)])
        for n, sentence in enumerate(found.document.sentences)
    }
    sentences = read_sentences()
    assert {id: texts.get(id) for id in sentences} == sentences
