"""Measuring on task sets: every task in a process of its own, with limits; tables, differences,
plots."""
