"""An empty place on each engine."""

from tests.engines.conftest import anywhere as anywhere
