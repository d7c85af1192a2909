"""Solver terms: building, folding, evaluating, and the solver itself."""
