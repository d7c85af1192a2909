"""Like sentences become one."""

from raceproof.report.grouping import grouped


def test_names_and_places_are_gathered() -> None:
    sentences = [
        "`f` (defined nowhere, no model) starts no threads",
        "something else",
        "`g` (defined nowhere, no model) starts no threads",
        "not followed: a read at a.c:3",
        "not followed: a read at a.c:4:7",
        "not followed: a write at a.c:9",
        "h has no effect on threads",
        "k has no effect on threads",
    ]
    assert grouped(sentences) == [
        "`f`, `g` (defined nowhere, no model) starts no threads",
        "something else",
        "not followed: a read at a.c:3, a.c:4:7",
        "not followed: a write at a.c:9",
        "h, k has no effect on threads",
    ]


def test_long_lists_are_cut() -> None:
    assert grouped(f"`f{i}` waits" for i in range(9)) == ["`f0`, `f1`, `f2` and 6 more waits"]


def test_sentences_about_two_names_stay() -> None:
    sentences = ["`f` calls `g`", "`f` calls `h`"]
    assert grouped(sentences) == sentences
