"""A JSON array of 2 GB through a pipe: the peak of the process' memory is that for a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.endurance

ROOT = Path(__file__).resolve().parents[2]
READ = """
import resource
from esr.loaders import read_documents
count = sum(1 for _ in read_documents(["-"]))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
BODY = "The ferry sails again. " * 900
REST = json.dumps({"title": "Ferry", "html": BODY, "sentences": [{"text": "x"}]})[1:-1].encode()
"""Of each document, beside its id."""
ALLOWED_GROWTH = 16 * 2**20


def read(start: str, end: str, count: int) -> tuple[int, int, int]:
    """How many documents were read, the peak of memory in bytes, and the size of what was read."""
    child = subprocess.Popen(
        [sys.executable, "-c", READ], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin
    size = child.stdin.write(start.encode())
    separator = b""
    for number in range(count):
        size += child.stdin.write(b'%b{"id": "i%d", %b}' % (separator, number, REST))
        separator = b",\n" if number % 2 else b", "
    child.stdin.write(end.encode())
    documents, kilobytes = child.communicate()[0].split()
    assert child.returncode == 0
    return int(documents), int(kilobytes) * 1024, size


@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"status": "ok", "articles": [', "]}")])
def test_an_array_of_two_gigabytes_takes_no_more_memory_than_a_small_one(start: str, end: str) -> None:
    _, small, _ = read(start, end, 1000)
    count = 2**31 // len(BODY) + 1
    documents, large, size = read(start, end, count)
    assert documents == count and size > 2**31
    assert large < small + ALLOWED_GROWTH, f"{small / 2**20:.0f} MiB grew to {large / 2**20:.0f} MiB"
