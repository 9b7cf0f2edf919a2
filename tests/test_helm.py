"""The chart of deploy/helm/esr, rendered by Helm, is what Kubernetes, the image and the server accept."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from platform import machine
from typing import Any

import pytest
import yaml

from esr import __version__
from esr.index.login_variables import VARIABLES
from tests.support.helm import lint, render

CHART = Path(__file__).resolve().parent.parent / "deploy" / "helm" / "esr"
SERVER = {"index": "https://search.example:9200/news", "server": {"secret": "esr-page", "ca": True}}
VALUES: dict[str, dict[str, Any]] = {
    "folder": {},
    "folder with loads": {"sync": {"enabled": True}, "persistence": {"existingClaim": "archive"}},
    "server": {**SERVER, "replicas": 2},
    "everything": {
        **SERVER,
        "replicas": 3,
        "settings": {"ESR_RATE": "60/minute"},
        "access": {"secret": "logins", "oidc": {"issuer": "https://login.example", "client": "esr"}},
        "ingress": {"enabled": True, "host": "news.example", "className": "nginx", "tlsSecret": "tls"},
        "sync": {"enabled": True, "secret": "esr-loader"},
        "metrics": {"serviceMonitor": True, "secret": "scrape"},
        "podAnnotations": {"a": "b"},
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"key": "search", "operator": "Exists"}],
        "imagePullSecrets": [{"name": "registry"}],
    },
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("helm_python") is None and (sys.platform, machine()) != ("linux", "x86_64"),
        reason="helm-python-sdk has no wheel for this platform",
    ),
]


@pytest.fixture(scope="module")
def manifests() -> dict[str, list[dict[str, Any]]]:
    """The manifests by the name of the values."""
    return {
        name: [
            manifest
            for file, text in sorted(files.items())
            if file.endswith(".yaml")
            for manifest in yaml.safe_load_all(text)
            if manifest
        ]
        for name, files in zip(VALUES, render(CHART, *VALUES.values()), strict=True)
    }


def find(manifests: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [manifest for manifest in manifests if manifest["kind"] == kind]
    return found


def pod(manifest: dict[str, Any]) -> dict[str, Any]:
    spec = manifest["spec"]
    described: dict[str, Any] = (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]
    return described["spec"]


def environment(manifest: dict[str, Any]) -> dict[str, str]:
    return {row["name"]: row["value"] for row in pod(manifest)["containers"][0]["env"]}


def test_helm_finds_no_fault_in_the_chart() -> None:
    assert lint(CHART) == []


@pytest.mark.parametrize("name", VALUES)
def test_kubernetes_accepts_what_the_chart_makes(
    manifests: dict[str, list[dict[str, Any]]], name: str
) -> None:
    import kubernetes_validate

    assert manifests[name]
    for manifest in manifests[name]:
        if manifest["kind"] != "ServiceMonitor":  # of the Prometheus operator
            kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


def test_the_chart_runs_the_image_of_its_version(manifests: dict[str, list[dict[str, Any]]]) -> None:
    for name in VALUES:
        page = pod(find(manifests[name], "Deployment"))
        assert page["containers"][0]["image"] == f"esr:{__version__}"


def test_pods_may_do_no_more_than_those_of_the_plain_manifests(
    manifests: dict[str, list[dict[str, Any]]],
) -> None:
    plain = yaml.safe_load(
        (CHART.parent.parent / "kubernetes-folder.yaml").read_text("utf-8").split("---\n")[2]
    )
    for manifest in manifests["everything"]:
        if manifest["kind"] in ("Deployment", "CronJob"):
            described, (container,) = pod(manifest), pod(manifest)["containers"]
            assert described["securityContext"] == pod(plain)["securityContext"]
            assert container["securityContext"] == pod(plain)["containers"][0]["securityContext"]
            assert described["automountServiceAccountToken"] is False


def test_each_volume_is_mounted_and_each_mount_has_a_volume(
    manifests: dict[str, list[dict[str, Any]]],
) -> None:
    for name in VALUES:
        for manifest in manifests[name]:
            if manifest["kind"] in ("Deployment", "CronJob"):
                described = pod(manifest)
                mounts = {mount["name"] for mount in described["containers"][0]["volumeMounts"]}
                assert mounts == {volume["name"] for volume in described["volumes"]}


def test_services_select_the_pods_of_the_page(manifests: dict[str, list[dict[str, Any]]]) -> None:
    for name in VALUES:
        labels = find(manifests[name], "Deployment")["spec"]["template"]["metadata"]["labels"]
        selector = find(manifests[name], "Service")["spec"]["selector"]
        assert selector.items() <= labels.items() and "app.kubernetes.io/component" in selector


def test_a_folder_is_read_only_for_the_page_and_written_by_loads(
    manifests: dict[str, list[dict[str, Any]]],
) -> None:
    made = manifests["folder with loads"]
    for kind, is_read_only in (("Deployment", True), ("CronJob", False)):
        described = pod(find(made, kind))
        (mount,) = [mount for mount in described["containers"][0]["volumeMounts"] if mount["name"] == "index"]
        assert mount.get("readOnly", False) is is_read_only
        (volume,) = [volume for volume in described["volumes"] if volume["name"] == "index"]
        assert volume["persistentVolumeClaim"]["claimName"] == "archive"
    assert not [manifest for manifest in made if manifest["kind"] == "PersistentVolumeClaim"]


def test_what_is_secret_comes_from_secrets(manifests: dict[str, list[dict[str, Any]]]) -> None:
    page = environment(find(manifests["everything"], "Deployment"))
    loads = environment(find(manifests["everything"], "CronJob"))
    for variables in (page, loads):
        assert {"ESR_API_KEY_FILE", "ESR_CA_FILE"} <= variables.keys() & {*VARIABLES}
        assert not {"ESR_API_KEY", "ESR_PASSWORD"} & variables.keys()
    assert page["ESR_ACCESS"].startswith("/access/") and page["ESR_OIDC_SECRET_FILE"].startswith("/access/")
    assert page["ESR_PROXIES"] == "1" and page["ESR_RATE"] == "60/minute"


@pytest.mark.parametrize(
    ("values", "fact"),
    [
        ({"replica": 2}, "replica"),
        ({"index": "news"}, "/index"),
        ({"settings": {"esr_rate": "1"}}, "esr_rate"),
        ({"access": {"oidc": {"issuer": "https://login.example"}}}, "access.secret"),
        ({"ingress": {"enabled": True}}, "ingress.host"),
    ],
)
def test_values_that_cannot_work_are_refused_by_name(values: dict[str, Any], fact: str) -> None:
    (answer,) = render(CHART, values)
    assert fact in answer["error"]
