"""What calls mean: events, models (TOML data files), effects of library functions."""
