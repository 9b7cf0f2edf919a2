"""How much the tests notice: `make mutation PATHS=esr/plans` changes code at random and runs the tests."""
