"""Files that commands write: whole or not at all, and never over what they read."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from esr.errors import EsrError, UsageError


def check(output: str | Path, *inputs: str | Path | None) -> None:
    """Raises UsageError if the output is one of the inputs, EsrError if it cannot be written."""
    if str(output) == "-":
        return
    for source in inputs:
        if source is not None and os.path.exists(source) and os.path.realpath(source) == _target(output):
            raise UsageError(f"{output} is read by this command: write to another file")
    folder = os.path.dirname(_target(output))
    if not os.path.isdir(folder):
        raise EsrError(f"cannot write {output}: there is no folder {os.path.dirname(str(output))}")


@contextmanager
def written(output: str | Path, *inputs: str | Path | None) -> Iterator[IO[str]]:
    """A text file that appears when it is whole; `-` is standard output.

    It is written beside its place and moved there at the end; a link is followed, and a device or pipe
    written to as it is. Raises as `check` does, and EsrError if the disk is full.
    """
    check(output, *inputs)
    if str(output) == "-":
        yield sys.stdout
        return
    target = _target(output)
    in_place = os.path.exists(target) and not os.path.isfile(target)
    fresh = target if in_place else f"{target}.new"
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            yield file
        if not in_place:
            os.replace(fresh, target)
    except OSError as error:
        raise EsrError(f"cannot write {output}: {error.strerror}") from error
    finally:
        if not in_place:
            Path(fresh).unlink(missing_ok=True)


def _target(output: str | Path) -> str:
    return os.path.realpath(output)
