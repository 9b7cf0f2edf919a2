"""From the options of the command line to those of the loaders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr.errors import UsageError
from esr.loaders import ReadOptions
from esr.loaders.constants import parse_constants
from esr.loaders.file_filter import FileFilter
from esr.loaders.limits import Limits
from esr.loaders.mapping import parse_mapping
from esr.loaders.table_layout import parse_layout
from esr.loaders.text_encoding import check_encoding


def build_read_options(options: Mapping[str, Any]) -> ReadOptions:
    """How to read sources by these options of `source_options`. Raises UsageError."""
    mapping = parse_mapping(options["pairs"])
    if options["make_id"] and "id" in mapping:
        raise UsageError(f"--id {options['make_id']} makes the ids: leave --mapping id={mapping['id']} out")
    return ReadOptions(
        mapping=mapping,
        limits=Limits(options["max_expansion"], int(options["max_unpacked"] * 2**30)),
        base=options["base"],
        table=parse_layout(options["delimiter"], options["quote"], options["columns"]),
        day_first=options["day_first"],
        encoding=None if options["encoding"] is None else check_encoding(options["encoding"]),
        make_id=options["make_id"],
        is_strict=options["strict"],
        files=FileFilter(options["include"], options["exclude"]),
        constants=parse_constants(options["constants"]),
    )
