"""Files that commands write: complete or not at all, and never over their own inputs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from esr.errors import EsrError, UsageError


def check_output(output: str | Path, *inputs: str | Path | None) -> None:
    """Raise UsageError if the output is one of the inputs, EsrError if its folder does not exist."""
    if str(output) == "-":
        return
    for source in inputs:
        if source is not None and os.path.exists(source) and os.path.realpath(source) == _target(output):
            raise UsageError(f"{output} is an input of this command: write to another file")
    folder = os.path.dirname(_target(output))
    if not os.path.isdir(folder):
        raise EsrError(f"cannot write {output}: create the folder {os.path.dirname(str(output))} first")


@contextmanager
def open_output(output: str | Path, *inputs: str | Path | None) -> Iterator[IO[str]]:
    """A text file that appears when it is complete; `-` is standard output.

    It is written beside its place and moved there at the end. Links are followed; devices and pipes are
    written directly. Raises like `check_output`, and EsrError if writing fails, as on a full disk.
    """
    check_output(output, *inputs)
    if str(output) == "-":
        yield sys.stdout
        return
    target = _target(output)
    is_in_place = os.path.exists(target) and not os.path.isfile(target)
    new_file = target if is_in_place else f"{target}.new"
    try:
        with open(new_file, "w", encoding="utf-8") as file:
            yield file
        if not is_in_place:
            os.replace(new_file, target)
    except OSError as error:
        raise EsrError(f"cannot write {output}: {error.strerror}") from error
    finally:
        if not is_in_place:
            Path(new_file).unlink(missing_ok=True)


def _target(output: str | Path) -> str:
    return os.path.realpath(output)
