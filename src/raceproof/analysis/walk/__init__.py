"""Threads, locks and accesses over a cheap backend: see `analysis`."""
