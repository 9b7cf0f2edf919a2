from tests.index.conftest import anywhere

__all__ = ["anywhere"]
