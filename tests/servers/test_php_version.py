"""Which PHP of a machine's the servers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.servers.php import installed


@pytest.mark.parametrize(
    ("there", "version"),
    [
        ((), "8.2"),
        (("usr/sbin/php-fpm8.3",), "8.3"),
        (("usr/lib/apache2/modules/libphp8.1.so",), "8.1"),
        (("usr/sbin/php-fpm8.2", "usr/lib/apache2/modules/libphp8.4.so"), "8.4"),
    ],
)
def test_it_is_the_newest_that_a_server_can_run(
    there: tuple[str, ...], version: str, tmp_path: Path
) -> None:
    """Only Debian 12's was found."""
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert installed(tmp_path) == version
