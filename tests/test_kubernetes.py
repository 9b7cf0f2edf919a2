"""deploy/kubernetes.yaml is what Kubernetes accepts, and what the image and the server need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from esr.index.login import VARIABLES
from webui.running.health import PATHS

ROOT = Path(__file__).resolve().parent.parent
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


@pytest.mark.slow
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
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
    assert {probe["path"] for probe in probes.values()} <= PATHS
    assert probes["readiness"]["path"] == "/readyz" and probes["liveness"]["path"] == "/healthz"
    ports = {port["name"]: port["containerPort"] for port in CONTAINER["ports"]}
    assert {ports[probe["port"]] for probe in probes.values()} == {int(CONTAINER["args"][-1])}
    assert SERVICE["spec"]["ports"][0]["targetPort"] in ports
