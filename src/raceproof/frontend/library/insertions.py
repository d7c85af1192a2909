"""Calls that are put in after calls of library functions, as their models say.

    errno = "-1"                              %r = call i64 @read(...)
                                              call void @raceproof_errno_minus_one_64(i64 %r)

    keeps = [{ argument = 1, as = "stream buffer" }]
                                              call void @raceproof_keep_stream_buffer(ptr %buffer)
    uses = ["stream buffer"]                  call void @raceproof_use_stream_buffer()

What is called has a body (see the package). A function whose address is taken may be called
anywhere: then the weakest form follows every indirect call. An `invoke` is a terminator: what
would follow it comes before, in the form that asks for no result.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

_MODELS = Path(__file__).parents[2] / "concurrency" / "models"
_ERRNO = Path(__file__).parent / "errno.toml"
_KEPT = Path(__file__).parent / "kept.toml"
_CALL = re.compile(
    r"^\s+(?:(?P<result>%[-\w.$]+|%\"[^\"]*\") = )?(?:(?:tail|notail|musttail) )?"
    r"(?P<how>call|invoke) (?P<type>[^@%\n]*?)(?P<callee>@\"[^\"]*\"|@[-\w.$]+|%[-\w.$]+)\(",
    re.M,
)
_TYPE = re.compile(r"(?<!\()\b(i32|i64|ptr)\b")
_DEBUG = re.compile(r", !dbg ![0-9]+")
_ASKING = re.compile(r"^\s*(?:errno|keeps|uses)\s*=", re.M)
_FORMS = {
    ("-1", "i32"): "raceproof_errno_minus_one_32",
    ("-1", "i64"): "raceproof_errno_minus_one_64",
    ("-1", "ptr"): "raceproof_errno_minus_one_pointer",
    ("null", "ptr"): "raceproof_errno_null_pointer",
}
_ANY_ERRNO = "raceproof_errno_any"


@dataclass(frozen=True, slots=True)
class Insertion:
    """What follows the calls of one function."""

    errno: str = ""
    """Which result says that errno was set, "any" if none does; empty: errno is left alone."""
    keeps: tuple[tuple[int, str], ...] = ()
    uses: tuple[str, ...] = ()


@cache
def model_texts() -> str:
    """The built-in models, as text."""
    return "\n".join(path.read_text("utf-8") for path in sorted(_MODELS.glob("*.toml")))


@cache
def _tables(path: Path) -> dict[str, Insertion]:
    """The insertions that a model file asks for, by function."""
    found: dict[str, Insertion] = {}
    text = path.read_text("utf-8")
    if not _ASKING.search(text):
        return found
    content: Mapping[str, Any] = tomllib.loads(text)
    for table in content.get("function", ()):
        if table.keys().isdisjoint(("errno", "keeps", "uses")):
            continue
        insertion = Insertion(
            table.get("errno", ""),
            tuple((keep["argument"], keep["as"]) for keep in table.get("keeps", ())),
            tuple(table.get("uses", ())),
        )
        for name in table.get("names") or [table["name"]]:
            found[name] = insertion
    return found


@cache
def errno_by_function() -> dict[str, str]:
    """The functions of the C library that set errno, and the result that says so."""
    content: Mapping[str, list[str]] = tomllib.loads(_ERRNO.read_text("utf-8"))
    return {name: condition for condition, names in content.items() for name in names}


@dataclass(frozen=True, slots=True)
class Kept:
    """A pointer that functions of the C library keep: who keeps it, and who uses it later."""

    name: str
    kept_by: Mapping[str, int]
    """The argument, by function."""
    used_by: frozenset[str]
    body: str = ""
    """The file that says what a use is; empty: some bytes of the object are read or written."""


@cache
def kept_pointers() -> tuple[Kept, ...]:
    content: Mapping[str, Any] = tomllib.loads(_KEPT.read_text("utf-8"))
    return tuple(
        Kept(name, table["kept-by"], frozenset(table["used-by"]), table.get("body", ""))
        for name, table in content.items()
    )


def model_insertions(mentioned: frozenset[str], models: Sequence[Path]) -> dict[str, Insertion]:
    """What follows the calls of the functions that a program mentions."""
    found = {
        name: Insertion(condition)
        for name, condition in errno_by_function().items()
        if name in mentioned
    }
    for one in kept_pointers():
        for name in mentioned & (one.used_by | one.kept_by.keys()):
            known = found.get(name, Insertion())
            keeps = known.keeps
            if name in one.kept_by and not one.body:
                keeps += ((one.kept_by[name], one.name),)
            uses = (*known.uses, one.name) if name in one.used_by else known.uses
            found[name] = replace(known, keeps=keeps, uses=uses)
    for path in (*sorted(_MODELS.glob("*.toml")), *models):
        for name, insertion in _tables(path).items():
            if name in mentioned:
                known = found.get(name, Insertion())
                found[name] = Insertion(
                    insertion.errno or known.errno,
                    known.keeps + insertion.keeps,
                    known.uses + insertion.uses,
                )
    return found


def slug(name: str) -> str:
    """`stream buffer` as part of a C identifier."""
    return re.sub(r"\W", "_", name)


def insert_after(text: str, insertions: Mapping[str, Insertion], kept: frozenset[str]) -> str:
    """The module with the calls put in; of what functions keep, only `kept` counts."""
    inserting = _Inserting(text, insertions, kept)
    found = list(_CALL.finditer(text))
    pieces: list[str] = []
    position = 0
    for match in found:
        end = text.index("\n", match.start() + 1)
        line = text[match.start() : end]
        added = inserting.lines(match, line)
        if added:
            at = end if match["how"] == "call" else match.start()
            pieces += [text[position:at], *(f"\n{one}" for one in added)]
            position = at
    pieces.append(text[position:])
    return "".join(pieces) + inserting.declarations(text)


class _Inserting:
    def __init__(
        self, text: str, insertions: Mapping[str, Insertion], kept: frozenset[str]
    ) -> None:
        self._insertions = insertions
        self._kept = kept
        self._declared: dict[str, str] = {}
        loose = [name for name in insertions if _has_address_taken(text, name)]
        self._anywhere = Insertion(
            "any" if any(insertions[name].errno for name in loose) else "",
            uses=tuple(sorted({use for name in loose for use in insertions[name].uses})),
        )

    def lines(self, match: re.Match[str], line: str) -> list[str]:
        callee = match["callee"]
        if callee.startswith("@"):
            insertion = self._insertions.get(callee[1:].strip('"'))
        else:
            insertion = self._anywhere
        if insertion is None:
            return []
        debug = _DEBUG.search(line)
        calls = [self._errno(match, insertion.errno)] if insertion.errno else []
        arguments = _arguments(line, match.end() - match.start()) if insertion.keeps else []
        for index, name in insertion.keeps:
            if name in self._kept and index < len(arguments):
                given = arguments[index]
                if given.startswith("ptr"):
                    calls.append(self._call(f"raceproof_keep_{slug(name)}", "ptr", given))
        calls += [
            self._call(f"raceproof_use_{slug(name)}", "", "")
            for name in insertion.uses
            if name in self._kept
        ]
        return [f"  {call}{debug[0] if debug else ''}" for call in calls]

    def _errno(self, match: re.Match[str], condition: str) -> str:
        type_ = _TYPE.search(match["type"])
        form = _FORMS.get((condition, type_[1])) if type_ is not None else None
        if form is None or match["result"] is None or match["how"] == "invoke":
            return self._call(_ANY_ERRNO, "", "")
        assert type_ is not None
        return self._call(form, type_[1], f"{type_[1]} {match['result']}")

    def _call(self, name: str, types: str, arguments: str) -> str:
        self._declared[name] = types
        return f"call void @{name}({arguments})"

    def declarations(self, text: str) -> str:
        return "".join(
            f"\ndeclare void @{name}({types})\n"
            for name, types in self._declared.items()
            if f"@{name}(" not in text
        )


def _has_address_taken(text: str, name: str) -> bool:
    return re.search(rf"@{re.escape(name)}(?![-\w.$(])", text) is not None


def _arguments(line: str, start: int) -> list[str]:
    """The texts of a call's arguments; `start` is behind the opening parenthesis."""
    found, depth, begin = [], 0, start
    for at in range(start, len(line)):
        character = line[at]
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            if depth == 0:
                found.append(line[begin:at].strip())
                break
            depth -= 1
        elif character == "," and depth == 0:
            found.append(line[begin:at].strip())
            begin = at + 1
    return found


