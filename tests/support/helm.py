"""Render a chart as Helm does: `python -m tests.support.helm CHART` reads lists of values as JSON.

In a process of its own: the library has the runtime of Go in it, and other tests fork.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def render(chart: Path, *values: dict[str, Any]) -> list[dict[str, Any]]:
    """Manifests by file for each of some values, or the message of the error as `error`."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.helm", str(chart)],
        input=json.dumps(values),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def lint(chart: Path) -> list[str]:
    """The errors and warnings of `helm lint`."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.helm", str(chart), "lint"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    problems: list[str] = json.loads(done.stdout)
    return problems


def _main(arguments: Sequence[str]) -> None:
    import helm_python as helm

    chart, *rest = arguments
    if rest:
        found = helm.lint(chart, strict=True)
        warnings = [message["error"] for message in found["messages"] if message["severity"] > 1]
        print(json.dumps([*found["errors"], *warnings]))
        return
    answers: list[dict[str, Any]] = []
    with helm.Chart.load(chart) as loaded:
        for values in json.load(sys.stdin):
            try:
                loaded.validate_schema(values)
                answers.append(loaded.render(values, name="news", namespace="press"))
            except helm.HelmError as error:
                answers.append({"error": str(error)})
    print(json.dumps(answers))


if __name__ == "__main__":
    _main(sys.argv[1:])
