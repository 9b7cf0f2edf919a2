"""`esr search`, `explain`, `status` and `query`: what they print."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from esr import encoders, features, loaders, models
from esr.models.priors import PRIORS
from esr.ranking import boosts
from esr.ranking.answers import COLUMNS
from esr.text.analyzer import get_analyzer
from esr.text.analyzer_definitions import BY_LANGUAGE, DEFAULT_ANALYZER, all_definitions
from tests.cli.conftest import Esr
from tests.support.web_servers import slow_cross_encoder


@pytest.fixture
def news(esr: Esr, tmp_path: Path) -> Path:
    """An index of three documents with everything that can be filtered by."""
    lines = [
        {
            "id": "a",
            "title": "Weather",
            "date": "2017-01-05",
            "source": "x.org",
            "text": "A storm. It rained. Calm.",
        },
        {"id": "b", "date": "2017-02-28T20:00:00Z", "source": "y.org", "sentences": [{"text": "A storm."}]},
        {"id": "c", "sentences": [{"id": "own", "text": "storm storm"}, {"text": ""}]},
    ]
    source = tmp_path / "news.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", source, "--index", tmp_path / "news").exit_code == 0
    return tmp_path / "news"


def ids(esr: Esr, *args: object) -> list[str]:
    result = esr("search", *args, "--json")
    assert result.exit_code == 0, result.output
    return [hit["sentence_id"] for hit in json.loads(result.stdout)["hits"]]


def test_hits_are_shown_with_their_neighbours_title_source_and_date(esr: Esr, news: Path) -> None:
    output = esr("search", "rain", "--index", news, "--candidates", "matching").stdout
    assert "a.s1" in output
    assert "Weather · x.org · 2017-01-05" in output
    assert "… A storm." in output and "It rained." in output and "Calm. …" in output
    assert output.splitlines()[-1].startswith("1 of 1 candidates, ")


def test_a_title_that_is_a_whole_text_is_cut(esr: Esr, tmp_path: Path) -> None:
    title = "budget " * 150_000
    source, index = tmp_path / "news.jsonl", tmp_path / "long"
    source.write_text(json.dumps({"id": "a", "title": title, "text": "A storm."}))
    assert len(esr("load", source, "--dry-run").output) < 2_000
    esr("load", source, "--index", index)
    assert len(esr("search", "storm", "--index", index).output) < 2_000
    hit = json.loads(esr("search", "storm", "--index", index, "--json").stdout)["hits"][0]
    assert hit["title"] == title


def test_a_query_for_what_somebody_said_names_the_command_that_lists_it(esr: Esr, tmp_path: Path) -> None:
    quote = {"start": 0, "end": 14, "speaker": "Theresa May", "name": "theresa may", "cue": "said"}
    text = '"Storms come," Theresa May said.'
    source, index = tmp_path / "news.jsonl", tmp_path / "an index"
    source.write_text(json.dumps({"id": "a", "sentences": [{"text": text, "quotes": [quote]}]}))
    esr("load", source, "--index", index)
    told = esr("search", "what did Theresa May say about storms", "--index", index).stderr
    (command,) = re.findall("What Theresa May said about storms: esr (.+)", told)
    assert "Storms come" in esr(*shlex.split(command)).stdout


def test_unseen_words_are_reported_beside_the_answer(esr: Esr, news: Path) -> None:
    result = esr("search", "storm volcano", "--index", news)
    assert result.exit_code == 0
    assert result.stderr == "No sentence has volcano; without it:\n"
    nothing = esr("search", "volcano", "--index", news)
    assert nothing.exit_code == 0
    assert "Nothing matched." in nothing.stdout and "0 of 0 candidates" in nothing.stdout


def test_only_json_goes_to_standard_output(esr: Esr, news: Path) -> None:
    result = esr("search", "storm volcano", "--index", news, "-k", 2, "--json")
    data = json.loads(result.stdout)
    assert (len(data["hits"]), data["total"], data["unseen"]) == (2, 5, ["volcano"])
    assert data["hits"][0]["score"] >= data["hits"][1]["score"]
    assert result.stderr == ""


def test_the_sentence_can_be_told_from_its_neighbours_in_a_pipe(esr: Esr, news: Path) -> None:
    lines = esr("search", "rain", "--index", news, "-k", 1).stdout.splitlines()
    assert lines[2:5] == ["     … A storm.", "   > It rained.", "     Calm. …"]


def test_all_lines_of_a_long_sentence_are_marked(esr: Esr, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "a", "text": "storm " * 40}))
    esr("load", tmp_path / "x.jsonl", "--index", tmp_path / "i")
    lines = esr("search", "storm", "--index", tmp_path / "i").stdout.splitlines()
    assert [line.startswith("   > storm") for line in lines[1:4]] == [True, True, True]


@pytest.fixture
def odd(esr: Esr, tmp_path: Path) -> Path:
    """An index of a sentence with what tables have for their own purposes."""
    document = {"id": "a", "title": '-1, "x"', "sentences": [{"text": '=storm\t"now",\nthen'}]}
    (tmp_path / "x.jsonl").write_text(json.dumps(document))
    esr("load", tmp_path / "x.jsonl", "--index", tmp_path / "i")
    return tmp_path / "i"


def test_csv_has_the_columns_of_the_page_and_no_formula(esr: Esr, odd: Path) -> None:
    result = esr("search", "storm volcano", "--index", odd, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(result.stdout, newline=""))
    assert tuple(row) == COLUMNS
    assert (row["rank"], row["sentence_id"], row["position"], row["date"]) == ("1", "a.s0", "0", "")
    assert (row["text"], row["title"]) == ('\'=storm\t"now",\nthen', '\'-1, "x"')
    assert result.stderr == "No sentence has volcano; without it:\n"


def test_tsv_has_one_line_for_each_sentence_and_no_quotes(esr: Esr, odd: Path) -> None:
    header, line = esr("search", "storm", "--index", odd, "--format", "tsv").stdout.splitlines()
    row = dict(zip(header.split("\t"), line.split("\t"), strict=True))
    assert tuple(row) == COLUMNS
    assert (row["text"], row["title"], row["url"]) == ('=storm "now", then', '-1, "x"', "")
    assert float(row["score"]) == scores(esr, odd)["a.s0"]


def test_json_has_two_names_and_excludes_other_formats(esr: Esr, esr_error: Esr, news: Path) -> None:
    one, two = (
        esr("search", "storm", "--index", news, *option) for option in (["--json"], ["--format", "json"])
    )
    assert json.loads(one.stdout)["hits"] == json.loads(two.stdout)["hits"]
    line = esr_error("search", "storm", "--index", news, "--json", "--format", "csv")
    assert line == "--format csv and --json exclude each other: leave one out"


def test_an_empty_sentence_is_shown_as_one(esr: Esr, tmp_path: Path) -> None:
    line = {"id": "c", "source": "z.org", "sentences": [{"text": "storm storm"}, {"text": ""}]}
    (tmp_path / "x.jsonl").write_text(json.dumps(line))
    esr("load", tmp_path / "x.jsonl", "--index", tmp_path / "i")
    output = esr("search", "source:z.org", "--index", tmp_path / "i", "--no-passages").output
    assert "(an empty sentence)" in output and "c.s1" in output


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--from", "2017-02"], ["b.s0"]),
        (["--to", "2017-01"], ["a.s0"]),
        (["--after", "2017-01", "--before", "2017-03"], ["a.s0", "b.s0"]),
        (["--to", "2017-02-28T19:59"], ["a.s0"]),
        (["--source", "y.org", "--source", "x.org"], ["a.s0", "b.s0"]),
        (["--document", "c", "--document", "b"], ["own", "b.s0"]),
        (["--document", "c", "--source", "x.org"], []),
    ],
)
def test_filters_choose_documents(esr: Esr, news: Path, filters: list[str], expected: list[str]) -> None:
    options = ["--index", news, "--model", "tfisf", "--no-fold", *filters]
    assert sorted(ids(esr, "storm", *options)) == sorted(expected)


def test_only_what_is_new_is_listed_the_oldest_first(esr: Esr, news: Path) -> None:
    assert ids(esr, "storm", "--index", news, "--novel") == ["a.s0"]
    assert ids(esr, "storm OR rain", "--index", news, "--novel") == ["a.s0", "a.s1"]
    assert ids(esr, "storm", "--index", news, "--novel", "--from", "2017-02") == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--overlap", "0.7", "--no-fold"], "--overlap says what repeats another: give it with --novel"),
        (["--novel", "--sort", "date"], "--novel lists from the oldest on, and so has no --sort date"),
        (["--novel", "--overlap", "0.2"], "0.2 is not in the range 0.5<=x<=1.0"),
    ],
)
def test_options_of_what_is_new_that_do_not_fit_are_refused(
    esr: Esr, news: Path, options: list[str], said: str
) -> None:
    result = esr("search", "storm", "--index", news, *options)
    assert result.exit_code == 2 and said in result.output


def test_the_index_may_come_from_the_environment(
    esr: Esr, news: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESR_INDEX", str(news))
    assert ids(esr, "rain", "--candidates", "matching") == ["a.s1"]


def scores(esr: Esr, news: Path, *options: object) -> dict[str, float]:
    result = esr("search", "storm", "--index", news, *options, "--json")
    assert result.exit_code == 0, result.output
    return {hit["sentence_id"]: hit["score"] for hit in json.loads(result.stdout)["hits"]}


def test_options_take_precedence_over_the_ranking_file(esr: Esr, news: Path, tmp_path: Path) -> None:
    def ranking(**data: Any) -> Path:
        (tmp_path / "ranking.json").write_text(json.dumps(data))
        return tmp_path / "ranking.json"

    full = {
        "model": "2s",
        "context": "surrounding",
        "params": {"mu": 8, "lambda": 0.5},
        "priors": {"length": 2},
    }
    by_options = ["--model", "2s", "--context", "surrounding", "--set", "mu=8", "--set", "lambda=0.5"]
    assert scores(esr, news, "--ranking", ranking(**full)) == scores(
        esr, news, *by_options, "--prior", "length:2"
    )
    changed = ["--ranking", ranking(**full), "--set", "mu=50", "--context", "document", "--prior", "length"]
    assert scores(esr, news, *changed) == scores(
        esr, news, "--model", "2s", "--set", "mu=50", "--set", "lambda=0.5", "--prior", "length"
    )
    # Another model has other parameters: those of the file go, its priors stay.
    other = scores(esr, news, "--ranking", ranking(**full), "--model", "dir")
    assert other == scores(esr, news, "--model", "dir", "--prior", "length:2")
    # The same model named again changes nothing.
    assert scores(esr, news, "--ranking", ranking(**full), "--model", "2s") == scores(
        esr, news, "--ranking", ranking(**full)
    )


def test_an_explanation_adds_up_to_the_score_of_the_search(esr: Esr, news: Path) -> None:
    for options in ([], ["--model", "bm25f"], ["--prior", "importance:0.5", "--prior", "length"]):
        for sentence, score in scores(esr, news, *options).items():
            result = esr("explain", "storm", sentence, "--index", news, *options, "--json")
            data = json.loads(result.stdout)
            assert data["score"] == pytest.approx(score, rel=1e-12)
            fields = [f["adds"] for term in data["terms"] for f in term["fields"].values()]
            background = [term["background"] for term in data["terms"]]
            rest = [data["length"], *(prior["adds"] for prior in data["priors"])]
            assert sum(fields + background + rest) == pytest.approx(score, rel=1e-9)


def test_an_explanation_is_a_table_for_people(esr: Esr, news: Path) -> None:
    output = esr("explain", "storm volcano", "own", "--index", news, "--prior", "length").stdout
    lines = output.splitlines()
    assert lines[0] == "own  storm storm"
    assert lines[2].split()[:3] == ["term", "weight", "p(t|C)"]
    assert lines[-1] == "In no document: volcano."
    assert [line.split()[0] for line in lines[3:-1]] == ["storm", "length", "prior", "score"]
    adds = [float(line.split()[-1]) for line in lines[3:-1]]
    assert sum(adds[:-1]) == pytest.approx(adds[-1], abs=2e-4)


def test_a_sentence_without_a_score_is_explained_in_valid_json(esr: Esr, news: Path) -> None:
    options = ["--prior", "length", "--rerank", "dir", "--json"]
    text = esr("explain", "storm", "c.s1", "--index", news, *options).stdout
    explanation = json.loads(text, parse_constant=pytest.fail)
    assert explanation["score"] is None and explanation["second"]["score"] is None


def test_the_status_shows_the_counts(esr: Esr, news: Path) -> None:
    data = json.loads(esr("status", "--index", news, "--json").stdout)
    assert (data["engine"], data["documents"], data["sentences"]) == ("embedded", 3, 6)
    assert (data["analyzer"], data["title"], data["where"]) == ("english-stem", True, str(news))
    assert data["size_bytes"] > 0
    output = esr("status", "--index", news).stdout
    assert all(name.replace("_", " ") in output for name in data)


def test_a_request_for_elasticsearch_needs_its_index(esr_error: Esr, news: Path) -> None:
    assert "only http(s)://host:port/alias of Elasticsearch" in esr_error("query", "storm", "--index", news)


def test_repeats_are_folded_in_every_format_unless_told_otherwise(esr: Esr, tmp_path: Path) -> None:
    said = "The storm took the old bridge over the river near the northern town"
    texts = [f"{said}, police said.", f"{said}, police said again.", "A bridge was built."]
    lines = [json.dumps({"id": f"d{n}", "text": text}) for n, text in enumerate(texts)]
    (tmp_path / "news.jsonl").write_text("\n".join(lines))
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "folded")
    call = ("search", "bridge river", "--index", tmp_path / "folded", "--candidates", "matching")
    hits = json.loads(esr(*call, "--json").stdout)["hits"]
    assert {hit["document_id"] == "d2": len(hit["folded"]) for hit in hits} == {True: 0, False: 1}
    assert len(esr(*call, "--format", "tsv").stdout.splitlines()) == 1 + 2
    (repeat,) = (each["sentence_id"] for hit in hits for each in hit["folded"])
    assert f"1 more says the same: {repeat}" in esr(*call).stdout
    plain = json.loads(esr(*call, "--json", "--no-fold").stdout)["hits"]
    assert [hit["folded"] for hit in plain] == [[], [], []]
    assert "give it with --novel or without --no-fold" in esr(*call, "--no-fold", "--overlap", "0.9").stderr


# The query language on the command line: what is found, what is said, how it is switched off.


SENTENCES = [
    "The White House burned.",
    "A house is white.",
    "Climate models of the White House.",
    "Storms and the climatic change.",
]


@pytest.fixture
def words_of_news(esr: Esr, tmp_path: Path) -> Path:
    lines = [
        {"id": "a", "title": "Fire", "source": "BBC", "sentences": [{"text": text} for text in SENTENCES]},
        {"id": "b", "source": "AP", "date": "2017-03-05", "text": "The white house again."},
    ]
    (tmp_path / "news.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "news").exit_code == 0
    return tmp_path / "news"


def sentence_ids(esr: Esr, news: Path, *args: str) -> set[str]:
    result = esr(
        "search", *args, "--index", news, "--candidates", "matching", "--no-fold", "--no-passages", "--json"
    )
    assert result.exit_code == 0, result.output
    return {hit["sentence_id"] for hit in json.loads(result.stdout)["hits"]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("white house", {"a.s0", "a.s1", "a.s2", "b.s0"}),
        ('"white house"', {"a.s0", "a.s2", "b.s0"}),
        ('"house white"', set()),
        ('"white house" -climate', {"a.s0", "b.s0"}),
        ("climat*", {"a.s2", "a.s3"}),
        ("white source:bbc", {"a.s0", "a.s1", "a.s2"}),
        ("house after:2017-03", {"b.s0"}),
        ("title:fire storm", {"a.s3"}),
    ],
)
def test_a_query_lets_through_what_it_says(
    esr: Esr, words_of_news: Path, query: str, expected: set[str]
) -> None:
    assert sentence_ids(esr, words_of_news, query) == expected


def test_every_word_can_be_required(esr: Esr, words_of_news: Path) -> None:
    assert sentence_ids(esr, words_of_news, "white climate", "--require", "all") == {"a.s2"}


def test_the_language_can_be_switched_off(esr: Esr, words_of_news: Path) -> None:
    assert sentence_ids(esr, words_of_news, '"white house" -climate', "--literal") == {
        "a.s0",
        "a.s1",
        "a.s2",
        "a.s3",
        "b.s0",
    }


def test_it_is_said_how_a_query_was_read(esr: Esr, words_of_news: Path) -> None:
    result = esr("search", 'the "white house" -climate "hail', "--index", words_of_news)
    assert result.stderr.splitlines() == [
        "No sentence has hail; without it:",
        "required: “white house” · excluded: climate · ignored: the",
        "Character 28: This quotation mark has no effect: close it at the end of the phrase.",
    ]


def test_plain_words_need_no_comment(esr: Esr, words_of_news: Path) -> None:
    assert esr("search", "white climate", "--index", words_of_news).stderr == ""


def test_sentences_with_all_words_and_with_any_are_counted(esr: Esr, words_of_news: Path) -> None:
    counts = esr(
        "search", "white climate", "--index", words_of_news, "--no-fold", "--no-passages"
    ).stdout.splitlines()[-1]
    assert counts.startswith("5 of 5 candidates, 1 sentence with all words, 5 with any, ")
    one = esr("search", "white", "--index", words_of_news, "--no-fold", "--no-passages").stdout.splitlines()[
        -1
    ]
    assert one.startswith("5 of 5 candidates, 4 sentences with the word, ")


def test_json_has_what_was_understood_with_its_places(esr: Esr, words_of_news: Path) -> None:
    query = json.loads(esr("search", '+white -"the house"', "--index", words_of_news, "--json").stdout)[
        "query"
    ]
    assert query == {
        "groups": [
            {
                "reading": "required",
                "start": 0,
                "end": 6,
                "clauses": [{"field": "text", "form": "word", "text": "white"}],
                "expression": None,
                "reason": None,
            },
            {
                "reading": "excluded",
                "start": 7,
                "end": 19,
                "clauses": [{"field": "text", "form": "phrase", "text": "the house"}],
                "expression": None,
                "reason": None,
            },
        ],
        "notes": [],
        "matching": 4,
        "all_words": 4,
        "any_word": 4,
        "suggestions": [],
        "corrected": None,
        "quoted": None,
        "language": None,
        "other_languages": [],
        "found_languages": [],
    }


def test_an_unknown_source_is_told_with_the_nearest(esr: Esr, words_of_news: Path) -> None:
    result = esr("search", "white source:bbcc", "--index", words_of_news)
    assert result.exit_code == 0
    assert "unknown source 'bbcc': did you mean 'BBC'?" in result.stderr


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("NOT white", "the query only excludes: give at least one word to search for"),
        ("the of", "the query has only stop words"),
    ],
)
def test_a_query_that_asks_for_nothing_is_refused(
    esr: Esr, words_of_news: Path, query: str, problem: str
) -> None:
    result = esr("search", query, "--index", words_of_news)
    assert result.exit_code != 0
    assert problem in result.stderr


def test_topics_are_plain_words_unless_syntax_is_asked_for(
    esr: Esr, words_of_news: Path, tmp_path: Path
) -> None:
    (tmp_path / "topics.tsv").write_text('q\t"white house" -climate\n')
    command = (
        "run",
        tmp_path / "topics.tsv",
        "--index",
        words_of_news,
        "--candidates",
        "matching",
        "-o",
        "-",
    )
    literal, syntax = esr(*command).stdout, esr(*command, "--syntax").stdout
    assert [len(text.splitlines()) for text in (literal, syntax)] == [5, 2]


def test_a_sentence_is_explained_by_the_same_query(esr: Esr, words_of_news: Path) -> None:
    result = esr("explain", '"white house" -climate', "a.s0", "--index", words_of_news, "--json")
    condition = json.loads(result.stdout)["plan"]["condition"]
    assert condition == {
        "is": "AllOf",
        "conditions": [
            {"is": "HasWords", "words": ["white", "house"], "field": "sentence"},
            {"is": "Not", "condition": {"is": "HasTerm", "term": "climat"}},
        ],
    }


KNOWN = {
    "models": models.MODELS,
    "priors": PRIORS,
    "features": features.FEATURES,
    "boosts": boosts.BOOSTS,
    "encoders": {**encoders.KNOWN, **encoders.HUB_MODELS},
    "analyzers": [*all_definitions(), BY_LANGUAGE],
    "formats": loaders.FORMATS,
}


@pytest.mark.parametrize("command", KNOWN)
def test_a_list_names_everything_that_is_registered(esr: Esr, command: str) -> None:
    lines = esr(command).output.splitlines()
    names = [line.split(" ")[0] for line in lines if line and not line.startswith(" ")]
    assert names == list(KNOWN[command])
    data = json.loads(esr(command, "--json").stdout)
    assert [entry["name"] for entry in data] == list(KNOWN[command])
    assert all(entry["description"] for entry in data)


def test_models_are_listed_with_their_parameters_and_the_default_is_marked(esr: Esr) -> None:
    output = esr("models").output
    assert "2si (default model)" in output
    for model in models.MODELS.values():
        for parameter in model.parameters:
            assert f"{parameter.name}=" in output and parameter.range in output
    (entry,) = (e for e in json.loads(esr("models", "--json").stdout) if e["name"] == "2si")
    assert {p["name"]: p["default"] for p in entry["parameters"]}["mu"] == 30.0
    assert entry["contexts"][0] == "both"


TEXT = "The U.S. troops won't leave Beyoncé's café"


def test_a_text_becomes_the_terms_of_the_default_analyzer(esr: Esr) -> None:
    assert esr("analyze", TEXT).stdout == "us troop leav beyonc cafe\n"


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("plain", TEXT, "the u s troops won t leave beyoncé s café"),
        ("multilingual", "中国经济", "中国 国经 经济"),
        ("german", "Tuerkei und Türkei", "turkei turkei"),
    ],
)
def test_a_text_becomes_the_terms_of_the_analyzer_that_is_named(
    esr: Esr, name: str, text: str, terms: str
) -> None:
    assert esr("analyze", text, "--analyzer", name).stdout == f"{terms}\n"


def test_an_index_has_its_own_analyzer(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert esr("analyze", "The storms", "--index", index).stdout == "the storms\n"
    monkeypatch.setenv("ESR_INDEX", str(index))
    assert esr("analyze", "The storms").stdout == "the storms\n"
    assert esr("analyze", "The storms", "--analyzer", "english-stem").stdout == "storm\n"


def test_json_has_the_places_of_words(esr: Esr) -> None:
    data = json.loads(esr("analyze", TEXT, "--json").stdout)
    tokens = data.pop("tokens")
    version = get_analyzer("english-stem").version
    assert data == {"analyzer": "english-stem", "version": version, "text": TEXT}
    assert tokens[0] == {"start": 4, "end": 7, "term": "us"}
    assert [TEXT[token["start"] : token["end"]] for token in tokens[3:]] == ["Beyoncé's", "café"]


def test_a_text_without_terms_is_said_to_have_none(esr: Esr) -> None:
    result = esr("analyze", "of the")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert DEFAULT_ANALYZER in result.stderr


def test_an_analyzer_and_an_index_cannot_both_be_given(esr_error: Esr, index: Path) -> None:
    message = esr_error("analyze", "storm", "--index", index, "--analyzer", "plain")
    assert message == "give --analyzer or --index, not both"
    assert "did you mean 'plain'" in str(esr_error("analyze", "storm", "--analyzer", "plainn"))


def test_a_cross_encoder_without_time_says_so_and_a_run_ends(
    esr: Esr, esr_error: Esr, news: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_cross_encoder("slow", monkeypatch, batch=1)
    signal = ("--rerank", "cross:slow:depth=3:seconds=0.05")
    result = esr("search", "storm flood", "--index", news, *signal)
    assert re.search(r"cross-encoder had no time for [12] of the sentences\. They keep", result.stderr)
    (tmp_path / "topics.tsv").write_text("1\tstorm rain flood\n")
    run = ("run", tmp_path / "topics.tsv", "--index", news, "-o", tmp_path / "my.run")
    assert re.match(r"topic 1: the cross-encoder had no time for [12] of", str(esr_error(*run, *signal)))
    assert esr(*run, "--rerank", "cross:slow:depth=3").exit_code == 0


def test_a_query_is_searched_in_the_language_that_it_is_said_to_be_in(esr: Esr, tmp_path: Path) -> None:
    lines = [
        {"id": "de", "language": "de", "text": "Die Banken zahlten."},
        {"id": "en", "language": "en", "text": "The bank pays. They die."},
    ]
    source, where = tmp_path / "news.jsonl", tmp_path / "languages"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert esr("load", source, "--index", where, "--analyzer", "by-language").exit_code == 0
    result = esr("search", "bank", "--index", where, "--query-language", "de", "--format", "tsv")
    assert [line.split("\t")[2] for line in result.stdout.splitlines()[1:]] == ["de.s0"]
    said = (
        "Searched in the language de (all words also occur in: en); choose another with --query-language.\n"
    )
    assert result.stderr == said
    report = json.loads(esr("search", "die", "--index", where, "--json").stdout)["query"]
    assert (report["language"], report["other_languages"]) == ("en", [])
    terms = esr("analyze", "die Banken", "--index", where, "--query-language", "de").stdout
    assert terms == "de|bank\n"


@pytest.mark.parametrize("model", ["2si", "kld"])
def test_the_terms_of_a_search_template_repeat_as_in_the_query(
    esr: Esr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """The model kld divides by the query's length, so its weights are no counts."""
    monkeypatch.setattr("esr.cli.search.requests.search_template", lambda *_: "")
    monkeypatch.setattr("esr.cli.search.store_search_template", lambda *_: "esr-news")
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "A storm took the bridge."}')
    where = tmp_path / "index"
    esr("load", tmp_path / "a.jsonl", "--index", where, "--analyzer", "plain")
    query = "storm bridge storm nowhere"
    result = esr("query", query, "--as", "template", "--model", model, "--index", where)
    assert json.loads(result.stdout)["params"]["terms"] == ["storm", "storm", "bridge"]