_RANGES = {"sem_init": (2, 0, 0x7FFFFFFF), "pthread_barrier_init": (2, 1, 0xFFFFFFFF)}
"""The argument that must be within a range, else the call fails."""
_CHECKED_TYPES = {"sem_init": "ptr, i32, i32", "pthread_barrier_init": "ptr, ptr, i32"}
_CHECKED = re.compile(rf"\bcall [^@%\n]*@({'|'.join(_RANGES)})\(")


def check_arguments(text: str) -> str:
    """The module with calls whose argument may be out of range led to bodies that check it."""

    def checked(match: re.Match[str]) -> str:
        name = match[1]
        index, least, most = _RANGES[name]
        end = text.find("\n", match.end())
        arguments = _arguments(text[match.start() : end], match.end() - match.start())
        given = arguments[index].split()[-1] if index < len(arguments) else ""
        if re.fullmatch(r"-?\d+", given) and least <= int(given) & 0xFFFFFFFF <= most:
            return match[0]
        return match[0].replace(f"@{name}(", f"@raceproof_checked_{name}(")

    changed = _CHECKED.sub(checked, text)
    if changed is text or changed == text:
        return text
    return changed + "".join(
        f"\ndeclare i32 @raceproof_checked_{name}({_CHECKED_TYPES[name]})\n"
        for name in _RANGES
        if f"@raceproof_checked_{name}(" in changed
    )


