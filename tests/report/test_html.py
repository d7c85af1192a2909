"""The HTML page: whole by itself, and working in a real browser (skipped where there is none)."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from raceproof import report
from raceproof.options import Options, ReportFormat
from raceproof.verdict import HeldLock, Outcome, Verdict
from tests.report import made

VOID = {"meta", "input", "br", "line", "path", "rect", "circle"}


class Nesting(HTMLParser):
    """Every element is closed in its turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in VOID or tag == "rect":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        return

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page(verdict: Verdict, folder: Path) -> str:
    stream = io.StringIO()
    report.write(verdict, made.program(folder), Options(format=ReportFormat.HTML), stream)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["race", "race-free", "unknown"])
def test_the_page_is_whole_and_asks_nobody(kind: str, tmp_path: Path) -> None:
    verdicts = {
        "race": made.racy(made.program(tmp_path)),
        "race-free": made.race_free(),
        "unknown": Verdict(Outcome.UNKNOWN),
    }
    text = page(verdicts[kind], tmp_path)
    nesting = Nesting()
    nesting.feed(text)
    assert nesting.open == []
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(http""", text)
    assert f'<span class="verdict">{kind}</span>' in text


def test_names_from_the_program_are_escaped(tmp_path: Path) -> None:
    text = page(made.racy(made.program(tmp_path)), tmp_path)
    assert '<"done">' not in text
    assert "&lt;&#34;done&#34;&gt;" in text


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium with chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("profile")
    for argument in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-dev-shm-usage",
        "--window-size=1300,1200",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(argument)
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


def test_a_page_with_five_findings_in_a_browser(browser: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(page(made.racy(made.program(tmp_path)), tmp_path), encoding="utf-8")
    browser.get(file.as_uri())

    def all_of(selector: str) -> list[Any]:
        found: list[Any] = browser.find_elements("css selector", selector)
        return found

    def shown() -> list[str]:
        names = all_of(".finding > summary .location")
        return [name.text for name in names if name.is_displayed()]

    assert shown() == ["total", "last", "seen", "peak", '<"done">']

    likely = all_of("#finding-3 .sides")[0]
    assert not likely.is_displayed()
    all_of("#finding-3 > summary")[0].click()
    assert likely.is_displayed()
    assert len([side for side in all_of("#finding-3 .side") if side.is_displayed()]) == 2
    marked = all_of("#finding-3 .line.marked")[0].text
    assert " ".join(marked.split()).replace("10total", "10 total") == "10 total = total + n;"

    all_of("#finding-2 > summary")[0].click()
    assert all_of("#finding-2 svg.lanes")[0].is_displayed()
    assert len(all_of("#finding-2 svg .lane")) == 3
    assert len(all_of("#finding-2 svg .bar")) == 2
    assert len(all_of("#finding-2 svg .step.race")) == 2

    all_of(".chip.possible")[0].click()
    assert shown() == ["total", "last", "seen"]
    all_of("#search")[0].send_keys("seen worker")
    assert shown() == ["seen"]
    all_of("#search")[0].send_keys(" nothing")
    assert shown() == []
    assert all_of("#none")[0].is_displayed()

    theme = browser.execute_script("return document.documentElement.dataset.theme")
    before = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    all_of("#theme")[0].click()
    assert browser.execute_script("return document.documentElement.dataset.theme") != theme
    after = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert after != before

    all_of("#filter")[0].send_keys("atomic")
    assert [
        row.text.split()[0] for row in all_of("#protections tbody tr") if row.is_displayed()
    ] == ["last"]
    assert browser.get_log("browser") == []


def test_findings_are_filtered_by_their_rule(browser: Any, tmp_path: Path) -> None:
    verdict = made.racy(made.program(tmp_path))
    first, second = verdict.findings[0].accesses
    apart = (replace(first, locks=(HeldLock("m"),)), replace(second, locks=(HeldLock("n"),)))
    bare = (replace(first, locks=()), replace(second, locks=()))
    findings = (
        replace(verdict.findings[0], accesses=apart),
        *(replace(one, accesses=bare, schedule=None) for one in verdict.findings[1:3]),
    )
    file = tmp_path / "rules.html"
    file.write_text(page(replace(verdict, findings=findings), tmp_path), encoding="utf-8")
    browser.get(file.as_uri())
    chips = browser.find_elements("css selector", ".rule-chip")
    assert [chip.text for chip in chips] == ["different-locks 1", "no-lock 2"]

    def shown() -> int:
        return sum(f.is_displayed() for f in browser.find_elements("css selector", ".finding"))

    assert shown() == 3
    chips[1].click()
    assert shown() == 1
    chips[1].click()
    chips[0].click()
    assert shown() == 2


BANK = Path(__file__).parents[2] / "examples" / "bank.c"


def test_two_locks_have_two_colours_and_their_names(browser: Any, tmp_path: Path) -> None:
    from raceproof import api

    found = api.examine([BANK], Options(timeout=60))
    file = tmp_path / "bank.html"
    with file.open("w", encoding="utf-8") as stream:
        report.write(found.verdict, found.program, Options(format=ReportFormat.HTML), stream)
    browser.get(file.as_uri())

    def all_of(selector: str) -> list[Any]:
        found: list[Any] = browser.find_elements("css selector", selector)
        return found

    svg = all_of("svg.lanes")[0]
    colours: dict[str, str] = {}
    for bar in svg.find_elements("css selector", ".held"):
        title = bar.find_element("css selector", "title").get_attribute("textContent")
        rect = bar.find_element("css selector", "rect")
        fill = browser.execute_script("return getComputedStyle(arguments[0]).fill", rect)
        assert colours.setdefault(title, fill) == fill
    assert {"holds tellers[0].lock", "holds tellers[1].lock", "holds bank.lock"} <= set(colours)
    assert len(set(colours.values())) == len(colours)

    race = svg.find_elements("css selector", ".step.race a")[0]
    assert 'href="#s1-50"' in race.get_property("outerHTML")

    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": True},
    )
    browser.get(file.as_uri() + "#s1-50")
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= 390
    assert not all_of("svg.lanes")[0].is_displayed()
    assert all_of(".steps li")[0].is_displayed()
    assert all_of("#s1")[0].get_attribute("open")
    assert all_of("#s1-50")[0].is_displayed()
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []
