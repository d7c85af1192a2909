"""Ways to a verdict: each engine is a package with one public entry, an `Engine`."""
