"""The commands of dossiers."""
