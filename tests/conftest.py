"""Property tests try the same examples every time; with RACEPROOF_EXPLORE=1 they try others."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
if not os.environ.get("RACEPROOF_EXPLORE"):
    settings.load_profile("same")
