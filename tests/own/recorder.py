"""What Chromium sends and gets as a HAR file, as its developer tools save it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


class Recorder:
    """A browser, and what it has sent and got so far."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver
        self._sent: dict[str, dict[str, Any]] = {}
        self._found: list[dict[str, Any]] = []

    def look(self) -> list[dict[str, Any]]:
        """The requests so far, in HAR's form. A page's text can be had while the page is shown."""
        for line in self.driver.get_log("performance"):
            event = json.loads(line["message"])["message"]
            request = str(event["params"].get("requestId", ""))
            self._take(event["method"], event["params"], request)
        return sorted(self._found, key=lambda each: str(each["startedDateTime"]))

    def _take(self, method: str, told: dict[str, Any], request: str) -> None:
        sent = self._sent
        if method == "Network.requestWillBeSent":
            if "redirectResponse" in told and request in sent:
                moved = entry(sent[request], told["redirectResponse"], told["timestamp"], "")
                moved["response"]["redirectURL"] = told["request"]["url"]
                self._found.append(moved)
            sent[request] = told
        elif method == "Network.responseReceived" and request in sent:
            sent[request]["reply"] = told["response"]
        elif method == "Network.loadingFinished" and "reply" in sent.get(request, {}):
            whole, body = sent[request], text(self.driver, request)
            self._found.append(entry(whole, whole["reply"], told["timestamp"], body))


@contextmanager
def recording(profile: Path, har: Path) -> Iterator[Recorder]:
    """A browser whose visit is in the file at its end."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        driver.execute_cdp_cmd("Network.enable", {"maxPostDataSize": 1 << 20})
        recorder = Recorder(driver)
        yield recorder
        har.write_text(json.dumps({"log": {"version": "1.2", "entries": recorder.look()}}))
    finally:
        driver.quit()


def text(driver: webdriver.Chrome, request: str) -> str:
    try:
        return str(
            driver.execute_cdp_cmd("Network.getResponseBody", {"requestId": request})["body"]
        )
    except WebDriverException:
        return ""


def entry(sent: dict[str, Any], reply: dict[str, Any], end: float, body: str) -> dict[str, Any]:
    request = sent["request"]
    started = datetime.fromtimestamp(sent["wallTime"], UTC)
    posted = {
        "postData": {"mimeType": kind(request["headers"]), "text": request.get("postData", "")}
    }
    return {
        "startedDateTime": started.isoformat(),
        "time": (end - sent["timestamp"]) * 1000,
        "_resourceType": sent.get("type", "").lower(),
        "request": {
            "method": request["method"],
            "url": request["url"],
            "headers": pairs(request["headers"]),
            "cookies": [],
            **(posted if request.get("hasPostData") else {}),
        },
        "response": {
            "status": reply["status"],
            "redirectURL": "",
            "headers": pairs(reply["headers"]),
            "content": {"mimeType": reply["mimeType"], "text": body},
        },
    }


def pairs(headers: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in headers.items()]


def kind(headers: dict[str, str]) -> str:
    return next((value for name, value in headers.items() if name.lower() == "content-type"), "")
