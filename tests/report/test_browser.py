"""The page as its reader meets it: in a real browser, without a network."""

import base64
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import made_run
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests import visit_parts
from tests.pace import pace
from tests.profile import made_profile
from tierlab.report import build

pytestmark = pytest.mark.slow

WIDTH, HEIGHT = 1400, 900
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
    )
    yield driver
    driver.quit()


def opened(browser: webdriver.Chrome, page: Path) -> float:
    """Open the page and wait for its charts; return how long that took."""
    began = time.monotonic()
    browser.get(page.as_uri())
    WebDriverWait(browser, 60).until(
        lambda b: b.execute_script("return document.body.dataset.charts") == "drawn"
    )
    return time.monotonic() - began


@pytest.fixture
def page(browser, made):
    """The report, opened once for those tests that leave it as it was."""
    if browser.current_url != made.page.as_uri():
        opened(browser, made.page)
    return browser


def ranges(browser: webdriver.Chrome) -> list[list[float]]:
    """Return what each panel shows of the time axis."""
    return browser.execute_script(
        "return [...document.querySelectorAll('.chart')].map(c => c._fullLayout.xaxis.range)"
    )


def requested(browser: webdriver.Chrome) -> set[str]:
    """Return every address that the page asked for."""
    messages = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    return {
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    }


def test_no_error_and_no_request(browser, made):
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    opened(browser, made.page)
    assert [each["message"] for each in browser.get_log("browser")] == []
    assert {address.split(":")[0] for address in requested(browser)} <= {"file", "data", "blob"}
    assert made.page.as_uri() in requested(browser) | {made.page.as_uri()}


def test_the_answer_is_on_the_first_screen(page):
    for selector in (".figures", ".said", ".tiers svg", ".quality"):
        box = page.find_element(By.CSS_SELECTOR, selector).rect
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= HEIGHT, selector
        assert box["x"] + box["width"] <= WIDTH


def test_nothing_is_cut_off_or_overlaps_in_the_picture(page):
    overlaps = page.execute_script(
        """
        const texts = [...document.querySelectorAll('.tiers text')];
        const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
        const found = [];
        for (const [i, [one, a]] of boxes.entries())
            for (const [two, b] of boxes.slice(i + 1))
                if (a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                    found.push([one, two]);
        return found;
        """
    )
    assert overlaps == []


