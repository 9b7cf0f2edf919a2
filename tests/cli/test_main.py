"""The group `esr`: what a command imports before it runs, and when garbage is collected.

Imports and the end of a process take less time without garbage collection.
"""

from __future__ import annotations

import gc
import gzip
import json
import os
import pty
import re
import shlex
import stat
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

from esr import __version__
from esr.cli import main
from esr.cli.main import pause_collections
from esr.cli.output import check_output, open_output
from esr.errors import EsrError, UsageError
from tests.cli.conftest import Esr
from tests.support.runs import unmeasured

pytestmark = pytest.mark.slow

_SEARCH = "import sys; from esr.cli import main; main(standalone_mode=False); print(*sys.modules)"
_DATA_CLASSES = """
import sys
from esr.cli import main
main(standalone_mode=False)
modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "esr"]
values = [value for module in modules for value in vars(module).values()]
print(*{value.__qualname__ for value in values if hasattr(value, "__dataclass_fields__")})
"""
_THREADS = """
import os
from esr.cli import main
main(standalone_mode=False)
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""
UNNEEDED = (
    "elasticsearch esr.cli.load esr.encoders esr.elastic esr.enrichment "
    "esr.lab esr.loaders esr.plans.bounds flask numba numpy.ma requests scipy webui "
    # The kernel is not loaded in a search from the command line.
    "esr.folder.search.impacts esr.folder.kernel.layout "
    # Vectors, second stages and other orders.
    "esr.folder.search.similarity esr.dependency.clique_search esr.following.novelty "
    # Of the standard library, each takes a millisecond or more.
    "_hashlib asyncio calendar csv dataclasses email http importlib.resources logging ssl tempfile zipfile "
    # Entry points of plug-ins.
    "importlib.metadata esr.plugin"
)

UNNEEDED_BY_CORRECTIONS = (
    "esr.cli.enrich esr.elastic esr.encoders esr.enrichment esr.folder.index esr.ranking numba "
    "py3langid scipy tqdm "
    "_hashlib asyncio dateutil email http importlib.resources logging ssl statistics xml"
)


def run_search(source: str, index: Path) -> list[str]:
    """The words of the last line that a process prints, after it has searched."""
    command = [sys.executable, "-c", source, "search", "alpha", "--index", str(index), "--literal"]
    environment = unmeasured()
    environment.pop("OPENBLAS_NUM_THREADS", None)
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return run.stdout.splitlines()[-1].split()


def test_a_search_of_a_folder_imports_nothing_that_only_other_commands_need(index: Path) -> None:
    imported = run_search(_SEARCH, index)
    assert not {*imported} & {*UNNEEDED.split()}
    assert "esr.cli.search" in imported


def test_a_correction_imports_nothing_that_only_other_commands_and_larger_deliveries_need(
    esr: Esr, tmp_path: Path
) -> None:
    """Language detection alone would take half of its time."""
    news = tmp_path / "news.jsonl"
    text = "A storm has hit the coast, and the river flooded the town."
    news.write_text(json.dumps({"id": "a", "text": text}))
    esr("load", news, "--index", tmp_path / "index")
    news.write_text(json.dumps({"id": "a", "text": text, "title": "Corrected"}))
    command = [sys.executable, "-c", _SEARCH, "append", str(tmp_path / "index"), str(news)]
    report, *_, imported = subprocess.run(
        command, capture_output=True, text=True, check=True, env=unmeasured()
    ).stdout.splitlines()
    assert "1 changed" in report
    assert {*imported.split()} & {*UNNEEDED_BY_CORRECTIONS.split()} == set()


def test_no_class_that_a_search_imports_is_a_dataclass(index: Path) -> None:
    """Each would take .6 ms, and a search imports 80 classes of data: see "Style" in CONTRIBUTING.md."""
    assert run_search(_DATA_CLASSES, index) == []


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it counts the threads of Linux")
def test_a_command_starts_no_threads_and_leaves_the_environment_as_it_is(index: Path) -> None:
    assert run_search(_THREADS, index) == ["1", "None"]


# The last function to be registered is the first to be called at the end.
_PROGRAM = """
import atexit, gc
atexit.register(lambda: print(len(gc.get_objects())))
from esr.cli import run
run()
"""


@pytest.fixture
def enabled_collector() -> Iterator[None]:
    frozen, enabled = gc.get_freeze_count(), gc.isenabled()
    gc.unfreeze()
    gc.enable()
    yield
    if frozen:
        gc.freeze()
    if not enabled:
        gc.disable()


def is_old(known: object) -> bool:
    return any(other is known for other in gc.get_objects(generation=2))


@pytest.mark.usefixtures("enabled_collector")
def test_nothing_is_collected_inside_the_block_and_what_it_made_is_old_after_it() -> None:
    with pause_collections():
        assert not gc.isenabled()
        made: list[object] = [{}]
        assert not is_old(made)
    assert gc.isenabled()
    assert is_old(made)


@pytest.mark.usefixtures("enabled_collector")
def test_what_others_have_frozen_stays_so() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    with pause_collections():
        pass
    assert gc.get_freeze_count() > frozen / 2


@pytest.mark.usefixtures("enabled_collector")
def test_a_collector_that_was_disabled_stays_so() -> None:
    gc.disable()
    with pause_collections():
        pass
    assert not gc.isenabled()


@pytest.mark.parametrize(("query", "is_skipped"), [("alpha", True), ("", False)])
def test_only_a_command_that_succeeds_ends_without_collections(
    index: Path, query: str, is_skipped: bool
) -> None:
    command = [sys.executable, "-c", _PROGRAM, "search", query, "--index", str(index)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == is_skipped
    assert (int(run.stdout.splitlines()[-1]) < 1000) == is_skipped


# Invalid arguments give one line that says what to do, and an exit code.


RANKING: list[tuple[list[str], str]] = [
    (["--model", "bm52"], "unknown model 'bm52': did you mean 'bm25'"),
    (["--set", "mi=3"], "unknown parameter of 2si 'mi': did you mean 'mu'"),
    (["--set", "mu"], "--set needs NAME=VALUE, not 'mu'"),
    (["--set", "=3"], "--set needs NAME=VALUE, not '=3'"),
    (["--set", "mu=-1"], "parameter 'mu' must be a number in (0, inf), not '-1'"),
    (["--set", "lambda=1.5"], "parameter 'lambda' must be a number in [0, 1], not '1.5'"),
    (["--set", "mu=many"], "parameter 'mu' must be a number"),
    (["--set", "lambda=0.9"], "lambda + nu must be at most 1"),
    (["--model", "3mm", "--set", "lambda=0.8"], "lambda + gamma + nu must be below 1"),
    (["--model", "3mm", "--set", "form=flt"], "parameter 'form' must be one of flat | flat_jm | nested"),
    (["--context", "docment"], "unknown context 'docment': did you mean 'document'"),
    (["--model", "bm25", "--context", "both"], "model 'bm25' uses the sentence alone"),
    (["--context", "document", "--set", "nu=0.1"], "needs --context both"),
    (["--prior", "importnce"], "unknown prior 'importnce': did you mean 'importance'"),
    (["--prior", "length:long"], "the weight of prior 'length' must be a finite number, not 'long'"),
    (["--prior", "length:nan"], "the weight of prior 'length' must be a finite number"),
    (["--candidates", "every"], "unknown candidates 'every'"),
    (["--ranking", "/nowhere/r.json"], "/nowhere/r.json: cannot be read"),
]


@pytest.mark.parametrize(
    ("options", "message"), RANKING, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_bad_ranking_is_rejected_by_every_command_that_ranks(
    esr_error: Esr, index: Path, topics: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    out = tmp_path / "out.run"
    for command in (
        ["search", "china"],
        ["explain", "china", "D1.1"],
        ["run", topics, "-o", out],
    ):
        assert message in str(esr_error(*command, "--index", index, *options))
    assert not out.exists() and not [*tmp_path.glob("out.run.*")]


def test_a_bad_key_in_a_ranking_file_is_rejected_with_the_files_name(
    esr_error: Esr, index: Path, tmp_path: Path
) -> None:
    file = tmp_path / "ranking.json"
    file.write_text(json.dumps({"modle": "2si"}))
    line = str(esr_error("search", "china", "--index", index, "--ranking", file))
    assert line == f"{file}: unknown ranking key 'modle': did you mean 'model'?"


@pytest.mark.parametrize(
    ("query", "message"),
    [("", "the query is empty"), ("  ", "the query is empty"), ("?!", "the query has no words")],
)
def test_a_query_without_words_is_rejected(esr_error: Esr, index: Path, query: str, message: str) -> None:
    for command in (["search", query], ["explain", query, "D1.1"]):
        assert message in str(esr_error(*command, "--index", index))


def test_a_query_of_stop_words_is_rejected(esr: Esr, esr_error: Esr, tmp_path: Path) -> None:
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "The storm."}\n')
    esr("load", tmp_path / "news.jsonl", "--index", tmp_path / "index")
    line = str(esr_error("search", "the of", "--index", tmp_path / "index"))
    assert line == "the query has only stop words: give at least one word to search for"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--after", "someday"], "--after is a date such as '2024-01-31'"),
        (["--before", "2017-13"], "--before is a date such as '2024-01-31'"),
        (["--before", ""], "--before is a date such as '2024-01-31'"),
    ],
)
def test_a_bad_date_is_rejected(esr_error: Esr, index: Path, options: list[str], message: str) -> None:
    assert message in str(esr_error("search", "china", "--index", index, *options))


def test_an_unknown_sentence_is_rejected(esr_error: Esr, index: Path) -> None:
    assert "there is no sentence 'D9.9'" in str(esr_error("explain", "china", "D9.9", "--index", index))


def test_arguments_that_are_not_utf_8_break_nothing(esr: Esr, esr_error: Esr, index: Path) -> None:
    assert "there is no sentence" in str(esr_error("explain", "china", "D1\udcff", "--index", index))
    assert esr("search", "china \udcff", "--index", index).exit_code == 0
    filtered = esr("search", "china", "--index", index, "--document", "D1\udcff", "--source", "\udcff")
    assert filtered.exit_code == 0 and "0 of 0" in filtered.output


COMMANDS = [["search", "x"], ["explain", "x", "y"], ["status"], ["query", "x"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_rejects_a_place_without_an_index(
    esr_error: Esr, tmp_path: Path, command: list[str]
) -> None:
    assert "there is no index at" in str(esr_error(*command, "--index", tmp_path / "none"))
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    assert "is not an index" in str(esr_error(*command, "--index", tmp_path / "letters"))
    assert "is a file" in str(esr_error(*command, "--index", tmp_path / "letters" / "a.txt"))
    assert "is neither a folder nor http" in str(esr_error(*command, "--index", "ftp://x/y"))


def test_a_run_of_a_missing_index_writes_nothing(esr_error: Esr, topics: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.run"
    assert "there is no index at" in str(esr_error("run", topics, "--index", tmp_path / "none", "-o", out))
    assert not out.exists() and not [*tmp_path.glob("out.run.*")]


def test_a_missing_index_option_is_reported(esr: Esr) -> None:
    result = esr("search", "china")
    assert result.exit_code == 2
    assert "--index" in result.stderr and "ESR_INDEX" in result.stderr


@pytest.mark.parametrize("command", ["search", "keyness", "concordance"])
def test_a_missing_query_is_reported(esr: Esr, tmp_path: Path, command: str) -> None:
    result = esr(command, "--index", tmp_path)
    assert result.exit_code == 2
    assert "Missing argument 'QUERY'" in result.stderr


# The index: --index, ESR_INDEX, or an argument as in earlier versions.


@pytest.fixture
def found(esr: Esr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Runs a command in a folder with the indices `here` and `there`, with ESR_INDEX or without."""
    monkeypatch.chdir(tmp_path)
    for name, word in (("here", "alpha"), ("there", "omega")):
        Path(f"{name}.jsonl").write_text(json.dumps({"id": name, "text": f"An {word} word."}))
        esr("load", f"{name}.jsonl", "--index", name)

    def run(line: str) -> str:
        words = line.removeprefix("ESR_INDEX=").split()
        if words != line.split():
            monkeypatch.setenv("ESR_INDEX", words.pop(0))
        return esr(*words).output

    return run


