"""Lines of tables and keys in TOML."""

import tomllib

from raceproof.concurrency.lines import table_lines

TEXT = '''\
top = 1  # "[not]" a header
[types]
word = [
  4, # [[function]]
  8,
]
[[ function ]]
"quoted" = """
[inside]
key = 3
"""
next = '\\'
[[function]]
dotted.key = { a = "}", b = [1, [2]] }
last = \'\'\'
'' two\'\'\'
end = true'''


def test_lines_of_tables_and_keys() -> None:
    tomllib.loads(TEXT)
    found = [(table.name, table.line, table.keys) for table in table_lines(TEXT)]
    assert found == [
        ("", 1, {"top": 1}),
        ("types", 2, {"word": 3}),
        ("function", 7, {"quoted": 8, "next": 12}),
        ("function", 13, {"dotted": 14, "last": 15, "end": 17}),
    ]


def test_a_key_without_a_line_is_at_its_header() -> None:
    table = table_lines("\n[a]\nb = 1\n")[1]
    assert (table.of("b"), table.of("c"), table.of(None)) == (3, 2, 2)


def test_carriage_returns() -> None:
    tables = table_lines("[a]\r\nb = 1\r\n\r\n[c]\r\nd = 2\r\n")
    assert [(t.name, t.line, t.keys) for t in tables[1:]] == [
        ("a", 1, {"b": 2}),
        ("c", 4, {"d": 5}),
    ]
