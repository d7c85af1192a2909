"""Finds data races in multithreaded C and C++ programs, and proves their absence."""

__version__ = "0.1.0"
