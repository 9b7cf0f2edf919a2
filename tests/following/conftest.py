"""An empty place on each engine."""

from tests.index.conftest import anywhere as anywhere
