"""`--refine`: the findings of a scan, confirmed or refuted by the engines that decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.project.conftest import Scan, locations

REFINE = ("--refine", "--timeout", "60")

HANDED_OVER = """
#include <pthread.h>
static int box, ready;
static void *worker(void *argument)
{
    while (!__atomic_load_n(&ready, 5))
        ;
    box++;
    return argument;
}
int main(void)
{
    pthread_t id;
    pthread_create(&id, 0, worker, 0);
    box = 1;
    __atomic_store_n(&ready, 1, 5);
    return 0;
}
"""


def notices(report: dict[str, Any]) -> str:
    return "\n".join(report["notices"])


def test_a_race_is_confirmed(project: Path, scan: Scan) -> None:
    (before,) = scan(code=1)["findings"]
    report = scan(*REFINE, code=1)
    (after,) = report["findings"]
    assert (before["confidence"], after["confidence"]) == ("likely", "confirmed")
    assert after["location"]["name"] == before["location"]["name"] == "hits"
    assert after["schedule"]
    assert {a["position"]["file"] for a in after["accesses"]} == {"src/stats.c"}
    assert "refined: 1 confirmed, 0 refuted, 0 left as found" in notices(report)


def test_a_doubtful_finding_is_refuted(project: Path, scan: Scan) -> None:
    (project / "src" / "stats.c").unlink()
    (project / "src" / "main.c").write_text(HANDED_OVER)
    report = scan("src")
    assert [(f["location"]["name"], f["confidence"]) for f in report["findings"]] == [
        ("box", "possible")
    ]
    report = scan("src", *REFINE)
    assert report["findings"] == []
    assert "refined: 0 confirmed, 1 refuted" in notices(report)


def test_a_library_cannot_be_refined(project: Path, scan: Scan) -> None:
    (project / "src" / "main.c").unlink()
    found = locations(scan())
    report = scan(*REFINE)
    assert locations(report) == found != []
    assert "nothing was refined, because the files make no program" in notices(report)


def test_two_programs_are_not_refined_at_once(project: Path, scan: Scan) -> None:
    text = (project / "src" / "main.c").read_text()
    (project / "src" / "other.c").write_text(text)
    report = scan(*REFINE, code=1)
    assert locations(report) == ["hits"]
    assert "nothing was refined" in notices(report)
