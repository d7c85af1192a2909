"""The version of raceproof, for all floors; `pyproject.toml` reads it from here."""

__version__ = "0.1.0"
