"""Fuzzing by coverage: any bytes are answered, or refused by an error of esr's own, in time."""
