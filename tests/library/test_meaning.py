"""Loads leave an index that ranks by words and meaning, or say what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import esr
from esr.cli.main import main
from esr.errors import UsageError
from esr.index.factory import has_table
from esr.library import meaning
from esr.text.validate import to_json_line
from tests.index.test_meaning_parity import FIRST
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.runs import need

need("tokenizers")
need("scipy")

REFUSED = "ranks by words alone"


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The encoder of loads, which fit a table to ten sentences or more."""
    folder = write_tiny_encoder(tmp_path / "tiny", 24, language="en")
    monkeypatch.setenv("ESR_ENCODER", str(folder))
    monkeypatch.setenv("ESR_MEANING", "yes")
    monkeypatch.setattr(meaning, "LEAST_SENTENCES", 10)
    monkeypatch.setattr(meaning, "count_workers", lambda: 1)
    return folder


@pytest.fixture
def news(tmp_path: Path) -> str:
    file = tmp_path / "news.jsonl"
    file.write_text("".join(f"{to_json_line(document)}\n" for document in FIRST), "utf-8")
    return str(file)


def load(news: str, where: str, *options: str) -> Result:
    analyzer = [] if "--analyzer" in options else ["--analyzer", "english-stem"]
    return CliRunner().invoke(main, ["load", news, "--index", where, *analyzer, *options])


@pytest.mark.usefixtures("encoder")
def test_a_load_fits_a_table_by_default_on_either_engine(news: str, anywhere: str) -> None:
    result = load(news, anywhere)
    assert result.exit_code == 0 and "fitted a table to" in result.output and REFUSED not in result.output
    with esr.open(anywhere) as index:
        assert index.search("storm in the city", 3, ranking="hybrid")
    assert has_table(anywhere)
    again = load(news, anywhere, "--if-exists", "replace", "--json")
    assert again.exit_code == 0 and "fitted" not in again.output, "the table was kept"


@pytest.mark.usefixtures("encoder")
def test_python_loads_fit_a_table_and_refuse_it_in_the_same_terms(news: str, tmp_path: Path) -> None:
    for n, choice in enumerate((None, True, False)):
        where = str(tmp_path / f"index{n}")
        esr.load(where, news, analyzer="english-stem", meaning=choice).close()
        assert has_table(where) is (choice is not False)
    with pytest.raises(UsageError, match="meaning is True or False, not 'no'"):
        esr.load(str(tmp_path / "index"), news, meaning="no")  # type: ignore[arg-type]


def test_what_refuses_a_table(
    encoder: Path, news: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The option, the setting, and, without a word, a small index or one for which vectors are asked."""
    where = str(tmp_path / "index")

    def check(*options: str) -> str:
        result = load(news, where, "--if-exists", "replace", *options)
        assert result.exit_code == 0 and not has_table(where), result.output
        return result.output

    assert REFUSED not in check("--no-meaning")
    monkeypatch.setenv("ESR_MEANING", "no")
    assert REFUSED not in check()
    monkeypatch.setenv("ESR_MEANING", "yes")
    monkeypatch.setattr(meaning, "LEAST_SENTENCES", 10**6)
    assert REFUSED not in check()
    monkeypatch.setattr(meaning, "LEAST_SENTENCES", 10)
    said = check("--analyzer", "german")
    assert f"{REFUSED}: the encoder {encoder} is for en" in said
    monkeypatch.setenv("ESR_MEANING", "off")
    assert load(news, where).output.count("ESR_MEANING is yes or no, not 'off'") == 1
    monkeypatch.setenv("ESR_MEANING", "no")
    assert "fitted a table" in load(news, where, "--if-exists", "replace", "--meaning").output


@pytest.mark.usefixtures("encoder")
def test_a_load_says_which_package_or_encoder_is_missing(
    news: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = str(tmp_path / "index")

    def missing(purpose: str, *modules: str) -> None:
        raise UsageError(f"{purpose} needs scipy, which is not installed: pip install 'esr[meaning]'")

    with monkeypatch.context() as without:
        without.setattr(meaning, "require", missing)
        result = load(news, where)
        assert result.exit_code == 0 and not has_table(where)
        assert result.output.splitlines()[-1] == (
            f"{REFUSED}: ranking by meaning needs scipy, which is not installed: pip install 'esr[meaning]'"
        )
        assert load(news, str(tmp_path / "other"), "--meaning").exit_code == 2
        assert not (tmp_path / "other").exists(), "it is refused before the load"
    monkeypatch.delenv("ESR_ENCODER")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    report = esr.load(where, news, if_exists="replace", analyzer="english-stem").report
    assert report is not None and [note for note in report.notes if note.startswith(REFUSED)] == [
        f"{REFUSED}: the encoder bge-small-en-v1.5 is not on this machine yet: "
        "esr enrich --only table fetches it"
    ]


def test_an_encoder_that_fails_leaves_a_loaded_index(encoder: Path, news: str, tmp_path: Path) -> None:
    (encoder / "model.onnx").write_bytes(b"no model")
    result = load(news, str(tmp_path / "index"))
    assert result.exit_code == 0 and f"{REFUSED}, since no table" in result.output, result.output
    with esr.open(str(tmp_path / "index")) as index:
        assert index.search("storm", 1)
