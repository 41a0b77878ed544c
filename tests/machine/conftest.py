"""Examples may take as long as they do."""

import tests.examples  # noqa: F401 - sets it
