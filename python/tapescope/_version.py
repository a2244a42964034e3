"""The version, in one place: pyproject.toml and the files that are written take it from here."""

__version__ = "0.1.0"
