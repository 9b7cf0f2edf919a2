"""The commands of the laboratory, registered by `esr.cli.main`."""
