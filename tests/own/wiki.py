"""DokuWiki as Debian packages it, in one folder: its program, configuration and pages."""

from __future__ import annotations

import shutil
from pathlib import Path

PROGRAM, CONFIGURATION = Path("/usr/share/dokuwiki"), Path("/etc/dokuwiki")
PAGES = ("start", "shop", "help")


def lay_down(folder: Path) -> None:
    """Copy it, everything by itself, with a few pages that link to each other."""
    shutil.copytree(PROGRAM, folder, ignore_dangling_symlinks=True)
    shutil.copytree(CONFIGURATION, folder / "conf", dirs_exist_ok=True)
    (folder / "inc" / "preload.php").write_text("<?php define('DOKU_CONF', __DIR__ . '/../conf/');")
    (folder / "conf" / "local.php").write_text(
        "<?php $conf['savedir'] = './data'; $conf['useacl'] = 0; $conf['title'] = 'Tierlab';"
        " $conf['updatecheck'] = 0;"
    )
    kept = ("pages", "attic", "media", "media_attic", "meta", "media_meta", "cache", "index")
    for name in (*kept, "locks", "tmp", "log"):
        (folder / "data" / name).mkdir(parents=True, exist_ok=True)
    links = "".join(f"  * [[{name}]]\n" for name in PAGES)
    for name in PAGES:
        (folder / "data" / "pages" / f"{name}.txt").write_text(f"====== The {name} ======\n{links}")
