"""The proof's own code, to be tested without the system."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "diagnosis"))
