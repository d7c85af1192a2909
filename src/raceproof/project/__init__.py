"""A whole code base: its translation units, programs and what is remembered between runs.

sources   which files, compiled how, make which programs
stamps    whether a translation unit is as it was
units     a translation unit to what the engine keeps of it
linking   units to programs
store     the memory on disk
changes   what a change touches
scan      all of it, in order
"""

from raceproof.project.scan import ScanReport, scan
from raceproof.project.sources import Project, find_project

__all__ = ["Project", "ScanReport", "find_project", "scan"]
