"""``python -m raceproof``: the same as the command ``raceproof``."""

import sys

from raceproof.cli import main

if __name__ == "__main__":
    sys.exit(main())
