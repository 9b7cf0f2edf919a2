"""The commands that operate an index: export, indices, rollback, delete, verify, backup, restore, migrate,
status, refresh-priors.

The output of `esr export` makes the same index again.
"""

from __future__ import annotations

import configparser
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from esr import loaders
from esr.cli import main
from esr.cli.operate import format_drifts
from esr.cli.sync import GONE
from esr.folder.format.manifest import FORMAT
from esr.folder.write.maintenance import EmbeddedPriors
from esr.index.generations import Drift, RefreshReport
from esr.index.questions import Records
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.writer import LoadReport
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from esr.text.validate import build_document, checksum, to_fields, to_json_line
from tests.cli.conftest import Esr, call
from tests.index.test_parity import ARTICLES, random_documents
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import index_contents

UNUSUAL = {
    "id": "u",
    "title": 'Überschwemmung\u2028 "Nord"',
    "date": "20240305T10:00:00,5+01:00",
    "source": "S",
    "url": "https://u.example/?a=1&b",
    "language": "de",
    "sentences": [
        {"text": "", "paragraph": 0, "features": {"subj": 0.1, "big": 1e300}},
        {
            "id": "given",
            "text": "A\tflood.",
            "parse": [{"word": "A", "head": 1}, {"word": "flood", "head": -1}],
        },
        {"text": "𝔘nicode", "features": {"b": -0.0, "a": 3}, "parse": []},
    ],
}


def corpus() -> list[Document]:
    articles = [located.document for located in loaders.read_documents([str(ARTICLES)], "auto")]
    return [
        *articles,
        *random_documents(0, 30, seed=1),
        build_document(UNUSUAL),
        build_document({"id": "bare"}),
    ]


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> object:
    from tests.support.elasticsearch import fresh

    if request.param == "embedded":
        yield str(tmp_path / "index")
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        yield where


@pytest.mark.slow
def test_load_export_load_is_the_identity(esr: Esr, place: str, tmp_path: Path) -> None:
    source, out, second = tmp_path / "in.jsonl", tmp_path / "out.jsonl.gz", tmp_path / "second.jsonl"
    source.write_text("".join(to_json_line(document) + "\n" for document in corpus()))
    assert esr("load", source, "--index", place).exit_code == 0
    assert f"wrote {len(corpus())} documents to" in esr("export", place, "-o", out).stdout
    assert [located.document for located in loaders.read_documents([str(out)])] == corpus()
    before = index_contents(place)
    assert esr("load", out, "--index", place, "--if-exists", "replace").exit_code == 0
    assert index_contents(place) == before
    esr("export", place, "-o", second)
    assert second.read_bytes() == gzip.decompress(out.read_bytes())