@pytest.fixture(scope="module")
def traced(made, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run whose visits have parts at all servers but one."""
    folder = tmp_path_factory.mktemp("traced") / "001"
    shutil.copytree(made.folder, folder)
    visit_parts.add(folder, ["web.1", "app.1", "db.1", "db.2"])
    return build(folder).page


@pytest.mark.parametrize("width", [1440, 800])
def test_what_visits_waited_for_is_seen_whole(browser, traced, width):
    size = {"width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        opened(browser, traced)
        bars = browser.find_elements(By.CSS_SELECTOR, "#answer .parts")
        assert len(bars) == 4
        assert all(bar.rect["width"] > width / 2 for bar in bars)
        if width == 1440:
            assert all(bar.rect["y"] + bar.rect["height"] <= HEIGHT for bar in bars)
        cut = browser.execute_script(
            """return [...document.querySelectorAll('.parts span')]
                .filter(part => part.textContent && part.scrollWidth > part.clientWidth + 1)
                .map(part => part.textContent);"""
        )
        assert cut == []
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    finally:
        usual = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", usual)


def test_a_parts_label_is_readable_on_its_colour(browser, traced):
    opened(browser, traced)
    for scheme in ("light", "dark"):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        seen = browser.execute_script(
            """return [...document.querySelectorAll('#answer .parts span')].map(part => {
                const style = getComputedStyle(part);
                return [style.backgroundColor, style.color].map(
                    c => c.match(/[0-9.]+/g).map(Number));
            });"""
        )
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        assert len(seen) > 20
        assert min(contrast(*each) for each in seen) >= 4.5  # WCAG 2.2, success criterion 1.4.3


def test_panels_zoom_together(page):
    whole = ranges(page)
    assert len(whole) >= 8
    assert len({tuple(each) for each in whole}) == 1
    page.execute_script(
        "return Plotly.relayout(document.querySelectorAll('.chart')[3], {'xaxis.range': [12, 20]})"
    )
    WebDriverWait(page, 60).until(lambda b: all(each == [12, 20] for each in ranges(b)))
    zoom_out(page)
    WebDriverWait(page, 60).until(lambda b: ranges(b) == whole)


def zoom_out(page: webdriver.Chrome) -> None:
    page.find_element(By.XPATH, "//button[text()='Whole trial']").click()


def test_the_visit_times_stand_on_a_logarithmic_axis(page):
    kind, ticks = page.execute_script(
        """const chart = document.getElementById('chart-visit');
        return [chart._fullLayout.yaxis.type,
                [...chart.querySelectorAll('.ytick')].map(tick => tick.textContent)];"""
    )
    assert kind == "log"
    assert len(ticks) >= 2
    assert set(ticks) <= {f"{power:,g} ms" for power in (0.001, 0.01, 0.1, 1, 10, 100, 1e3, 1e4)}


def test_a_hostile_name_stays_text_when_it_is_hovered(browser, tmp_path):
    name = 'a<b>c</b><i>d</i>&lt;e&amp;<a href="https://example.org">f</a>'
    shape = made_run.Shape(requests=300, users=60)
    made_run.make(tmp_path, shape)
    tick = {"dt_ns": made_run.SECOND, "busy": 0.5}
    ticks = [
        {**tick, "t_ns": made_run.START_NS + n * made_run.SECOND, "subject": subject}
        for subject in (name, "cpu1")
        for n in range(1, 40)
    ]
    made_run.write_tables(tmp_path, {"cpu": ticks})
    opened(browser, build(tmp_path).page)
    chart = browser.find_element(By.CSS_SELECTOR, "#chart-cpu .nsewdrag")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    webdriver.ActionChains(browser).move_to_element(chart).perform()
    shown = WebDriverWait(browser, 60).until(
        lambda b: b.execute_script(
            """const label = document.querySelector('#chart-cpu .hoverlayer .legend');
            return label && [label.textContent, label.querySelectorAll('a').length];"""
        )
    )
    assert name in shown[0]
    assert shown[1] == 0


def test_a_flame_graph_has_its_functions_and_a_hostile_one_stays_text(page):
    labels, bold = page.execute_script(
        """const graph = document.querySelector('.flame');
        return [[...graph.querySelectorAll('.slice text')].map(text => text.textContent),
                graph.querySelectorAll('b').length];"""
    )
    assert {"app.1", "db.1", "main", made_profile.JAVA, made_profile.HOSTILE} <= set(labels)
    assert bold == 0


def test_dragging_over_one_panel_zooms_all(page):
    chart = page.find_element(By.CSS_SELECTOR, "#chart-cpu .nsewdrag")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    actions = webdriver.ActionChains(page)
    actions.move_to_element_with_offset(chart, -100, 0).click_and_hold()
    actions.move_by_offset(150, 0).release().perform()

    def narrowed(browser: webdriver.Chrome) -> bool:
        shown = {tuple(each) for each in ranges(browser)}
        start, end = min(shown)
        return len(shown) == 1 and end - start < 40

    WebDriverWait(page, 60).until(narrowed)
    zoom_out(page)


def test_a_dark_page_is_dark_and_readable(page):
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": "dark"}]},
    )
    background, text = page.execute_script(
        """const style = getComputedStyle(document.documentElement);
        return [style.backgroundColor, style.color].map(c => c.match(/[0-9.]+/g).map(Number));"""
    )
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert contrast(background, text) >= 7  # WCAG 2.2, success criterion 1.4.6


def contrast(one: list[float], two: list[float]) -> float:
    """Return the contrast ratio of two colours as WCAG 2.2 defines it."""
    lights = sorted(luminance(each) for each in (one, two))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def luminance(colour: list[float]) -> float:
    parts = [each / 255 for each in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_paper_is_light_even_when_the_screen_is_dark(page):
    shade = "return getComputedStyle(document.documentElement).getPropertyValue('--page').trim()"
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    screen = page.execute_script(shade)
    page.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    paper = page.execute_script(shade)
    page.execute_script("window.dispatchEvent(new Event('afterprint'))")
    after = page.execute_script(shade)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert (paper, after) == ("#ffffff", screen)
    assert screen != paper


def test_it_prints(page):
    printed = base64.b64decode(page.print_page())
    assert printed.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 3 <= pages <= 12


def test_a_narrow_window_scrolls_only_what_is_wide(page):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 420, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
    )
    try:
        WebDriverWait(page, 60).until(
            lambda b: b.execute_script("return document.documentElement.scrollWidth") <= 420
        )
    finally:
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
        )


def opening(browser: webdriver.Chrome, page: Path) -> tuple[float, float]:
    """Return seconds until the charts are there, and until something is."""
    drawn = opened(browser, page)
    painted_ms = browser.execute_script(
        "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    return drawn, painted_ms / 1000


@pytest.mark.alone
def test_the_page_opens_quickly(browser, made):
    slower = pace()
    drawn_s, painted_s = opening(browser, made.page)
    assert drawn_s < 15 * slower
    assert painted_s < 3 * slower
