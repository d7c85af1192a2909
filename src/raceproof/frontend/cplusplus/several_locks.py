"""`std::lock` of several mutexes as what it comes to: each is locked.

    std::scoped_lock all(a, b, c);        // calls std::lock(a, b, c)

The library locks one, tries the others, and starts again with another one if a try fails, so that
no order of the arguments leads to a deadlock. No lockset analysis sees through that. In the end
all are held; whoever took them at once at that moment, one after the other, would have given the
others only more time with them. So locking each in turn, without the tries, has the same executions
up to deadlocks that the library would avoid; and an execution that ends in one of those is the
beginning of another one, in which the locks are taken at another moment.

Only where all arguments are of one type, which the function's own calls show.
"""

from __future__ import annotations

import re

_LOCK_ALL = re.compile(
    r"^define [^@\n]*@(?P<name>_Z(?:NSt3__1|St)4lock(?:B\d+\w+?)?I\w*)\((?P<parameters>[^\n]*)\) "
    r"[^\n]*\{\n",
    re.M,
)
_LOCK_ONE = re.compile(r"4lock(?:B\d+[a-z]\w*?)?Ev$")
_DEFINITION = re.compile(r'^define [^@\n]*@("[^"]*"|[-\w.$]+)\([^\n]*\{$', re.M)
_CALLED = re.compile(r'\b(?:call|invoke) [^@\n]*?@("[^"]*"|[-\w.$]+)\(')
_PARAMETER = re.compile(r"ptr [^%\n]*?(%\d+)")
_POSITION = re.compile(r", !dbg ![0-9]+$", re.M)


def lock_each(text: str) -> str:
    """The module with simple bodies of `std::lock`."""
    if not _LOCK_ALL.search(text):
        return text
    bodies = {
        match[1]: text[match.end() : text.index("\n}", match.end())]
        for match in _DEFINITION.finditer(text)
    }
    found: list[str] = []
    position = 0
    for match in _LOCK_ALL.finditer(text):
        end = text.index("\n}", match.end())
        locks = _locks(match["name"], bodies)
        parameters = _PARAMETER.findall(match["parameters"])
        if len(locks) != 1 or len(parameters) < 2:
            continue
        where = _POSITION.search(text, match.end(), end)
        debug = where[0] if where else ""
        lock = min(locks)
        calls = [f"  call void @{lock}(ptr {each}){debug}\n" for each in parameters]
        found += [text[position : match.end()], *calls, f"  ret void{debug}"]
        position = end
    return "".join(found) + text[position:]


def _locks(name: str, bodies: dict[str, str]) -> set[str]:
    """The functions by which it locks its arguments."""
    found: set[str] = set()
    seen = {name}
    work = [name]
    while work:
        for callee in _CALLED.findall(bodies.get(work.pop(), "")):
            if _LOCK_ONE.search(callee.strip('"')):
                found.add(callee)
            elif callee not in seen:
                seen.add(callee)
                work.append(callee)
    return found
