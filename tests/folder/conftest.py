from __future__ import annotations

from tests.support.folder_index import no_sync, small_segments, where

__all__ = ["no_sync", "small_segments", "where"]
