from __future__ import annotations

import shlex

import click
import pytest

from esr import __version__
from esr.cli import main
from tests.cli.conftest import Esr


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
COMMANDS = sorted(LEAVES)


def test_these_commands_exist() -> None:
    promised = {"load", "search", "run", "explain", "query", "serve", "status"}
    assert promised | {"models", "priors", "features", "analyzers", "formats"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help_and_an_example(esr: Esr, name: str) -> None:
    command = LEAVES[name]
    result = esr(*name.split(), "--help")
    assert result.exit_code == 0
    assert command.get_short_help_str()
    assert "Example:\n" in result.output
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.name not in ("port",):
            assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.parametrize("name", COMMANDS)
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


def test_an_unknown_option_is_rejected(esr: Esr, index: object) -> None:
    result = esr("search", "china", "--index", index, "--modell", "dir")
    assert result.exit_code == 2
    assert "--modell" in result.stderr and "Traceback" not in result.stderr
