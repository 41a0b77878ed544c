"""The README's picture: the first screen of a report, as a browser shows it (`make picture`).

`python docs/picture/take.py RUN` reports the run anew and takes it. The digests of what gives the
page its looks are kept beside the picture, so that a test can say when it has to be taken again.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from tierlab.report import build

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PICTURE = HERE / "report.webp"
DIGESTS = HERE / "looks.sha256"
"""As `sha256sum` writes and checks them."""
LOOKS = (
    *("report.html.j2", "why.html.j2", "tiers.svg.j2", "waits.html.j2", "waits_bars.html.j2"),
    "style.css",
)
"""The templates of the first screen."""
WIDTH, HEIGHT, SCALE = 1240, 840, 1.25
QUALITY = 75
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run")
DRAWN_S = 60


def digests() -> str:
    """A line for each of the templates: its digest and its path."""
    templates = Path("src/tierlab/report/templates")
    paths = [templates / name for name in LOOKS]
    return "".join(
        f"{hashlib.sha256((ROOT / path).read_bytes()).hexdigest()}  {path}\n" for path in paths
    )


def screen(page: Path) -> bytes:
    """The first screen, once its charts are drawn, as WebP."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False}
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            browser.get(page.resolve().as_uri())
            WebDriverWait(browser, DRAWN_S).until(
                lambda b: b.execute_script("return document.body.dataset.charts") == "drawn"
            )
            form = {"format": "webp", "quality": QUALITY}
            taken = browser.execute_cdp_cmd("Page.captureScreenshot", form)
        finally:
            browser.quit()
    return base64.b64decode(taken["data"])


def main() -> None:
    """Take it of the run that is named."""
    PICTURE.write_bytes(screen(build(Path(sys.argv[1])).page))
    DIGESTS.write_text(digests(), encoding="utf-8")


if __name__ == "__main__":
    main()
