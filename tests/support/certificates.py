"""An authority and a certificate for nodes of this machine, made by openssl."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support.base import NoNode


def make(folder: Path) -> Path:
    """Write `ca.crt`, `node.crt` and `node.key` into a folder. Returns the authority's file."""
    if shutil.which("openssl") is None:
        raise NoNode("there is no openssl to make certificates with")
    key = ["-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    _openssl(folder, "req", "-x509", *key, "-subj", "/CN=esr-test-ca", "-keyout", "ca.key", "-out", "ca.crt")
    signed = ["-CA", "ca.crt", "-CAkey", "ca.key"]
    _openssl(
        folder, "req", "-x509", *key, *signed, "-subj", "/CN=node", "-addext", names,
        "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", "node.key", "-out", "node.crt",
    )  # fmt: skip
    return folder / "ca.crt"


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoNode(f"openssl made no certificate: {done.stderr.strip()}")