def test_found_quotations_are_exported_if_asked_for_and_loaded_again(
    esr: Esr, place: str, tmp_path: Path
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    text = "Theresa May spoke. “We leave now,” Mrs. May said."
    source.write_text(json.dumps({"id": "a", "text": text, "language": "en"}) + "\n")
    esr("load", source, "--index", place, "--enrich-only", "quotes")
    assert "quotes" not in esr("export", place).stdout
    (line,) = esr("export", place, "--quotes").stdout.splitlines()
    quotes = [
        {
            "start": 0,
            "end": 15,
            "speaker": "Mrs. May",
            "name": "theresa may",
            "cue": "said",
            "certainty": "certain",
        }
    ]
    assert [sentence.get("quotes") for sentence in json.loads(line)["sentences"]] == [None, quotes]
    out.write_text(line)
    esr("load", out, "--index", place, "--if-exists", "replace")
    assert esr("export", place).stdout.splitlines() == [line]
    for query in ('speaker:"Theresa May"', "speaker:mrs.may OR is:quote"):
        assert "“We leave now,”" in esr("search", query, "--index", place).stdout
    shown = esr("quotes", "theresa may", "--about", "leave", "--index", place).stdout
    assert "“We leave now,”\n  Mrs. May" in shown and "1 sentence matches" in shown
    listed = json.loads(esr("quotes", "--index", place, "--format", "json").stdout)["quotations"]
    assert [(each["text"], each["name"]) for each in listed] == [("“We leave now,”", "theresa may")]
    assert "Nothing matched" in esr("quotes", "Ann Lee", "--index", place).stdout


def test_computed_features_and_names_are_exported_if_asked_for(esr: Esr, place: str, tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given = [{"text": f"Storm {n}.", "features": {"own": float(n)}} for n in range(4)]
    source.write_text(json.dumps({"id": "a", "sentences": given}) + '\n{"id": "b", "sentences": []}\n')
    esr("load", source, "--index", place)
    plain = esr("export", place).stdout
    with open_searcher(place) as searcher:
        run_enrichment(searcher.index, FakeEnricher())
    assert esr("export", place).stdout == plain
    with open_searcher(place) as searcher:
        records = searcher.index.read([f"a.s{n}" for n in range(4)], Records())
    line, empty = map(json.loads, esr("export", place, "--features", "--names").stdout.splitlines())
    assert empty == {"id": "b", "sentences": []}
    for record, sentence in zip(records, line["sentences"], strict=True):
        assert sentence["features"] == dict(record.features) and sentence["features"].keys() > {
            "own",
            "count",
        }
        assert sentence.get("entities", {}) == {
            type: [*names] for type, names in (record.entities or {}).items()
        }
    assert any("entities" in sentence for sentence in line["sentences"])
    with_features = esr("export", place, "--features").stdout
    assert "entities" not in with_features
    out.write_text(with_features)
    esr("load", out, "--index", place, "--if-exists", "replace")
    assert esr("export", place).stdout == with_features


def test_only_the_export_goes_to_standard_output(esr: Esr, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"id": "a", "text": "A storm. It passed."}\n')
    esr("load", source, "--index", tmp_path / "index")
    (only,) = esr("export", tmp_path / "index").stdout.splitlines()
    sentences = [{"text": "A storm.", "paragraph": 0}, {"text": "It passed.", "paragraph": 0}]
    assert json.loads(only) == {"id": "a", "sentences": sentences}


def test_a_failed_export_leaves_no_file(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("export", tmp_path / "none", "-o", tmp_path / "out.jsonl"))
    assert not (tmp_path / "out.jsonl").exists()


def test_a_checksum_covers_every_field_and_nothing_else() -> None:
    document = build_document(UNUSUAL)
    assert checksum(build_document(json.loads(json.dumps(UNUSUAL)))) == checksum(document)
    reordered = to_fields(document)
    reordered["sentences"][2]["features"] = {"a": 3.0, "b": -0.0}
    assert checksum(build_document(reordered)) == checksum(document), "the order of features is none"
    checksums = {checksum(document)}
    for change in (
        {"title": "T"},
        {"date": None},
        {"source": "T"},
        {"sentences": UNUSUAL["sentences"][:2]},  # type: ignore[index]
        {"sentences": [{"text": "", "features": {"subj": 0.2, "big": 1e300}}, *UNUSUAL["sentences"][1:]]},  # type: ignore[misc]
    ):
        checksums.add(checksum(build_document({**UNUSUAL, **change})))
    assert len(checksums) == 6


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A place that was loaded twice: one document, then two."""
    news = tmp_path / "news.jsonl"
    news.write_text('{"id": "a", "text": "A storm. It passed."}\n')
    assert call("load", news, "--index", tmp_path / "index").exit_code == 0
    news.write_text('{"id": "a", "text": "A storm."}\n{"id": "b", "text": "A flood."}\n')
    replaced = call("load", news, "--index", tmp_path / "index", "--if-exists", "replace")
    assert replaced.exit_code == 0
    return tmp_path / "index"


def listed(where: Path) -> list[dict[str, object]]:
    generations: list[dict[str, object]] = json.loads(call("indices", where, "--json").stdout)
    return generations


def test_a_name_from_a_wrong_clock_is_listed_without_a_time(
    esr: Esr, twice: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = "it orders the loads, and is no time"
    assert note not in esr("indices", twice).stdout
    monkeypatch.setattr("esr.index.generations.CLOCK_TOLERANCE", timedelta(days=-400))
    first, *_, last = esr("indices", twice).stdout.splitlines()[1:]
    assert first.rstrip().endswith("B") and note in last


def test_indices_are_listed_as_a_table_and_as_json(esr: Esr, twice: Path) -> None:
    newest, oldest = listed(twice)
    assert (newest["state"], newest["documents"], newest["sentences"]) == ("serving", 2, 2)
    assert (oldest["state"], oldest["documents"], oldest["sentences"]) == ("kept", 1, 2)
    head, first, second = esr("indices", twice).stdout.splitlines()
    assert head.split() == ["generation", "state", "documents", "sentences", "size", "made"]
    assert first.split()[:4] == [newest["name"], "serving", "2", "2"]
    assert first.split()[-1] == newest["made"]
    assert second.split()[:4] == [oldest["name"], "kept", "1", "2"]


def test_a_rollback_reports_the_serving_generation(esr: Esr, twice: Path) -> None:
    newest, oldest = listed(twice)
    message = esr("rollback", twice).stdout
    assert str(twice) in message and oldest["name"] in message and "2 sentences" in message
    assert newest["name"] in esr("rollback", twice, "--to", newest["name"]).stdout
    assert [g["state"] for g in listed(twice)] == ["serving", "kept"]


def test_ids_on_standard_input_are_utf8_with_or_without_a_mark(esr: Esr, esr_error: Esr, twice: Path) -> None:
    message = esr_error("remove", "-", "--index", twice, input=b"caf\xe9\n")
    assert message == "standard input is not UTF-8: convert it first, for example with iconv"
    assert "1 removed" in esr("remove", "-", "--index", twice, input=b"\xef\xbb\xbfb\r\n").stdout


def test_deleting_asks_first_and_no_cancels_it(esr: Esr, twice: Path) -> None:
    result = esr("delete", twice, input="n\n")
    assert result.exit_code == 1
    assert "(2 generations; served: 2 documents with 2 sentences)?" in result.stderr
    assert len(listed(twice)) == 2
    oldest = listed(twice)[1]["name"]
    assert f"deleted {oldest}, of 2 generations" in esr("delete", twice, oldest, input="y\n").stdout
    assert len(listed(twice)) == 1
    assert esr("delete", twice, "--yes").exit_code == 0
    assert not twice.exists()


def test_deleting_old_documents_asks_first_and_names_the_periods_that_are_gone(
    esr: Esr, tmp_path: Path
) -> None:
    where = tmp_path / "months"
    assert esr("load", ARTICLES, "--index", where, "--by", "month").exit_code == 0
    lines = [line.split(maxsplit=1) for line in esr("status", where).stdout.splitlines()]
    periods = [name for name, _ in lines if re.fullmatch(r"\d{4}-\d\d", name)]
    assert len(periods) > 3 and dict(lines)["by"] == "month"
    result = esr("delete", where, "--before", periods[2], input="n\n")
    assert result.exit_code == 1
    assert f"dated before {periods[2]}?" in result.stderr
    assert periods[0] in esr("status", where).stdout
    done = esr("delete", where, "--before", periods[2], "--yes").stdout
    assert "removed" in done and f"no documents remain of {periods[0]}, {periods[1]} (2 periods)" in done
    assert periods[0] not in esr("status", where).stdout
    assert esr("rollback", where).exit_code == 0
    assert periods[0] in esr("status", where).stdout
    assert esr("delete", where, "name", "--before", "2020").exit_code == 2
    for date in ("2999", "soon"):
        for command in (["delete", where, "--yes"], ["remove", where]):
            refused = esr(*command, "--before", date)
            assert refused.exit_code == 2 and date in refused.stderr
    generations = listed(where)
    done = esr("delete", where, "--before", "1066")  # there is nothing to ask
    assert done.exit_code == 0 and "no document is dated before 1066" in done.output
    assert listed(where) == generations


@pytest.mark.parametrize("command", ["indices", "rollback", "delete"])
def test_a_place_without_an_index_is_reported(esr_error: Esr, tmp_path: Path, command: str) -> None:
    assert "there is no index at" in str(esr_error(command, tmp_path / "none"))
    assert "is neither a folder nor http" in str(esr_error(command, "ftp://host/news"))


def test_a_load_sets_the_number_of_kept_generations(esr: Esr, twice: Path, tmp_path: Path) -> None:
    load = ("load", tmp_path / "news.jsonl", "--index", twice, "--if-exists", "replace")
    assert esr(*load, "--keep", "2").exit_code == 0
    assert len(listed(twice)) == 3
    assert esr(*load, "--keep", "0").exit_code == 0
    assert len(listed(twice)) == 1


def test_a_migration_reports_its_counts(esr: Esr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "index"
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm. It passed."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", where)
    assert esr("migrate", where).stdout == f"the index already has format {FORMAT}: there is nothing to do\n"
    monkeypatch.setattr("esr.folder.format.manifest.FORMAT", FORMAT + 1)
    assert "run esr migrate" in esr("search", "storm", "--index", where).stderr
    message = esr("migrate", where).stdout
    assert message.startswith(f"migrated 1 document with 2 sentences of {where} in ")
    assert "storm" in esr("search", "storm", "--index", where).stdout
    assert json.loads(esr("migrate", where, "--json").stdout)["documents"] == 0


def test_a_migration_does_not_print_a_password(esr: Esr, monkeypatch: pytest.MonkeyPatch) -> None:
    class Migration:
        def run(self) -> LoadReport:
            return LoadReport(documents=1, sentences=2)

    monkeypatch.setattr("esr.index.factory.open_migration", lambda where, options: Migration())
    message = esr("migrate", "http://me:secret@h:9200/news").stdout
    assert "1 document with 2 sentences" in message
    assert "http://…@h:9200/news" in message and "secret" not in message


def test_there_is_nothing_to_migrate(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("migrate", tmp_path / "none"))


DRIFTS = [
    Drift("old", 78_000, 200, 0.01234, 0.251, 1.5, 8.0),
    Drift("new", 10, 10, 0.0, 0.0, 0.0, 7.0),
]


def test_a_folder_has_no_drift_and_nothing_to_refresh(esr: Esr, index: Path) -> None:
    assert "drift" not in esr("status", "--index", index, "--drift").stdout
    assert json.loads(esr("status", "--index", index, "--drift", "--json").stdout)["drift"] == []
    message = esr("refresh-priors", index).stdout
    assert "nothing to do" in message


def test_drift_is_reported_for_each_load_with_advice(
    esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(EmbeddedPriors, "drift", lambda self: DRIFTS)
    old, new, advice = esr("status", "--index", index, "--drift").stdout.splitlines()[-3:]
    assert old == (
        "drift        old: log p(t|C) by 0.0123 per occurrence; priors are off by 0.251, at most 1.500, "
        "and spread by 8.000 (200 of 78,000 sentences sampled)"
    )
    assert new == "drift        new: none, stored priors are exact (10 of 10 sentences sampled)"
    assert "esr refresh-priors makes them exact" in advice
    assert (
        json.loads(esr("status", "--index", index, "--drift", "--json").stdout)["drift"][0]["largest"] == 1.5
    )
    assert list(format_drifts(DRIFTS[1:])) == [new]


def test_drift_is_not_sampled_unasked(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes thousands of searches."""
    monkeypatch.delattr(EmbeddedPriors, "drift")
    assert "drift" not in esr("status", "--index", index).stdout
    assert "drift" not in json.loads(esr("status", "--index", index, "--json").stdout)


def test_a_refresh_reports_its_counts(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedPriors, "refresh", lambda self, step: RefreshReport(1000, 20, 1.5))
    message = esr("refresh-priors", index).stdout
    assert message.startswith(f"{index}: 20 of 1,000 sentences ")
    assert json.loads(esr("refresh-priors", index, "--json").stdout)["changed"] == 20


def test_a_refresh_does_not_print_a_password(esr: Esr, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EmbeddedPriors, "refresh", lambda self, step: RefreshReport(1000, 20, 1.5))
    monkeypatch.setattr("esr.index.factory.open_priors", lambda where: EmbeddedPriors(str(index)))
    message = esr("refresh-priors", "http://me:secret@h:9200/news").stdout
    assert message.startswith("http://…@h:9200/news: 20 of")


def test_refreshing_needs_an_index(esr_error: Esr, tmp_path: Path) -> None:
    assert "there is no index" in str(esr_error("refresh-priors", tmp_path / "none"))


# docs/sync.md: its file, commands, units and line of cron work as they stand.


ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "sync.md").read_text("utf-8")
ITEM = (
    "<item><title>A storm</title><author>A. Writer</author><guid>g1</guid>"
    "<description>It rained.</description></item>"
)
FOLDERS = "etc/esr srv/esr srv/agency/drafts srv/feeds var/lib/esr var/log usr/local/bin"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(ROOT / "deploy" / "systemd" / name)
    return parser


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder with what the section says is on the machine."""
    for folder in FOLDERS.split():
        (tmp_path / folder).mkdir(parents=True)
    (config,) = blocks("toml")
    (tmp_path / "etc/esr/news.toml").write_text(on(config, tmp_path))
    (tmp_path / "srv/agency/a.jsonl").write_text('{"id": "a", "text": "A flood."}\n')
    (tmp_path / "srv/agency/drafts/b.jsonl").write_text('{"id": "b", "text": "A draft."}\n')
    (tmp_path / "srv/feeds/world.rss").write_text(f'<rss version="2.0"><channel>{ITEM}</channel></rss>')
    program = tmp_path / "usr/local/bin/esr"
    program.write_text(f'#!{sys.executable}\nfrom esr.cli import main\nmain(prog_name="esr")\n')
    program.chmod(0o755)
    for path in tmp_path.glob("srv/*/*.*"):
        os.utime(path, (time.time() - 60,) * 2)
    return tmp_path


def on(text: str, machine: Path) -> str:
    return re.sub(r"(?<![\w.])/(etc|srv|var|usr)/", rf"{machine}/\1/", text)


def texts(where: Path) -> list[str]:
    return [json.loads(line)["sentences"][0]["text"] for line in call("export", where).stdout.splitlines()]


def test_the_commands_do_what_the_section_says(machine: Path) -> None:
    commands, *_ = blocks("sh")
    outputs = []
    for command in commands.splitlines():
        result = call(*shlex.split(on(command, machine))[1:])
        assert result.exit_code == 0, result.output
        outputs.append(result.stdout)
    assert "2 added; 2 of 2 files read; dry run, nothing was written" in outputs[0]
    assert "2 added; 2 of 2 files read; serves " in outputs[1]
    assert json.loads(outputs[2])["read"] == 0
    assert sorted(texts(machine / "srv/esr/news")) == ["A flood.", "It rained."]
    assert (machine / "var/lib/esr/news.state").exists()
    (shown,) = blocks("text")
    shape = re.compile(r"\S+Z \S+: [\d, a-z]+; [\d,]+ of [\d,]+ files read; serves \d{8}t\d{12}; [\d.]+ s")
    assert shape.fullmatch(shown.strip()) and shape.fullmatch(outputs[1].splitlines()[0])


@pytest.mark.slow
def test_the_service_and_the_line_of_cron_run_it(machine: Path) -> None:
    service = unit("esr-sync.service")["Service"]
    (cron,) = blocks("crontab")
    assert re.match(r"(\*/15|\*)( \*){4} /", cron)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "ESR_INDEX": str(machine / "srv/esr/news")}
    for command in (service["ExecStart"], cron.split(maxsplit=5)[5]):
        done = subprocess.run(
            ["sh", "-c", on(command, machine)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "nothing new; 0 of 2 files read" in (machine / "var/log/esr-sync.log").read_text()
    assert service["SuccessExitStatus"] == "75" and service["Type"] == "oneshot"
    timer = unit("esr-sync.timer")
    assert timer["Timer"]["OnCalendar"] and timer["Install"]["WantedBy"] == "timers.target"


def test_the_section_names_every_key_that_is_no_option_and_every_exit_status() -> None:
    for key in ("paths", "name", "gone", "state", *GONE):
        assert f"`{key}`" in SECTION
    statuses = set(re.findall(r"^ *(\d+) ", main.commands["sync"].help or "", re.MULTILINE))
    assert statuses == set(re.findall(r"^\| (\d+) \|", SECTION, re.MULTILINE)) == {"0", "1", "2", "75"}


@pytest.mark.parametrize("slice", [(), ("--slice", "1/2")])
def test_a_backup_that_is_missing_is_called_a_backup(
    esr: Esr, tmp_path: Path, slice: tuple[str, ...]
) -> None:
    result = esr("restore", tmp_path / "none", tmp_path / "new", *slice)
    problem = f"there is no backup at {tmp_path / 'none'}: name the folder that esr backup has written"
    assert result.exit_code == 1 and problem in result.output


def test_damage_is_listed_and_a_backup_restores_the_index(esr: Esr, tmp_path: Path) -> None:
    where, target = tmp_path / "index", tmp_path / "backup"
    call("load", ARTICLES, "--index", where)
    assert "is intact: " in esr("verify", where).output
    assert esr("backup", where, target).output.startswith(f"backed {where} up to {target}: 12 documents")
    before = esr("export", target).output
    texts = next(where.glob("segments/*/texts.bytes"))
    content = texts.read_bytes()
    texts.unlink()  # it is linked to the backup
    texts.write_bytes(content[:-1] + b"?")
    result = esr("verify", where)
    assert result.exit_code == 1
    name = texts.relative_to(where)
    assert result.output.startswith(f"{name}: its checksum does not match (generation ")
    assert f"{where} is damaged: restore a backup with esr restore, or load everything" in result.output
    (damaged,) = json.loads(esr("verify", where, "--fast", "--json").output)["damaged"]
    assert damaged["path"] == str(name)
    for command in (["export", where], ["append", where, ARTICLES], ["search", "storm", "--index", where]):
        failed = esr(*command)
        assert failed.exit_code == 1 and f"{texts} is damaged" in failed.output, command
    by_slice = [json.loads(esr("verify", where, "--slice", f"{n}/3", "--json").output) for n in (1, 2, 3)]
    assert sum(len(report["damaged"]) for report in by_slice) == 1
    assert sum(report["parts"] for report in by_slice) == by_slice[0]["all_parts"]
    assert [report["slice"] for report in by_slice] == ["1/3", "2/3", "3/3"]
    assert esr("restore", target, where, input="n\n").exit_code == 1
    assert "restored" in esr("restore", target, where, input="y\n").output
    assert json.loads(esr("restore", target, where, "--yes", "--json").output)["copied_bytes"] == 0
    assert esr("verify", where).exit_code == 0 and esr("export", where).output == before
    assert "are for folders: take a snapshot" in esr("backup", "http://localhost:9/news", target).output


def test_what_is_done_by_slice_never_reads_as_the_whole(esr: Esr, tmp_path: Path) -> None:
    where, target = tmp_path / "index", tmp_path / "backup"
    call("load", ARTICLES, "--index", where, "--by", "month")
    parts = len([*where.glob("segments/*"), *where.glob("layers/*")])
    lines = [esr("verify", where, "--slice", f"{n}/2").output for n in (1, 2)]
    numbers = [
        int(re.fullmatch(rf"slice {n}/2 of {where} is intact: (\d+) of {parts} segments and .+\n", line)[1])  # type: ignore[index]
        for n, line in enumerate(lines, start=1)
    ]
    assert sum(numbers) == parts
    copied = esr("backup", where, target, "--slice", "1/2").output
    assert copied.startswith(f"copied slice 1/2 of {where} to {target}: {numbers[0]} of {parts} segments")
    assert "run esr backup without --slice" in copied and "backed" not in copied
    report = json.loads(esr("backup", where, target, "--slice", "2/2", "--json").output)
    assert report["documents"] is None and report["slice"] == "2/2"
    assert "never finished" in esr("verify", target).output
    report = json.loads(esr("backup", where, target, "--json").output)
    assert report["documents"] == 12 and report["slice"] is None
    assert not report["copied_bytes"] and not report["linked_bytes"]
    restored = tmp_path / "restored"
    copied = esr("restore", target, restored, "--slice", "1/2").output
    assert copied.startswith(f"copied slice 1/2 of {target} to {restored}: {numbers[0]} of {parts} segments")
    assert "the index is not restored yet" in copied and "run esr restore --fast" in copied
    assert "leaves out the desk" in esr("restore", target, restored, "--slice", "2/2", "--desk", "d").output
    assert "copied slice 2/2 of " in esr("restore", target, where, "--slice", "2/2").output, (
        "nothing is asked"
    )
    finished = esr("restore", target, restored, "--fast")  # asks nothing either: there is no index yet
    assert finished.exit_code == 0 and finished.output.startswith(f"restored {restored} from {target}: 12 ")
    for command in (["verify", where], ["backup", where, target], ["restore", target, where]):
        assert "--slice needs I/N" in esr(*command, "--slice", "3/2").output
    refused = esr("verify", "--index", "http://localhost:9/news", "--slice", "1/2").output
    assert "run esr verify once" in refused
