"""What the tests share: a real Elasticsearch, and what happens where there is none.

Where the tests write: memory, if there is enough of it.

An index is synced to disk file by file, and most tests make one: on a disk that takes 5 ms to sync, tests of
the embedded engine take twice as long as in memory. What they test is the same: a killed process, unlike a
machine without power, loses nothing that was written.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import hypothesis
import pytest

from tests.support.runs import end_test, examples

if TYPE_CHECKING:
    from jinja2.bccache import BytecodeCache
    from werkzeug.routing import Rule

    from tests.support.node import Cluster


MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30
"""Bytes that have to be free: nodes are unpacked and load there too."""


def use_memory(environment: MutableMapping[str, str], memory: Path = MEMORY, enough: int = ENOUGH) -> None:
    """Let temporary files of this process and of those that it starts be in memory.

    A TMPDIR that is set stays. So does the disk where programs cannot be run from memory: a node has some.
    """
    if "TMPDIR" in environment or not os.access(memory, os.W_OK | os.X_OK):
        return
    is_executable = not os.statvfs(memory).f_flag & os.ST_NOEXEC
    if is_executable and shutil.disk_usage(memory).free >= enough:
        environment["TMPDIR"] = str(memory)
        tempfile.tempdir = None  # what was found before


use_memory(os.environ)

# Only the tests of what loads do for meaning load models.
os.environ["ESR_MEANING"] = "no"

# jsonschema imports a grammar of addresses if it finds one: two seconds, for a format that no schema has.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Collecting makes millions of objects that stay: looking for garbage among them takes a quarter of the time.
gc.disable()

# How long an example takes says something of the machine, which others may use too, and nothing of esr.
hypothesis.settings.register_profile(
    "esr",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("quick", hypothesis.settings.get_profile("esr"), max_examples=10)
hypothesis.settings.load_profile("esr")


NOT_RUN = "no Elasticsearch node: "
LONGEST = (
    "tests/index/test_servers.py",
    "tests/tools/test_release.py",
    "tests/tools/test_containers.py",
    "tests/folder/search/test_kernel_loader.py",
    "tests/index/test_chaos.py",
    "tests/cli/test_following.py",
    "tests/index/test_conditions.py",
    "tests/elastic/test_faults.py",
    "tests/elastic/write/test_broken_generations.py",
    "tests/loaders/test_memory.py",
    "tests/folder/test_crash.py",
    "tests/loaders/test_fuzz.py",
    "tests/benchmarks/test_command.py",
    "tests/elastic/test_errors.py",
    "tests/index/test_migration.py",
    "tests/test_collections.py",
    "tests/index/test_index_life.py",
    "tests/text/test_elasticsearch_analysis.py",
)
"""Files that take minutes. They begin, since nothing runs beside a long file that is left for the end."""
MARKED_BY = {"elasticsearch": {"elasticsearch_url", "start_elasticsearch"}, "browser": {"browser"}}
"""Markers, and the fixtures whose users have them."""


def without_node(reason: str) -> NoReturn:
    """End the present test since there is no node."""
    end_test(NOT_RUN + reason)


@pytest.fixture(scope="session")
def elasticsearch_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of a node without security, shared by all tests of the run and started for the first of them.

    A test should use index names of its own, as the node may also be one that somebody else uses.
    """
    from tests.support.base import NoNode
    from tests.support.node import shared_node

    is_one_of_several = hasattr(request.config, "workerinput")  # a process of pytest-xdist
    try:
        with shared_node(tmp_path_factory.getbasetemp().parent if is_one_of_several else None) as url:
            yield url
    except NoNode as error:
        without_node(str(error))


@pytest.fixture
def start_elasticsearch() -> Iterator[Callable[..., Cluster]]:
    """A function that starts a cluster for one test, to be broken or with security: see `Cluster.start`."""
    from tests.support.base import NoNode
    from tests.support.node import Cluster

    started: list[Cluster] = []

    def start(**options: Any) -> Cluster:
        try:
            started.append(Cluster.start(**options))
        except NoNode as error:
            without_node(str(error))
        return started[-1]

    yield start
    for cluster in started:
        cluster.stop()