@pytest.mark.parametrize(
    ("line", "output"),
    [
        ("export --index here", "alpha"),
        ("export here", "alpha"),
        ("ESR_INDEX=here export", "alpha"),
        ("ESR_INDEX=there export here", "alpha"),
        ("ESR_INDEX=there export --index here", "alpha"),
        ("export here --index ./here/", "alpha"),
        ("export here --index there", "two indexes are named, here and there: keep that of --index"),
        ("export here there", "unexpected extra argument (there)"),
        ("export", "Missing option '--index' (env var: 'ESR_INDEX')"),
        # Commands that had the index as an argument, with further arguments.
        ("append here.jsonl --index here", "here: 1 unchanged"),
        ("append here here.jsonl", "here: 1 unchanged"),
        ("ESR_INDEX=here append here.jsonl", "here: 1 unchanged"),
        ("ESR_INDEX=here append here.jsonl there.jsonl", "here: 1 added, 1 unchanged"),
        ("ESR_INDEX=there append here here.jsonl", "here: 1 unchanged"),
        ("append here here.jsonl --index there", "two indexes are named"),
        ("append here.jsonl", "Missing option '--index'"),
        ("ESR_INDEX=here remove a1 a2", "2 were not in the index: a1, a2"),
        ("ESR_INDEX=there remove here a1", "here: nothing to do"),
        ("ESR_INDEX=here remove https://x.example/2026/a b", "here: nothing to do"),
        ("remove https://x.example/a b --index here", "here: nothing to do"),
        ("ESR_INDEX=nowhere remove http://127.0.0.1:9/news a", "127.0.0.1:9"),
        ("ESR_INDEX=here delete none --yes", "none"),
        ("ESR_INDEX=here delete there --yes", "deleted the index there"),
        ("ESR_INDEX=here delete --yes", "name it with --index: ESR_INDEX is not enough"),
        ("backup here copy", "backed here up to copy"),
        ("ESR_INDEX=here backup copy", "backed here up to copy"),
        ("restore here new", "restored new from here"),
        ("restore here --index new", "restored new from here"),
        ("restore here new --index there", "two indexes are named, new and there"),
        # Commands that always had the option.
        ("search alpha --index here", "alpha"),
        ("search here alpha", "alpha"),
        ("ESR_INDEX=there search here alpha", "alpha"),
        ("ESR_INDEX=here search alpha beta", "unexpected extra argument (beta)"),
        ("search here alpha --index there", "two indexes are named"),
        ("search alpha", "Missing option '--index'"),
        ("timeline here alpha", "alpha\n"),
        ("ESR_INDEX=there timeline here alpha", "the query has only stop words"),
        ("timeline alpha omega", "Missing option '--index'"),
        ("analyze here words", "word"),
        ("load here there.jsonl --if-exists append", "into here"),
        ("load here.jsonl there.jsonl", "no index given"),
        ("status here", "embedded"),
    ],
)
def test_the_index_is_an_option_a_variable_or_an_argument(
    found: Callable[[str], str], line: str, output: str
) -> None:
    assert output in found(line)


