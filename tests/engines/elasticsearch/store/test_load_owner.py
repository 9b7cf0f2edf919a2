"""A process is told from others with its id, and from those of other containers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from esr.engines.elasticsearch.store import load_owner
from esr.engines.elasticsearch.store.load_owner import LoadOwner

OWN = LoadOwner.parse(load_owner.this_process())


def test_this_process_is_near_and_running() -> None:
    assert (OWN.process_id, OWN.is_near, OWN.is_running) == (os.getpid(), True, True)


@pytest.mark.parametrize("text", ["a:b-4026531836:17:99", "fe80::1:b-4026531836:17:99", "8 slices:::0:"])
def test_an_owner_is_read_as_it_was_written(text: str) -> None:
    assert str(LoadOwner.parse(text)) == text


def test_a_process_that_has_ended_is_not_running() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert not OWN._replace(process_id=process.pid).is_running


def test_a_process_with_the_same_id_is_another_one() -> None:
    """In a container that is started again the loader has the process id of the killed one."""
    assert not OWN._replace(started="1").is_running


@pytest.mark.parametrize(
    "owner",
    [OWN._replace(process_space="another"), LoadOwner("8 slices"), LoadOwner.parse("old:17:0a1b2c3d")],
)
def test_the_name_of_the_host_makes_nobody_near(owner: LoadOwner) -> None:
    """Containers may have one name, and each has a process 1."""
    assert not owner._replace(host=OWN.host).is_near
