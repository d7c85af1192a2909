"""Source positions and names from the compiler's metadata."""

from __future__ import annotations

import os
import re

from raceproof.ir import DebugInfo, Position
from raceproof.ir.debug import unquote

_LOCATION = re.compile(
    r"!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: (![0-9]+)(?:, inlinedAt: (![0-9]+))?"
)
_LIBRARY = re.compile(r"/libcxx/include/|/include/c\+\+/")
_FUNCTION_OBJECTS = re.compile(
    r"/__functional/|/__algorithm/comp|/__compare/|/compare$|/functional$|/bits/stl_function\.h$"
    r"|/bits/predefined_ops\.h$|/bits/ranges_cmp\.h$|/__memory/(?:shared|unique)_ptr\.h$"
    r"|/bits/(?:shared|unique)_ptr\.h$|/bits/shared_ptr_base\.h$|/__utility/|/bits/stl_pair\.h$"
    r"|/tuple$|/optional$|/variant$|/__memory/pointer_traits"
)
_FILE = re.compile(r"file: (![0-9]+)")
_SCOPE = re.compile(r"scope: (![0-9]+)")


class Positions:
    """Answers by metadata key, each computed once."""

    def __init__(self, debug: DebugInfo) -> None:
        self.debug = debug
        self._positions: dict[str, Position | None] = {"": None}
        self._files: dict[str, str] = {}
        self._iterators: dict[str, bool] = {"": False}
        self._names: dict[str, str] = {}

    def of(self, key: str) -> Position | None:
        """Where an instruction with `!dbg key` stands."""
        try:
            return self._positions[key]
        except KeyError:
            match = _LOCATION.search(self.debug.nodes.get(key, ""))
            while match and match[4]:  # the library's code, inlined: the call that the user wrote
                match = _LOCATION.search(self.debug.nodes.get(match[4], ""))
            position = None
            if match and match[1] != "0":
                position = Position(
                    self._file_of_scope(match[3]), int(match[1]), int(match[2] or 0)
                )
            self._positions[key] = position
            return position

    def is_of_iterators(self, key: str) -> bool:
        """Is it the C++ library's code, but not that of its function objects?

        Where the library compares or subtracts pointers they are positions of one range, as its
        functions require; `std::less` and its kind compare whatever the user hands to them.
        """
        found = self._iterators.get(key)
        if found is None:
            match = _LOCATION.search(self.debug.nodes.get(key, ""))
            file = self._file_of_scope(match[3]) if match else ""
            found = _LIBRARY.search(file) is not None and _FUNCTION_OBJECTS.search(file) is None
            self._iterators[key] = found
        return found

    def _file_of_scope(self, key: str) -> str:
        found = self._files.get(key)
        if found is None:
            text = self.debug.nodes.get(key, "")
            file = _FILE.search(text)
            scope = _SCOPE.search(text)
            if file:
                found = self.file(file[1])
            elif scope:
                found = self._file_of_scope(scope[1])
            else:
                found = "?"
            self._files[key] = found
        return found

    def file(self, key: str) -> str:
        """As the user named it; Clang cuts off what a path and the working directory share."""
        found = self._names.get(key)
        if found is None:
            fields = self.debug.fields(key)
            name = unquote(fields.get("filename", "?"))
            folder = unquote(fields.get("directory", ""))
            is_here = not folder or folder == os.getcwd()
            found = self._names[key] = name if is_here else os.path.join(folder, name)
        return found

    def function(self, key: str) -> tuple[str, Position | None]:
        """The source name and place of a `!DISubprogram`."""
        fields = self.debug.fields(key)
        return unquote(fields.get("name", "")), self._declared(fields)

    def variable(self, key: str) -> tuple[str, str]:
        """Name and key of the type of a local or global variable."""
        fields = self.debug.fields(key)
        return unquote(fields.get("name", "")), fields.get("type", "")

    def global_variable(self, key: str) -> tuple[str, str, Position | None]:
        """Name, type and place behind a `!DIGlobalVariableExpression`."""
        variable = self.debug.fields(key).get("var", "")
        fields = self.debug.fields(variable)
        name, type_ = self.variable(variable)
        return name, type_, self._declared(fields)

    def _declared(self, fields: dict[str, str]) -> Position | None:
        line = fields.get("line", "0")
        if "file" not in fields or line == "0":
            return None
        return Position(self.file(fields["file"]), int(line))
