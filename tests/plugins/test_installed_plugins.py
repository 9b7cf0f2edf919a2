"""Plug-ins: which are used, what they may declare, and what happens with those that cannot be used."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest

import esr.plugin
from esr import models
from esr.cli.main import COMMANDS
from esr.errors import UsageError
from esr.features import FEATURES
from esr.installed_plugins import SHIPPED, VARIABLE
from esr.loaders import FORMATS
from esr.loaders.reader import AUTO, ReadOptions, read_documents
from esr.plugin import (
    Affine,
    Argument,
    EsrError,
    Feature,
    Format,
    Mixture,
    Model,
    Page,
    Plugin,
    PluginError,
    PluginWarning,
    Query,
    Record,
    Settings,
    WeightedQuery,
    register,
    weighted_terms,
)
from esr.ranking.ranking import Ranking
from esr.ranking.second_stage.signals import find_signal_type
from tests.plugins.conftest import Install, using

ROOT = Path(__file__).resolve().parent.parent.parent


def plan(settings: Settings, query: Query) -> WeightedQuery:
    half = Affine(0.5)
    return WeightedQuery(weighted_terms(settings, query), Mixture(0.0, half, Affine(), Affine(), half))


def make_model(name: str = "halves") -> Model:
    background = (esr.plugin.BACKGROUND,)
    return Model(name, "half of the sentence, half of the collection", "this test", plan, background)


# What is declared


def test_an_item_of_a_plugin_is_found_by_its_name_and_listed_after_those_of_esr() -> None:
    model = make_model()
    with using(Plugin(name="mine", models={"halves": model})):
        assert models.get("halves") is model
        assert Ranking.from_dict({"model": "halves"}).model == "halves"
        assert find_signal_type("halves").name == "halves"
        assert [*models.MODELS][-1] == "halves"
        assert "halves" not in models.MODELS.built_in
    with pytest.raises(UsageError, match="unknown model 'halves'"):
        models.get("halves")


def test_an_item_is_imported_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("lazy_items")
    with using(Plugin(name="mine", models={"halves": "lazy_items:HALVES"})):
        with pytest.raises(PluginError, match=r"'halves' of the plug-in 'mine'.* named 'lazy_items'"):
            models.get("halves")
        module.HALVES = make_model()  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "lazy_items", module)
        assert models.get("halves") is module.HALVES


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (make_model("other"), "its own name is 'other'"),
        (Page("halves", lambda request: esr.plugin.PageContent("", "")), "it is no Model, but"),
        ("json:dumps", "it is no Model, but <function dumps"),
        ("json:nothing", "has no attribute 'nothing'"),
        ("halves", "AttributeError|ModuleNotFoundError|ValueError"),
    ],
)
def test_an_item_that_cannot_be_used_is_left_out_and_reported_once(item: Any, problem: str) -> None:
    with using(Plugin(name=f"mine {problem}", models={"halves": item})):
        with pytest.raises(PluginError, match=problem):
            models.get("halves")
        with pytest.warns(PluginWarning, match=f"the model 'halves' of the plug-in .*{problem}"):
            assert "halves" not in [*models.MODELS]
        assert "halves" not in [*models.MODELS]  # a second warning would be an error


def test_a_name_of_two_plugins_is_an_error_that_names_both() -> None:
    with (
        using(Plugin(name="one", models={"halves": make_model()})),
        using(Plugin(name="two", models={"halves": make_model()})),
    ):
        with pytest.raises(
            PluginError, match="'halves' is declared by more than one plug-in, 'one' and 'two'"
        ):
            models.get("halves")
        with pytest.warns(PluginWarning, match="'one' and 'two'"):
            assert "halves" not in [*models.MODELS]


def test_a_name_of_esr_stays_that_of_esr() -> None:
    own = models.get("bm25")
    with using(Plugin(name="greedy", models={"bm25": make_model("bm25")})):
        with pytest.warns(
            PluginWarning, match="model 'bm25' of the plug-in 'greedy' is left out: esr itself"
        ):
            assert [*models.MODELS].count("bm25") == 1
        assert models.get("bm25") is own


def test_only_a_plugin_can_be_registered() -> None:
    with pytest.raises(UsageError, match=r"is an esr.plugin.Plugin, not 'mine'"):
        register("mine")  # type: ignore[arg-type]


def test_a_parameter_of_a_model_of_a_plugin_is_a_keyword_of_searches(tmp_path: Path) -> None:
    index = esr.create(tmp_path / "news", [{"id": "a", "text": "A storm came."}])
    share = esr.plugin.Parameter("half_share", "a share", 0.5)
    model = Model("halves", "", "", plan, (share, esr.plugin.BACKGROUND))
    with index, using(Plugin(name="mine", models={"halves": model})):
        assert len(index.search("storm", model="halves", half_share=0.2)) == 1
        with pytest.raises(UsageError, match="unknown option 'half_shar'"):
            index.search("storm", half_shar=0.2)


def test_a_command_of_a_plugin_is_one_of_esr(esr: Any) -> None:
    @click.command()
    def greet() -> None:
        """Greet."""
        click.echo("hello")

    with using(Plugin(name="mine", commands={"greet": greet})):
        assert esr("greet").output == "hello\n"
        assert "Greet." in esr("--help").output
        assert esr("greet", "-h").exit_code == 0
        assert "commands: greet" in esr("plugins").output
    assert "unknown command 'greet'" in esr("greet").output


def read_name(source: Any) -> Iterator[Record]:
    yield Record(source.name, {"id": source.name, "text": "It came."})


def fail(head: bytes) -> bool:
    raise KeyError("head")


@pytest.mark.parametrize(
    ("name", "sniff", "format"),
    [
        ("news.jsonl", lambda head: True, "jsonl"),  # whatever esr reads itself stays as it is
        ("news.foo", lambda head: False, "foo"),
        ("news.bar", lambda head: head.startswith(b"FOO"), "foo"),
        ("news", lambda head: head.startswith(b"FOO"), "foo"),
    ],
)
def test_a_format_of_a_plugin_reads_what_no_format_of_esr_does(
    tmp_path: Path, name: str, sniff: Any, format: str
) -> None:
    file = tmp_path / name
    file.write_text('{"id": "j", "text": "It came."}\n' if format == "jsonl" else "FOO\x00BAR")
    own = Format("foo", "", (".foo", ".jsonl"), sniff, read_name)
    with using(Plugin(name="mine", formats={"foo": own})):
        for path in (file, tmp_path):
            (located,) = read_documents([str(path)], AUTO, ReadOptions())
            assert located.document.id == ("j" if format == "jsonl" else str(file))
        assert [*FORMATS][-1] == "foo"


def test_a_format_that_cannot_tell_its_files_reads_none_and_is_reported(tmp_path: Path) -> None:
    (tmp_path / "news.bar").write_text("FOO\x00BAR")
    with (
        using(Plugin(name="mine", formats={"foo": Format("foo", "", (), fail, read_name)})),
        pytest.warns(PluginWarning, match="the format 'foo' of the plug-in 'mine' failed: KeyError"),
        pytest.raises(EsrError, match="unknown format"),
    ):
        list(read_documents([str(tmp_path / "news.bar")], AUTO, ReadOptions()))


def test_a_feature_of_a_plugin_is_one_of_those_that_are_computed() -> None:
    feature = Feature("loud", "", "", lambda inputs: [1.0 for _ in inputs.document.sentences])
    with using(Plugin(name="mine", features={"loud": feature})):
        assert FEATURES["loud"].column == "features.loud"


# Installed plug-ins. An entry point is a file beside an installed package.


@pytest.mark.slow
def test_a_broken_plugin_breaks_no_command_and_is_named_once(install: Install) -> None:
    run = install("broken", "import nosuch\nplugin = None")
    for command in (["models"], ["--help"], ["formats"]):
        done = run(*command)
        assert done.returncode == 0
        (line,) = done.stderr.splitlines()
        assert line.startswith("Warning: the plug-in 'broken' (broken 1.0) is left out: ModuleNotFoundError")
    assert "No module named 'nosuch'" in line and VARIABLE in line
    assert run("models", **{VARIABLE: "none"}).stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("source", ["import sys; sys.exit(3)", "plugin = {}", "", "1 / 0"])
def test_no_plugin_ends_the_program(install: Install, source: str) -> None:
    done = install("broken", source)("priors")
    assert done.returncode == 0 and "'broken' (broken 1.0) is left out" in done.stderr


@pytest.mark.slow
def test_esr_plugins_chooses_among_installed_plugins(install: Install) -> None:
    declare = "from esr.plugin import Plugin\nplugin = Plugin(name=__name__)"
    install("one", declare)
    run = install("two", declare)
    listed = {name: json.loads(run("plugins", "--json", **{VARIABLE: name}).stdout) for name in ("", "one")}
    assert [[entry["name"] for entry in entries] for entries in listed.values()] == [["one", "two"], ["one"]]
    done = run("plugins", **{VARIABLE: "three"})
    assert "ESR_PLUGINS names the plug-in 'three', which is not installed" in done.stderr


@pytest.mark.slow
def test_a_clash_of_installed_plugins_names_their_packages(install: Install) -> None:
    declare = "from esr.plugin import Plugin\nplugin = Plugin(name='x', commands={'greet': 'nosuch:greet'})"
    install("one", declare)
    run = install("two", declare)
    done = run("greet")
    assert done.returncode == 1
    assert (
        "the command 'greet' is declared by more than one plug-in, 'one' (one 1.0) and 'two'" in done.stderr
    )
    assert "'one' (one 1.0) and 'two' (two 1.0)" in run("--help").stderr


_SEARCH = "import sys; from esr.cli import main; main(standalone_mode=False); print(*sys.modules)"


@pytest.mark.slow
def test_a_search_imports_no_plugin_and_reads_no_entry_point(install: Install, tmp_path: Path) -> None:
    """Entry points take 50 ms and more, a search of a small index as a process 200."""
    run = install("one", "from esr.plugin import Plugin\nplugin = Plugin(name='one')")
    (tmp_path / "news.jsonl").write_text('{"id": "a", "text": "A storm came."}')
    assert run("load", tmp_path / "news.jsonl", "--index", tmp_path / "index").returncode == 0
    search = ["search", "storm", "--index", tmp_path / "index", "--model", "dir", "--prior", "length"]
    imported = run(*search, "--feature", "len:log:0.1", "--boost", "variants", program=_SEARCH)
    assert imported.returncode == 0
    assert not {"one", "importlib.metadata", "esr.plugin"} & {*imported.stdout.split()}


# The module


def test_importing_the_module_imports_nothing_of_esr_but_what_it_needs() -> None:
    program = "import sys, esr.plugin; print(*(name for name in sys.modules if name.startswith('esr')))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {*done.stdout.split()} == {
        "esr",
        "esr.errors",
        "esr.installed_plugins",
        "esr.plugin",
        "esr.stdlib",
    }


def test_each_name_of_the_module_exists() -> None:
    assert [name for name in esr.plugin.__all__ if not hasattr(esr.plugin, name)] == []


def test_the_module_has_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        esr.plugin.nothing  # type: ignore[attr-defined]  # noqa: B018
    assert dir(esr.plugin) == sorted(esr.plugin.__all__)


def test_arguments_are_declared_by_name() -> None:
    with pytest.raises(TypeError):
        Argument("words", "how many")  # type: ignore[misc]


@pytest.mark.parametrize("reference", SHIPPED)
def test_a_plugin_of_esr_itself_fills_the_fields_that_its_row_says(reference: str) -> None:
    module, _, attribute = reference.partition(":")
    plugin = getattr(__import__(module, fromlist=[attribute]), attribute)
    filled = {field for field in plugin.__struct_fields__ if field != "name" and getattr(plugin, field)}
    assert filled == {*SHIPPED[reference].split()}
    assert not {*plugin.commands} & {*COMMANDS}
