"""Takes from an index what the versions of esr did not store that did not group names."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from esr.folder.format import manifest
from esr.folder.format.files import map_bundle, save_bundle
from esr.folder.format.manifest import LAYERS, new_layer_name
from esr.index.factory import is_elasticsearch
from tests.support.elasticsearch import http


def forget_keys(where: str) -> None:
    """The names stay, without their keys."""
    if is_elasticsearch(where):
        script = (
            "ctx._source.remove('names'); ctx._source.enriched?.removeIf(mark -> mark.startsWith('names:'))"
        )
        http("POST", f"{where}/_update_by_query?refresh=true", {"script": {"source": script}})
        return
    folder = Path(where)
    commit = manifest.read_manifest(folder)
    layers = []
    for layer in commit.layers:
        arrays = map_bundle(folder / LAYERS / layer.name)
        layers.append(replace(layer, name=new_layer_name()))
        save_bundle(
            folder / LAYERS / layers[-1].name, {k: v for k, v in arrays.items() if not k.startswith("name.")}
        )
    manifest.commit(folder, commit.with_layers(tuple(layers), commit.recipes))
