"""docker-compose.yml is valid and says what it should.

Docker's own program checks it where there is one. What it must say is looked up in the file by a small
reader of the part of YAML that the file uses, so that no YAML library is needed for one test.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from esr.index.login_variables import VARIABLES
from tests.support.process import IMAGE
from webui.running.rate_limit import HEALTH_PATHS

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = (ROOT / "docker-compose.yml").read_text("utf-8")
SETTINGS = (ROOT / ".env.example").read_text("utf-8")


def program() -> list[str] | None:
    """The command that understands compose files, or None."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            done = subprocess.run([*command, "version"], capture_output=True, check=False)
            if done.returncode == 0:
                return command
    return None


def values(text: str) -> dict[str, list[str]]:
    """Values by path, as `services.esr.ports`. Lists are lists of values; a block's lines are joined."""
    found: dict[str, list[str]] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        assert "\t" not in line, "YAML knows no tabs"
        depth = len(line) - len(line.lstrip())
        key = re.match(r"([\w.-]+|<<):(?: (.*))?$", content)
        while path and path[-1][0] >= depth and (key or path[-1][0] > depth):
            path.pop()
        where = ".".join(name for _, name in path)
        if key:
            path.append((depth, key[1]))
            where = ".".join(name for _, name in path)
            content = key[2] or ""
        if content:
            found.setdefault(where, []).append(content.removeprefix("- ").strip('"'))
        else:
            found.setdefault(where, [])
    return found


