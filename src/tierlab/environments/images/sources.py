"""Where this machine gets Debian's packages from, as its own apt is configured."""

from __future__ import annotations

import subprocess

from tierlab.errors import UserError

AREAS = ("", "-updates", "-security")
"""Of a suite: the release itself, and what was mended since."""
COMPONENT = "main"
PROXIES = ("Acquire::http::Proxy", "Acquire::https::Proxy")


def sources(suite: str) -> list[str]:
    """The machine's archives of a suite, as lines of sources.list(5); UserError without any."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    said = _ask(["apt-get", "indextargets", "--format", form, "Created-By: Packages"])
    areas = {suite + area for area in AREAS}
    found = dict.fromkeys(
        f"deb {uri} {release} {component}"
        for uri, release, component in map(str.split, said.splitlines())
        if release in areas and component == COMPONENT
    )
    if not any(line.split()[2] == suite for line in found):
        raise UserError(
            f"apt's sources on this machine have no suite '{suite}', which guests are made of;"
            " add it to /etc/apt/sources.list.d."
        )
    return list(found)


def proxy_options() -> list[str]:
    """The machine's proxies, as lines of apt.conf(5)."""
    said = {name: _ask(["apt-config", "dump", "--format", "%v", name]) for name in PROXIES}
    return [f'{name} "{value}";' for name, value in said.items() if value]


def _ask(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(
            f"'{command[0]}' cannot be run ({error}); images need Debian's apt."
        ) from error
    if done.returncode != 0:
        raise UserError(f"'{' '.join(command[:2])}' failed: {done.stderr.strip()}.")
    return done.stdout
