"""phpMyAdmin as Debian packages it, in one folder, set up by variables."""

from __future__ import annotations

import shutil
from pathlib import Path

PROGRAM = Path("/usr/share/phpmyadmin")
SETTINGS = """<?php
$cfg['blowfish_secret'] = str_repeat('x', 32);
$cfg['Servers'][1] = [
    'auth_type' => 'config', 'host' => getenv('DB_HOST'), 'port' => getenv('DB_PORT'),
    'user' => getenv('DB_USER'), 'password' => getenv('DB_PASSWORD'),
];
$cfg['TempDir'] = __DIR__ . '/tmp';
"""
OWN_PLACES = {
    "'/etc/phpmyadmin/config.inc.php'": "ROOT_PATH . 'config.inc.php'",
    "'/var/lib/phpmyadmin/tmp/'": "ROOT_PATH . 'tmp/'",
}


def lay_down(folder: Path) -> None:
    """Copy it, everything by itself."""
    shutil.copytree(PROGRAM, folder, ignore_dangling_symlinks=True)
    (folder / "tmp").mkdir(exist_ok=True)
    (folder / "config.inc.php").write_text(SETTINGS)
    places = folder / "libraries" / "vendor_config.php"
    text = places.read_text()
    for usual, own in OWN_PLACES.items():
        text = text.replace(usual, own)
    places.write_text(text)