def default(text: str) -> str:
    """A value where no variable is set: `${NAME:-default}` is its default."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


@pytest.fixture(scope="module")
def compose() -> dict[str, list[str]]:
    return values(COMPOSE)


@pytest.mark.slow
def test_docker_accepts_it() -> None:
    command = program()
    if command is None:
        pytest.skip("no docker compose here: the other tests look at the file's text alone")
    done = subprocess.run([*command, "config"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "elasticsearch:9" in done.stdout


NODES = ("elasticsearch", "elasticsearch-2", "elasticsearch-3")


def mounted(compose: dict[str, list[str]], service: str) -> dict[str, str]:
    """Where each volume of a service is, with how."""
    return dict(volume.split(":", 1) for volume in compose.get(f"services.{service}.volumes", []))


def test_each_node_has_data_of_its_own_a_heap_and_a_limit(compose: dict[str, list[str]]) -> None:
    """The image of the tests, checked for health, each node with data of its own, a heap and a limit."""
    every = "x-elasticsearch"
    assert compose[f"{every}.image"] == [IMAGE]
    assert "_cluster/health" in COMPOSE
    heap = re.fullmatch(r"-Xms(\S+) -Xmx(\S+)", default(compose["x-node.ES_JAVA_OPTS"][0]))
    assert heap and heap[1] == heap[2]
    memory = default(compose[f"{every}.mem_limit"][0])
    assert int(memory.rstrip("g")) >= 2 * int(heap[1].rstrip("g"))
    for node in NODES:
        service = f"services.{node}"
        assert compose[f"{service}.<<"] == ["*elasticsearch"]
        assert compose[f"{service}.environment.<<"] == ["*node"]
        assert compose[f"{service}.environment.node.name"] == [node]
        assert mounted(compose, node)[node] == "/usr/share/elasticsearch/data"
    assert default(compose["x-node.discovery.seed_hosts"][0]) == "[]", "one node looks for no others"
    assert f"ELASTICSEARCH_SEEDS={','.join(NODES)}\n" in SETTINGS
    assert "COMPOSE_PROFILES=cluster\n" in SETTINGS
    assert compose["x-node.cluster.initial_master_nodes"] == [NODES[0]], "one node alone is a cluster"


def test_more_nodes_are_there_for_the_profile_alone(compose: dict[str, list[str]]) -> None:
    assert "services.elasticsearch.profiles" not in compose
    for node in NODES[1:]:
        assert compose[f"services.{node}.profiles"] == ["cluster"]


def test_security_is_on_everywhere(compose: dict[str, list[str]]) -> None:
    for setting in ("enabled", "http.ssl.enabled", "transport.ssl.enabled"):
        assert compose[f"x-node.xpack.security.{setting}"] == ["true"]
    assert compose["x-esr.environment.ESR_INDEX"][0].startswith("https://")
    assert "ESR_INSECURE" not in COMPOSE
    assert "--cacert" in COMPOSE


def test_nothing_secret_stands_in_the_file(compose: dict[str, list[str]]) -> None:
    """Passwords and keys are named by their files alone, which are made at the first start."""
    for path, said in compose.items():
        name = path.rsplit(".", 1)[-1]
        if re.search("PASSWORD|API_KEY|SECRET", name):
            assert name.endswith("_FILE"), path
            assert all(value.startswith("/") for value in said if value), path
    setup = "\n".join(compose["services.setup.entrypoint"])
    assert "/dev/urandom" in setup and "certutil cert" in setup and "umask 077" in setup


def test_each_service_holds_the_secrets_that_it_needs(compose: dict[str, list[str]]) -> None:
    assert mounted(compose, "esr") == {"page": "/own:ro"}
    assert mounted(compose, "load") == {"loader": "/own:ro", "work": "/work"}
    assert set(mounted(compose, "keys")) == {"keys", "page", "loader", "work"}
    for node in NODES:
        assert set(mounted(compose, node)) == {node, "certificates", "login", "backups"}
    assert compose["x-esr.environment.ESR_API_KEY_FILE"] == ["/own/key"]
    for service in ("setup", *NODES, "keys", "load", "esr"):
        for volume in mounted(compose, service):
            assert f"volumes.{volume}" in compose
    keys = "\n".join(compose["services.keys.command"])
    assert "--role page --key /page/key --wait" in keys and "--role loader --key /loader/key --wait" in keys


def test_nothing_is_open_to_the_network(compose: dict[str, list[str]]) -> None:
    ports = [port for path, values in compose.items() if path.endswith(".ports") for port in values]
    assert len(ports) == 2
    assert all(default(port).startswith("127.0.0.1:") for port in ports)


def test_the_page_waits_for_an_index(compose: dict[str, list[str]]) -> None:
    assert compose["x-esr.environment.ESR_INDEX"] == ["https://${ESR_HOSTS:-elasticsearch:9200}/news"]
    assert compose["services.image.build.context"] == ["."], "built once"
    assert [path for path in compose if path.endswith(".build")] == ["services.image.build"]
    for service in ("image", "keys", "load", "esr"):
        assert compose[f"services.{service}.<<"] == ["*esr"]
    done, healthy = ["service_completed_successfully"], ["service_healthy"]
    assert compose["x-elasticsearch.depends_on.setup.condition"] == done
    assert compose["services.keys.depends_on.elasticsearch.condition"] == healthy
    assert compose["services.load.depends_on.keys.condition"] == done
    assert compose["services.esr.depends_on.load.condition"] == done
    assert "esr serve --host 0.0.0.0 --port 8080" in compose["services.esr.command"]
    assert "/healthz" in compose["services.esr.healthcheck.test"][0]
    load = "\n".join(compose["services.load.command"])
    assert load.index("esr status 2>/dev/null && exit") < load.index("example_news") < load.index("esr load")


def test_the_image_has_all_that_it_copies() -> None:
    """What the Dockerfile copies is there and let through by .dockerignore; nothing runs as root."""
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")
    }
    lines = [line for line in re.findall(r"^COPY (.*)$", dockerfile, re.M) if not line.startswith("--from")]
    copied = {name for line in lines for name in line.split()[:-1]}
    assert copied == allowed and not [name for name in allowed if name.startswith(".")]
    assert all((ROOT / name).exists() for name in copied)
    assert re.search(r"^USER esr$", dockerfile, re.M)
    assert dockerfile.index("USER esr") < dockerfile.index("CMD")


def test_every_setting_of_the_file_is_in_the_example(compose: dict[str, list[str]]) -> None:
    used = set(re.findall(r"\$\{(\w+):-", COMPOSE)) | {"COMPOSE_PROFILES"}
    assert set(re.findall(r"^#? ?([A-Z_]+)=", SETTINGS, re.M)) == used
    for name, value in re.findall(r"^([A-Z_]+)=(.*)$", SETTINGS, re.M):
        assert name == "COMPOSE_PROFILES" or f"${{{name}:-{value}}}" in COMPOSE, name


def test_all_nodes_share_a_place_for_snapshots(compose: dict[str, list[str]]) -> None:
    (place,) = compose["x-node.path.repo"]
    assert all(mounted(compose, node)["backups"] == place for node in (*NODES, "setup"))
    assert f"chown -R 1000:0 /certificates /login {place}" in "\n".join(compose["services.setup.entrypoint"])


def test_spools_of_loads_are_on_disk(compose: dict[str, list[str]]) -> None:
    """What lies in a tmpfs counts towards the memory limit."""
    assert compose["x-esr.environment.TMPDIR"] == ["/work"]
    assert mounted(compose, "load")["work"] == "/work"
    assert "/work" not in compose["x-esr.tmpfs"]


def test_nodes_trust_the_authority_and_not_addresses(compose: dict[str, list[str]]) -> None:
    mode = compose["x-node.xpack.security.transport.ssl.verification_mode"]
    assert mode == ["certificate"]


# deploy/kubernetes.yaml is what Kubernetes accepts, and what the image and the server need.


TEXT = (ROOT / "deploy" / "kubernetes.yaml").read_text("utf-8")
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all(TEXT))
DEPLOYMENT, SERVICE, BUDGET = MANIFESTS
POD = DEPLOYMENT["spec"]["template"]
(CONTAINER,) = POD["spec"]["containers"]


@pytest.fixture(scope="module")
def kubernetes_validate() -> Any:
    """Imported by the tests that use it: that takes seconds, in which others could run."""
    import kubernetes_validate

    return kubernetes_validate


OTHERS: list[dict[str, Any]] = [
    manifest
    for name in ("folder", "load")
    for manifest in yaml.safe_load_all((ROOT / "deploy" / f"kubernetes-{name}.yaml").read_text("utf-8"))
]
CRON_JOBS = [manifest for manifest in OTHERS if manifest["kind"] == "CronJob"]


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The pod that a deployment or a job starts."""
    spec = manifest["spec"]
    return (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]


