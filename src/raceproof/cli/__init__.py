"""The commands of ``raceproof``.

:mod:`~raceproof.cli.registry` lists them, each is a module here, :mod:`~raceproof.cli.shell` runs
them. Nothing heavy is imported before a command is chosen.
"""

from raceproof.cli.shell import main

__all__ = ["main"]
