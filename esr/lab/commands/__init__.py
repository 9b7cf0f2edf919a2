"""The commands of the laboratory, which `esr.cli.main` names."""
