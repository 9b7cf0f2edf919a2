"""The manifest: the one file that names all that makes up the index. Replacing it is the commit."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from esr.engines.segments.store.arrays import replace_json
from esr.engines.segments.store.layer_info import LayerInfo
from esr.engines.writer import Description, outdated_analyzer
from esr.errors import IndexMissing, IndexUnusable

NAME = "esr-index.json"
FORMAT = 5
SEGMENTS = "segments"
"""The folder of the segments."""
UNNAMED = "0"
"""The name of a generation from before generations had names."""


class Manifest(Struct, frozen=True):
    """A commit of an index.

    `layers` are in the order they were written: later ones take precedence. `recipes` are by digest.
    `generation_name` is the one that `esr indices` shows: enrichment makes commits within a generation.
    `kept_generations` are the last commits of other generations, the newest first, rejected ones last; they
    keep none themselves. A rollback has rejected a generation that `is_rejected`: it went back past it.
    `aliases` are those of names, by the form under which a name is shown.
    """

    description: Description
    segments: tuple[str, ...] = ()
    commit_number: int = 0
    layers: tuple[LayerInfo, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    format: int = field(default_factory=lambda: FORMAT)
    generation_name: str = UNNAMED
    kept_generations: tuple[Manifest, ...] = ()
    is_rejected: bool = False
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def has_index(self) -> bool:
        """Whether it is of a generation, perhaps one without documents: there is none before the first."""
        return bool(self.segments) or self.generation_name != UNNAMED

    @property
    def newest_name(self) -> str:
        """The greatest name of a generation."""
        return max(commit.generation_name for commit in (self, *self.kept_generations))

    def next_generation(
        self,
        name: str,
        segments: tuple[str, ...],
        description: Description,
        layers: Iterable[LayerInfo] = (),
        keep: int = 0,
    ) -> Manifest:
        """The next commit, of a new generation.

        `layers` are those of new segments; segments of this commit retain theirs. `keep` older generations
        are kept, this one the first of them.
        """
        retained = (layer for layer in self.layers if layer.segment in segments)
        commit = Manifest(
            description,
            segments,
            self.commit_number + 1,
            (*retained, *layers),
            self.recipes,
            generation_name=name,
            kept_generations=self._all_generations()[:keep],
            aliases=self.aliases,
        )
        return commit._without_unused_recipes()

    def with_layers(
        self, layers: tuple[LayerInfo, ...], recipes: Mapping[str, Mapping[str, Any]]
    ) -> Manifest:
        """The next commit, with the same documents and these layers."""
        commit = replace(self, commit_number=self.commit_number + 1, layers=layers, recipes=recipes)
        return commit._without_unused_recipes()

    def with_aliases(self, aliases: Mapping[str, Sequence[str]]) -> Manifest:
        """The next commit, with these aliases of names; this one if it has them."""
        if aliases == self.aliases:
            return self
        return replace(self, commit_number=self.commit_number + 1, aliases=aliases)

    def rolled_back_to(self, name: str) -> Manifest:
        """The next commit, which serves a kept generation, keeps this one and rejects all newer ones."""
        generations = self._all_generations()
        (target,) = (commit for commit in generations if commit.generation_name == name)
        others = tuple(
            replace(commit, is_rejected=commit.is_rejected or commit.generation_name > name)
            for commit in generations
            if commit.generation_name != name
        )
        return replace(
            target, commit_number=self.commit_number + 1, kept_generations=others, is_rejected=False
        )

    def without_generations(self, names: Container[str]) -> Manifest:
        """The next commit, which no longer keeps these generations."""
        kept = tuple(commit for commit in self.kept_generations if commit.generation_name not in names)
        return replace(self, commit_number=self.commit_number + 1, kept_generations=kept)

    def _all_generations(self) -> tuple[Manifest, ...]:
        """This generation, if it is one, and the kept ones, the newest first, rejected ones last."""
        own = (replace(self, kept_generations=()),) if self.has_index else ()
        newest_first = sorted(
            (*own, *self.kept_generations), key=lambda commit: commit.generation_name, reverse=True
        )
        return tuple(sorted(newest_first, key=lambda commit: commit.is_rejected))

    def layers_of(self, segment: str) -> list[LayerInfo]:
        return [layer for layer in self.layers if layer.segment == segment]

    def _without_unused_recipes(self) -> Manifest:
        used = {layer.recipe for layer in self.layers}
        return replace(self, recipes={key: self.recipes[key] for key in self.recipes if key in used})

    def as_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            "description": self.description.as_dict(),
            "segments": self.segments,
            "generation": self.commit_number,
            "layers": [asdict(layer) for layer in self.layers],
            "recipes": self.recipes,
            "format": self.format,
            "made": self.generation_name,
            "kept": [commit.as_dict() for commit in self.kept_generations],
            **({"rejected": True} if self.is_rejected else {}),
            **({"aliases": self.aliases} if self.aliases else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Manifest:
        return cls(
            Description.from_dict(data["description"]),
            tuple(data["segments"]),
            data["generation"],
            tuple(map(LayerInfo.from_dict, data.get("layers", ()))),
            data.get("recipes", {}),
            data["format"],
            generation_name=data.get("made", UNNAMED),
            kept_generations=tuple(map(cls.from_dict, data.get("kept", ()))),
            is_rejected=data.get("rejected", False),
            aliases=data.get("aliases", {}),
        )


def read(folder: Path) -> Manifest:
    """The last commit. Raises IndexMissing or IndexUnusable, also if the index needs `esr migrate`."""
    commit = read_any_format(folder)
    if commit.format != FORMAT:
        raise IndexUnusable(
            f"{folder} has index format {commit.format}, this esr searches {FORMAT}: run esr migrate"
        )
    if not commit.description.is_current:
        raise IndexUnusable(outdated_analyzer(str(folder), commit.description))
    return commit


def read_any_format(folder: Path) -> Manifest:
    """The last commit, also of an older format: only its documents may be read then."""
    try:
        data = json.loads((folder / NAME).read_text("utf-8"))
    except NotADirectoryError as error:
        raise IndexUnusable(f"{folder} is a file, not an index folder") from error
    except FileNotFoundError as error:
        if not folder.exists():
            raise IndexMissing(f"there is no index at {folder}: make one with esr load") from error
        raise IndexUnusable(f"{folder} is not an index: it has no {NAME}") from error
    except (OSError, ValueError) as error:
        raise IndexUnusable(f"{folder / NAME} cannot be read: {error}") from error
    format = data.get("format") if isinstance(data, dict) else None
    if not isinstance(format, int) or not 1 <= format <= FORMAT:
        raise IndexUnusable(f"{folder} has index format {format}, this esr knows {FORMAT}: use a newer esr")
    try:
        return Manifest.from_dict(data)
    except (KeyError, TypeError) as error:
        raise IndexUnusable(
            f"{folder / NAME} is incomplete: delete the folder and load everything again"
        ) from error


def commit(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest atomically: readers see the old commit or the new one."""
    replace_json(folder / NAME, manifest.as_dict())