@pytest.mark.parametrize("k", ["0", "-1", "ten", "1000000000"])
def test_a_bad_number_of_sentences_is_rejected(esr: Esr, index: Path, k: str) -> None:
    result = esr("search", "china", "--index", index, "-k", k)
    assert result.exit_code == 2
    assert result.stdout == "" and "Error: Invalid value for '-k'" in result.stderr


# A command without its extra names it in one line, before it reads or searches anything.


RUNS = ("qrels.txt", "a.run")
TOPICS = ("topics.tsv", "qrels.txt", "--index", "index")


@pytest.mark.parametrize(
    ("module", "extra", "command"),
    [
        ("ir_measures", "evaluation", ("evaluate", *RUNS)),
        ("scipy", "evaluation", ("evaluate", *RUNS)),
        ("ir_measures", "evaluation", ("compare", "comparison.json", "-o", "figures.jsonl")),
        ("scipy", "evaluation", ("tune", *TOPICS, "--train", "floe:len")),
        ("ir_measures", "evaluation", ("learn", *TOPICS)),
        ("ir_measures", "evaluation", ("reproduce", "novelty", "--data", ".")),
        ("lightgbm", "learn", ("learn", *TOPICS, "--learner", "lambdamart")),
        ("matplotlib", "report", ("learn", *TOPICS, "--report", "page.html")),
        ("matplotlib", "report", ("report", *RUNS, "-o", "page.html")),
        ("ir_measures", "evaluation", ("report", *RUNS, "-o", "page.html")),
        ("spacy", "enrich", ("enrich", "--index", "INDEX")),
        ("pyarrow", "formats", ("load", "news.parquet", "--index", "new", "--format", "parquet")),
        ("datasketch", "formats", ("load", "news.jsonl", "--index", "new", "--duplicates", "drop")),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(
    module: str,
    extra: str,
    command: tuple[str, ...],
    esr_error: Esr,
    index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("qrels.txt", "a.run", "topics.tsv", "comparison.json", "news.parquet", "news.jsonl"):
        Path(name).write_text("")
    for name in [module, *(name for name in sys.modules if name.startswith(f"{module}."))]:
        monkeypatch.setitem(sys.modules, name, None)
    line = esr_error(*(str(index) if argument == "INDEX" else argument for argument in command))
    assert f" needs {module}" in line
    assert line.endswith(f"which is not installed: pip install 'esr[{extra}]'")


def leaves(group: click.Group, *path: str) -> dict[str, click.Command]:
    """Every command by its words, those of groups too."""
    commands: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            commands |= leaves(command, *path, name)
        else:
            commands[" ".join((*path, name))] = command
    return commands


LEAVES = leaves(main)
ALL_COMMANDS = sorted(LEAVES)


def test_these_commands_exist() -> None:
    promised = {"load", "search", "run", "explain", "query", "serve", "status"}
    assert promised | {"models", "priors", "features", "analyzers", "formats"} <= set(ALL_COMMANDS)


def test_the_list_of_commands_cuts_no_sentence(esr: Esr) -> None:
    commands = esr("--help").output.partition("Commands:\n")[2].splitlines()
    assert len(commands) > 50
    assert [line for line in commands if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_every_command_and_option_has_help_and_an_example(esr: Esr, name: str) -> None:
    command = LEAVES[name]
    result = esr(*name.split(), "--help")
    assert result.exit_code == 0
    assert command.get_short_help_str()
    assert "Example:\n" in result.output
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in ("port",):
            assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_the_options_of_every_example_exist(name: str) -> None:
    command = LEAVES[name]
    known = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    example = (command.help or "").split("Example:", 1)[1].splitlines()
    lines = [line.strip() for line in example if f"esr {name}" in line]
    assert lines or name in ("priors", "forms", "boosts", "signals", "analyzers", "formats")
    for line in lines:
        words = shlex.split(line.partition(" > ")[0])
        assert {word for word in words if word.startswith("-") and word != "-"} <= known | {"-k", "-o"}


def test_the_program_has_help_a_version_and_an_example(esr: Esr) -> None:
    assert "Example:" in esr("--help").output
    assert esr("--help").output == esr("-h").output
    assert __version__ in esr("--version").output


def test_an_unknown_command_is_rejected_with_the_nearest_name(esr_error: Esr) -> None:
    assert esr_error("serach", "x") == "unknown command 'serach': did you mean 'search'?"


def test_words_without_quotation_marks_are_told_to_take_them(esr: Esr, index: Path) -> None:
    assert "quotation marks" in esr("search", "mayor", "council", "--index", index).output
    assert "quotation marks" not in esr("models", "mayor").output


def test_an_unknown_option_is_rejected(esr: Esr, index: object) -> None:
    result = esr("search", "china", "--index", index, "--modell", "dir")
    assert result.exit_code == 2
    assert "--modell" in result.stderr and "Traceback" not in result.stderr


def write(output: Path | str, *inputs: Path) -> None:
    with open_output(output, *inputs) as file:
        file.write("whole\n")


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with open_output(out) as file:
        file.write("half")
        assert not out.exists()
    assert out.read_text() == "half"
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_whose_name_ends_in_gz_is_compressed(tmp_path: Path) -> None:
    out = tmp_path / "out.gz"
    write(out)
    assert gzip.decompress(out.read_bytes()) == b"whole\n"
    assert os.listdir(tmp_path) == ["out.gz"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("before")
    with pytest.raises(KeyError), open_output(out):
        raise KeyError
    assert out.read_text() == "before"
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_of_a_similar_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.new").write_text("mine")
    write(tmp_path / "out")
    assert (tmp_path / "out.new").read_text() == "mine"


@pytest.mark.parametrize("name", ["in", "link"])
def test_an_input_is_never_overwritten(tmp_path: Path, name: str) -> None:
    source = tmp_path / "in"
    source.write_text("mine")
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(UsageError, match="is an input of this command"):
        write(tmp_path / name, source)
    assert source.read_text() == "mine"


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "whole\n"


def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write(pipe)
        assert os.read(reader, 100) == b"whole\n"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_full_device_is_one_line() -> None:
    with pytest.raises(EsrError, match="cannot write /dev/full: No space left"):
        write("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_letters_that_the_terminal_lacks_end_no_command() -> None:
    command = [sys.executable, "-c", "from esr.cli.main import run; run()", "search", "--help"]
    done = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "latin-1"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert 'have "?"' in done.stdout.decode("latin-1")


def run_in_terminal(*args: object) -> bytes:
    """What a command writes to a terminal."""
    mine, its = pty.openpty()
    command = [sys.executable, "-c", "from esr.cli.main import run; run()", *map(str, args)]
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its)
    os.close(its)
    written = b""
    with suppress(OSError):  # the command has ended
        while data := os.read(mine, 10_000):
            written += data
    os.close(mine)
    process.wait()
    return written


def test_texts_of_documents_do_not_control_the_terminal(tmp_path: Path) -> None:
    attack = "\x1b]52;c;Y3VybA==\x07\x1b[2J\x9b5m\u202e\rOK"
    fields = {"id": "a", "title": f"Gale {attack}", "source": attack, "text": f"A storm {attack} came."}
    source = tmp_path / "news.jsonl"
    source.write_text(json.dumps(fields))
    index = tmp_path / "news"
    written = run_in_terminal("load", source, "--index", index, "--analyzer", "english")
    written += run_in_terminal("search", "storm", "--index", index)
    written += run_in_terminal("search", "storm", "--index", f"none{attack[:-3]}")
    assert "\x1b[1m  1" in written.decode() and written.count("Gale \ufffd]52;".encode()) == 1
    text = re.sub(r"\x1b\[[012]m|\r+\n", "", written.decode())
    assert not [letter for letter in text if unicodedata.category(letter) == "Cc" or letter == "\u202e"]


def test_a_missing_folder_is_reported_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(EsrError, match="create the folder"):
        check_output(tmp_path / "no" / "out")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "status"), [(["keys", "list", "--file", "none"], 1), (["serve", "--index", "none"], 1)]
)
def test_a_package_of_the_same_name_beside_a_program_does_not_hide_the_page(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    for name in ("webui", "index_templates"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not of esr')\n")
    program = f"from esr.cli import main; main({arguments!r}, prog_name='esr')"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (status, 1), done.stderr
    assert "none" in done.stderr


@pytest.mark.slow
def test_another_package_of_the_name_of_the_page_that_is_imported_already_is_named(tmp_path: Path) -> None:
    (tmp_path / "webui").mkdir()
    (tmp_path / "webui" / "__init__.py").touch()
    program = "import webui; from esr.cli import main; main(['serve', '--index', 'none'], prog_name='esr')"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert str(tmp_path) in done.stderr and "esr serve" in done.stderr
