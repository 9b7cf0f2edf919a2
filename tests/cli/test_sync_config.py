"""The file of `esr sync`: its keys are the options of the command line, and bad entries are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from esr.cli import main
from esr.cli.sync_config import read_config
from esr.errors import EsrError
from tests.cli.conftest import call

SOURCE = '[[source]]\nname = "s"\npaths = "."\n'


def read(tmp_path: Path, text: str) -> Any:
    (tmp_path / "news.toml").write_text(text)
    return read_config(tmp_path / "news.toml")


def error(tmp_path: Path, text: str) -> str:
    with pytest.raises(EsrError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "news.toml"))
    return message.removeprefix(f"{tmp_path}/news.toml: ")


def options_of(command: str) -> list[click.Option]:
    return [option for option in main.commands[command].params if isinstance(option, click.Option)]


def example(option: click.Option) -> str:
    """A value that the option takes, in TOML."""
    if option.is_flag:
        return "true"
    if isinstance(option.type, click.Choice):
        return f'"{option.type.choices[0]}"'
    if isinstance(option.type, click.types.FloatParamType | click.types.IntParamType):
        return "3"
    known = {"pairs": '{title = "headline"}', "source_format": '"jsonl"', "encoding": '"latin-1"'}
    if option.opts == ["--set"]:
        return '{source = "Times"}'
    known |= {"allow_empty_documents": '"80%"', "base": '"."', "delimiter": '";"', "quote": '"|"'}
    return known.get(str(option.name), '["a=b"]' if option.multiple else '"x"')


NOT_OF_A_SYNC = {
    "--if-exists",
    "--enrich",
    "--enrich-only",
    "--dry-run",
    "--slice",
    "--resume",
    "--json",
    "--index",
}


@pytest.mark.parametrize("option", options_of("load"), ids=lambda option: option.opts[0])
def test_the_options_of_load_are_keys_of_the_file(tmp_path: Path, option: click.Option) -> None:
    for name in (*option.opts, *option.secondary_opts):
        text = f"{name.removeprefix('--')} = {example(option)}\n{SOURCE}"
        if name in NOT_OF_A_SYNC:
            assert "unknown key" in error(tmp_path, text)
        else:
            read(tmp_path, text)


def test_an_entry_is_read_as_the_command_line_reads_it(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        'keep = 7\nmonth-first = true\nbad-documents = "bad.jsonl"\nallow-empty-documents = 80\n'
        '[[source]]\npaths = ["."]\nmapping = {title = "headline", source = "desk"}\nmax-unpacked = 0.5\n'
        '[[source]]\nname = "other"\npaths = ["*.nothing"]\nday-first = true\ninclude = ["*.a", "*.b"]\n',
    )
    assert config.state == tmp_path / "news.toml.state"
    assert config.index["keep"] == 7
    assert config.delivery == {
        "same_id": "last",
        "duplicates": "keep",
        "bad_documents": tmp_path / "bad.jsonl",
        "allow_empty_documents": 80.0,
    }
    first, other = config.sources
    assert (first.name, other.name) == (".", "other")
    assert '"pairs": ["title=headline", "source=desk"]' in first.options
    assert '"max_unpacked": 0.5' in first.options and '"day_first": false' in first.options
    assert '"day_first": true' in other.options and '"include": ["*.a", "*.b"]' in other.options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keep = \n" + SOURCE, "is not TOML: Invalid value (at line 1, column 8)"),
        ("", 'there is no source: add [[source]] with paths = ["FOLDER"]'),
        ("source = 3\n", "there is no source"),
        ("kep = 3\n" + SOURCE, "unknown key 'kep': did you mean 'keep'?"),
        (SOURCE + "formt = 3\n", "source s: unknown key 'formt': did you mean 'format'?"),
        (SOURCE + 'same-id = "last"\n', "source s: unknown key 'same-id'"),
        (SOURCE + 'format = "xml"\n', "source s: unknown format 'xml'"),
        (SOURCE + 'id = "no"\n', "source s: Invalid value for '--id': 'no' is not one of 'url'"),
        (SOURCE + "max-expansion = 0\n", "source s: Invalid value for '--max-expansion': 0"),
        (SOURCE + "include = [[1]]\n", "source s: include must be a list of strings, not [1]"),
        (SOURCE + "encoding = 2026-01-01\n", "source s: encoding must be a string or a number"),
        (SOURCE + 'encoding = "no"\n', "source s: "),
        (SOURCE + 'day-first = "yes"\n', "source s: day-first must be true or false, not 'yes'"),
        (SOURCE + 'mapping = {txt = "x"}\n', "source s: unknown field 'txt'"),
        (SOURCE + 'gone = "delete"\n', "source s: gone is one of keep, remove, not 'delete'"),
        ("keep = -1\n" + SOURCE, "Invalid value for '--keep': -1 is not in the range"),
        ("state = 3\n" + SOURCE, "state must be the name of a file"),
        ('[[source]]\npaths = "none"\n', "source 1: paths: there is no file or folder /"),
        ("[[source]]\npaths = []\n", "source 1: paths must name files, folders or patterns"),
        ('[[source]]\nname = 3\npaths = "."\n', "source 3: name must be a string"),
        ('[[source]]\npaths = "-"\n', "source 1: standard input cannot be a source"),
        (SOURCE + SOURCE, "two sources have the name 's'"),
    ],
)
def test_a_bad_entry_is_named_with_its_place_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text).startswith(message)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = call("sync", tmp_path / "index", tmp_path / "none.toml")
    assert result.exit_code in (1, 2)
    assert result.stderr == f"Error: {tmp_path}/none.toml: cannot be read: No such file or directory\n"
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    result = call("sync", tmp_path / "index", tmp_path / "latin.toml")
    assert result.stderr == f"Error: {tmp_path}/latin.toml: is not UTF-8, which TOML requires\n"