_ONCE = re.compile(r"\bcall [^@%\n]*@(?:pthread_once|call_once)\(ptr (?:noundef )?([^,\n]*),")


def touches_once_controls(texts: Sequence[str]) -> bool:
    """Whether a once control may be more than an operand of `pthread_once`: assigned, say."""
    controls = {control for text in texts for control in _ONCE.findall(text)}
    if not all(re.fullmatch(r"@[-\w.$]+", control) for control in controls):
        return True
    for text in texts:
        code = text[: text.find("\n!")] if "\n!" in text else text
        code = _ONCE.sub("", code)
        for control in controls:
            uses = len(re.findall(rf"{re.escape(control)}(?![-\w.$])", code))
            if uses > code.count(f"\n{control} = "):
                return True
    return False


_COMPARED = re.compile(
    r"^  (?P<result>%\S+) = icmp (?P<relation>eq|ne) ptr (?P<left>[%@][-\w.$]+), "
    r"(?P<right>[%@][-\w.$]+)(?P<rest>[^\n]*)$",
    re.M,
)
_EXCHANGED = re.compile(
    r"^  (?P<head>%\S+ = cmpxchg [^,\n]*)ptr (?P<place>[%@][-\w.$]+), ptr (?P<old>%[-\w.$]+), "
    r"(?P<rest>ptr [^\n]*)$",
    re.M,
)
SAME, DIFFERENT, EXPECTED = (
    f"raceproof_{word}" for word in ("same_address", "different_address", "expected_address")
)


def compare_addresses(text: str) -> str:
    """The module with comparisons of pointers that know that addresses are used again.

        free(p); q = malloc(n); if (p == q) ...         may be true

    A pointer to what is gone equals a new object's address or not: that is no choice.
    """
    used: set[str] = set()

    def compared(match: re.Match[str]) -> str:
        if match["left"][0] == match["right"][0] == "@":
            return match[0]
        name = SAME if match["relation"] == "eq" else DIFFERENT
        used.add(f"declare zeroext i1 @{name}(ptr, ptr)")
        given = f"ptr {match['left']}, ptr {match['right']}"
        return f"  {match['result']} = call zeroext i1 @{name}({given}){match['rest']}"

    def exchanged(match: re.Match[str]) -> str:
        used.add(f"declare ptr @{EXPECTED}(ptr, ptr)")
        value = f"%expected.{match.start()}"
        debug = _DEBUG.search(match["rest"])
        return (
            f"  {value} = call ptr @{EXPECTED}(ptr {match['place']}, ptr {match['old']})"
            f"{debug[0] if debug else ''}\n"
            f"  {match['head']}ptr {match['place']}, ptr {value}, {match['rest']}"
        )

    changed = _EXCHANGED.sub(exchanged, _COMPARED.sub(compared, text))
    return changed + "".join(f"\n{declaration}\n" for declaration in sorted(used))