@pytest.fixture(
    params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)],
)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place that holds nothing, on either engine, for what both must do alike."""
    from tests.support.elasticsearch import fresh

    if request.param == "embedded":
        yield str(tmp_path / "index")
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        yield where


_NOT_ANY = re.compile(r"not \w+(?: and not \w+)*")
_WHOLE_FILE = re.compile(r"^pytestmark = (\[[^]]*\]|.*)$", re.MULTILINE)


def is_left_out(text: str, marks: str) -> bool:
    """Whether `-m marks` leaves out all tests of a file with this text, as the mark of the file says."""
    if not _NOT_ANY.fullmatch(marks) or (of_file := _WHOLE_FILE.search(text)) is None:
        return False
    return not set(re.findall(r"mark\.(\w+)", of_file[1])).isdisjoint(re.findall(r"not (\w+)", marks))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no file of which no test would run: each process of the quick tests would import it."""
    if collection_path.suffix != ".py" or not config.option.markexpr:
        return None
    return is_left_out(collection_path.read_text("utf-8"), config.option.markexpr) or None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that uses a node or a browser: a forgotten mark must not start one in a quick run.

    The longest begin, then those that use a node, then the files of the most tests.
    """
    for item in items:
        for mark, fixtures in MARKED_BY.items():
            if fixtures & set(getattr(item, "fixturenames", ())) or item.get_closest_marker(mark):
                item.add_marker(mark)
    ranks = {file: rank for rank, file in enumerate(LONGEST)}
    sizes = Counter(map(_file_of, items))
    nodes = {_file_of(item) for item in items if item.get_closest_marker("elasticsearch")}

    def order(item: pytest.Item) -> tuple[int, bool, int, str]:
        file = _file_of(item)
        return ranks.get(file, len(ranks)), file not in nodes, -sizes[file], file

    items.sort(key=order)


def _file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def _compiled_templates() -> BytecodeCache:
    """Those compiled, in memory. Many tests make an app, whose first page takes fifty times a later one."""
    from jinja2.bccache import Bucket, BytecodeCache

    class MemoryCache(BytecodeCache):
        def __init__(self) -> None:
            self.compiled: dict[str, bytes] = {}

        def load_bytecode(self, bucket: Bucket) -> None:
            if bucket.key in self.compiled:
                bucket.bytecode_from_string(self.compiled[bucket.key])

        def dump_bytecode(self, bucket: Bucket) -> None:
            self.compiled[bucket.key] = bucket.bytecode_to_string()

    return MemoryCache()


def _compiled_rules() -> type[Rule]:
    """Rules that are compiled once for all apps: compiling 150 of them takes most of the time of an app."""
    from werkzeug.routing import Rule

    compiled: dict[object, dict[str, Any]] = {}

    class KnownRule(Rule):
        def compile(self) -> None:
            defaults = sorted((self.defaults or {}).items())
            key = self.rule, self.subdomain, self.host, self.merge_slashes, repr(defaults)
            if key not in compiled:
                before = dict(vars(self))
                super().compile()
                compiled[key] = {
                    name: value for name, value in vars(self).items() if value is not before.get(name)
                }
            vars(self).update(compiled[key])

    return KnownRule


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """From here on garbage is looked for, but seldom among what was collected: that is old by now.

    Nothing is frozen: each command of esr counts the frozen objects, which takes .3 s for those of all tests.
    """
    if flask := sys.modules.get("flask"):
        flask.Flask.jinja_options = {"bytecode_cache": _compiled_templates()}
        flask.Flask.url_rule_class = _compiled_rules()
    gc.collect()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end which tests did not run for want of a node, so that a green run does not deceive."""
    from tests.support.node import HOW_TO

    missed = [
        (report.nodeid, str(report.longrepr[2]).split(NOT_RUN, 1)[1])
        for report in terminalreporter.getreports("skipped")
        if isinstance(report.longrepr, tuple) and NOT_RUN in str(report.longrepr[2])
    ]
    if not missed:
        return
    terminalreporter.section("NOT RUN: no Elasticsearch node", sep="!", red=True, bold=True)
    for nodeid, _ in missed:
        terminalreporter.write_line(f"not run: {nodeid}", red=True)
    terminalreporter.write_line(f"{len(missed)} tests did not run. Why: {missed[0][1]}", red=True, bold=True)
    terminalreporter.write_line(f"To run them, {HOW_TO}.", bold=True)