PODS = [pod_of(manifest) for manifest in OTHERS if manifest["kind"] in ("CronJob", "Deployment")]


@pytest.mark.slow
@pytest.mark.parametrize("manifest", [*MANIFESTS, *OTHERS], ids=lambda manifest: manifest["kind"])
def test_kubernetes_accepts_it(kubernetes_validate: Any, manifest: dict[str, Any]) -> None:
    """By the schemas of its API, which know every field."""
    kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.slow
def test_a_field_that_kubernetes_does_not_know_is_found(kubernetes_validate: Any) -> None:
    spoilt = {**SERVICE, "spec": {**SERVICE["spec"], "port": 80}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(spoilt, kubernetes_validate.latest_version(), strict=True)


def test_all_of_it_is_about_the_same_pods() -> None:
    labels = POD["metadata"]["labels"]
    assert DEPLOYMENT["spec"]["selector"]["matchLabels"] == labels
    assert SERVICE["spec"]["selector"] == labels
    assert BUDGET["spec"]["selector"]["matchLabels"] == labels


def test_the_image_is_that_of_the_compose_file() -> None:
    assert f"image: {CONTAINER['image']}\n" in (ROOT / "docker-compose.yml").read_text("utf-8")


def test_it_may_do_nothing_but_serve() -> None:
    user = re.search(r"--uid (\d+)", (ROOT / "Dockerfile").read_text("utf-8"))
    assert user and POD["spec"]["securityContext"]["runAsUser"] == int(user[1])
    assert POD["spec"]["securityContext"]["runAsNonRoot"]
    assert POD["spec"]["automountServiceAccountToken"] is False
    own = CONTAINER["securityContext"]
    assert own["readOnlyRootFilesystem"] and not own["allowPrivilegeEscalation"]
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert set(CONTAINER["resources"]) == {"requests", "limits"}


def test_what_is_secret_comes_from_a_secret() -> None:
    variables = {variable["name"]: variable["value"] for variable in CONTAINER["env"]}
    assert set(variables) <= {*VARIABLES, "ESR_INDEX", "XDG_CACHE_HOME"}
    folders = {mount["name"]: mount["mountPath"] for mount in CONTAINER["volumeMounts"]}
    secret = {volume["name"] for volume in POD["spec"]["volumes"] if "secret" in volume}
    for name in ("ESR_API_KEY_FILE", "ESR_CA_FILE"):
        folder, _, key = variables[name].rpartition("/")
        assert folder in {folders[volume] for volume in secret}
        assert f"--from-file={key}" in TEXT


def test_probes_ask_what_the_server_answers() -> None:
    probes = {name: CONTAINER[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {probe["path"] for probe in probes.values()} <= HEALTH_PATHS
    assert probes["readiness"]["path"] == "/readyz" and probes["liveness"]["path"] == "/healthz"
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert {ports[probe["port"]] for probe in probes.values()} == {int(CONTAINER["args"][-1])}
    assert SERVICE["spec"]["ports"][0]["targetPort"] in ports


@pytest.mark.parametrize(
    "pod", PODS, ids=lambda pod: pod["metadata"]["labels"]["app.kubernetes.io/component"]
)
def test_other_pods_are_of_the_same_image_and_may_do_no_more(pod: dict[str, Any]) -> None:
    (container,) = pod["spec"]["containers"]
    assert container["image"] == CONTAINER["image"]
    assert container["securityContext"] == CONTAINER["securityContext"]
    assert pod["spec"]["securityContext"] == POD["spec"]["securityContext"]
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert set(container["resources"]) == {"requests", "limits"}
    volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
    assert volumes == {mount["name"] for mount in container["volumeMounts"]}


def test_what_other_pods_mount_is_defined_beside_them() -> None:
    names = {(manifest["kind"], manifest["metadata"]["name"]) for manifest in OTHERS}
    for pod in PODS:
        for volume in pod["spec"]["volumes"]:
            if "persistentVolumeClaim" in volume:
                assert ("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]) in names
            if "configMap" in volume:
                assert ("ConfigMap", volume["configMap"]["name"]) in names


def test_the_page_of_a_folder_may_only_read_it_and_its_job_writes_it() -> None:
    mounts = {
        container["name"]: mount
        for pod in PODS
        for container in pod["spec"]["containers"]
        for mount in container["volumeMounts"]
        if mount["name"] == "index"
    }
    assert mounts["page"]["readOnly"] and not mounts["sync"].get("readOnly")


@pytest.mark.parametrize("job", CRON_JOBS, ids=lambda job: job["metadata"]["name"])
def test_one_run_of_a_job_reads_a_file_of_sources_that_is_valid(job: dict[str, Any], tmp_path: Path) -> None:
    from esr.cli.sync import read_config

    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    (container,) = pod_of(job)["spec"]["containers"]
    maps = [volume["configMap"]["name"] for volume in pod_of(job)["spec"]["volumes"] if "configMap" in volume]
    (config,) = (m for m in OTHERS if m["kind"] == "ConfigMap" and m["metadata"]["name"] == maps[0])
    name = Path(container["args"][-1]).name
    (tmp_path / name).write_text(config["data"][name])
    settings = read_config(tmp_path / name)
    folders = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
    assert any(settings.state.is_relative_to(folder) for folder in folders)


@pytest.mark.parametrize(
    "lock", sorted((ROOT / "deploy" / "image").glob("*.txt")), ids=lambda lock: lock.stem
)
def test_each_package_of_the_image_is_pinned_by_hash_and_names_no_registry(lock: Path) -> None:
    text = lock.read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert lines and not re.search(r"https?:|--index|--find|--trusted", text)
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.!+]+( ; [^#]+?)?( +--hash=sha256:[0-9a-f]{64})+ *", line), line[
            :80
        ]


def test_the_lock_of_the_image_has_each_dependency_in_a_version_that_fits() -> None:
    text = (ROOT / "deploy" / "image" / "requirements.txt").read_text("utf-8")
    locked = {
        canonicalize_name(name): version for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", text)
    }
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = map(Requirement, tomllib.load(file)["project"]["dependencies"])
    for requirement in wanted:
        version = locked.get(canonicalize_name(requirement.name))
        assert version and requirement.specifier.contains(version), f"{requirement}: make lock"
