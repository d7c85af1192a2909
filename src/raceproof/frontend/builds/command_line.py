"""One command of a compiler, taken apart: what it compiles, how, and what it links.

Three kinds of flags. Some say what the program is (`-I`, `-D`, `-std`, `-funsigned-char`) and are
kept. Some change what the compiler would say about itself (`-m32`, `--sysroot`) and go into the
question that it is asked. All others (warnings, optimisation, plugins, outputs, dependency files)
are dropped: a list of what is kept is short and known, a list of what others invented is not.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

C_SUFFIXES = frozenset({".c", ".i", ".h"})
CXX_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".C", ".c++", ".ii", ".cp", ".CPP"})
OBJECT_SUFFIXES = frozenset({".o", ".lo", ".obj", ".os"})
LIBRARY_SUFFIXES = frozenset({".a", ".la", ".lib", ".so"})
SHARED_LIBRARY = re.compile(r"\.so(\.\d+)*$")

_COMPILER = re.compile(
    r"(?:[\w.]+-)*(?P<kind>cc|gcc|g\+\+|c\+\+|clang\+\+|clang|c89|c99|tcc|pcc|icc|icpc|icx|icpx|"
    r"mpicc|mpicxx|mpic\+\+|afl-gcc|afl-clang-fast|musl-gcc)(?:-\d[\d.]*)?(?:\.exe)?"
)
_CXX_KINDS = frozenset({"g++", "c++", "clang++", "icpc", "icpx", "mpicxx", "mpic++"})
_LAUNCHERS = frozenset(
    {"ccache", "distcc", "sccache", "icecc", "env", "libtool", "nice", "time", "buildcache"}
)
_CROSS_PREFIX = re.compile(r"((?:[\w.]+-)+)(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+)(?:-\d[\d.]*)?$")

_KEPT_WITH_VALUE = (
    "-include", "-isystem", "-iquote", "-idirafter", "-isysroot", "-imacros", "-cxx-isystem",
    "-iprefix", "-iwithprefixbefore", "-iwithprefix", "-I", "-D", "-U",
)  # fmt: skip
_DROPPED_WITH_VALUE = frozenset({
    "-MF", "-MT", "-MQ", "-MJ", "-Xlinker", "-Xassembler", "-T", "-u", "-z", "-aux-info", "-G",
    "-B", "--param", "-dumpdir", "-dumpbase", "-dumpbase-ext", "-wrapper", "-e", "-h", "-R",
    "-rpath", "-soname", "-framework", "-mllvm", "-arch", "-index-store-path",
    "--serialize-diagnostics", "-install_name", "-current_version", "-compatibility_version",
    "-imultilib", "-A", "-main-file-name", "-dependency-file", "-version-info", "-release",
})  # fmt: skip
_KEPT_WORDS = re.compile(
    r"-std=\S+|-ansi|-trigraphs|-pthread|-undef"
    r"|-f(no-)?(exceptions|rtti|short-enums|short-wchar|ms-extensions|pack-struct|blocks|char8_t"
    r"|coroutines|gnu89-inline|gnu-keywords|asm|dollars-in-identifiers|wrapv|builtin|common"
    r"|threadsafe-statics|sized-deallocation|aligned-new|delayed-template-parsing)"
    r"|-f(un)?signed-(char|bitfields)|-fno-(un)?signed-(char|bitfields)|-fpack-struct=\d+"
    r"|-ffreestanding|-fhosted|-fno-builtin-\w+|-fvisibility=\w+|-mms-bitfields"
    r"|-m(no-)?(sse|avx|aes|pclmul|popcnt|bmi|lzcnt|fma|f16c|rdrnd|rdseed|sha|adx|mmx|crc32|cx16"
    r"|movbe|xsave|fsgsbase|vaes|vpclmulqdq|gfni|rtm|waitpkg)[\w.-]*"
    r"|-march=(native|x86-64\S*|core\S*|haswell|skylake\S*|znver\d|nehalem|westmere|sandybridge"
    r"|ivybridge|broadwell|icelake\S*)"
)
_TRANSLATED = {"-fplan9-extensions": "-fms-extensions"}
_QUERY = re.compile(r"-m(32|64|x32|16)|--sysroot=\S+|-stdlib=\S+|--target=\S+|--gcc-toolchain=\S+")
_LANGUAGES = {"c": False, "c++": True, "cpp-output": False, "c++-cpp-output": True}
_MOST_NESTED = 8
"""Response files that name response files."""


@dataclass(slots=True)
class CommandLine:
    """What one command does, its file names as written (relative to where it ran)."""

    compiler: str = ""
    sources: list[tuple[str, bool | None]] = field(default_factory=list)
    """With the language: C++ (True), C (False), not a language of ours (None)."""
    flags: list[str] = field(default_factory=list)
    query: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    """Objects and libraries to link, by path or as `-lNAME`."""
    library_folders: list[str] = field(default_factory=list)
    output: str = ""
    is_linking: bool = True
    is_shared: bool = False
    is_relocatable: bool = False
    has_openmp: bool = False
    troubles: list[str] = field(default_factory=list)


def is_compiler(program: str) -> bool:
    """Whether the name is that of a C or C++ compiler that takes the flags of GCC."""
    return _COMPILER.fullmatch(os.path.basename(program)) is not None


def is_cxx_compiler(program: str) -> bool:
    found = _COMPILER.fullmatch(os.path.basename(program))
    return found is not None and found["kind"] in _CXX_KINDS


def cross_target(program: str) -> str:
    """`arm-linux-gnueabi` of `arm-linux-gnueabi-gcc`; empty if there is no such prefix."""
    found = _CROSS_PREFIX.match(os.path.basename(program))
    return found[1].rstrip("-") if found else ""


def split_command(text: str) -> list[str]:
    """A command as a shell would split it; quotes that do not close are taken as they are."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def without_launchers(arguments: Sequence[str]) -> list[str]:
    """Without `ccache`, `env NAME=value`, `libtool --mode=compile` in front of the compiler."""
    words = list(arguments)
    while words and os.path.basename(words[0]) in _LAUNCHERS:
        del words[0]
        while words and (words[0].startswith("-") or "=" in words[0]):
            del words[0]
    return words


def expanded(arguments: Iterable[str], folder: Path, troubles: list[str]) -> Iterator[str]:
    """With the content of response files (`@file`) in their place."""
    stack = [(iter(arguments), 0)]
    while stack:
        words, depth = stack[-1]
        word = next(words, None)
        if word is None:
            stack.pop()
        elif word.startswith("@") and len(word) > 1 and depth < _MOST_NESTED:
            try:
                text = (folder / word[1:]).read_text("utf-8", "surrogateescape")
            except (OSError, ValueError):
                troubles.append(f"the response file {word[1:]} cannot be read")
                continue
            stack.append((iter(split_command(text)), depth + 1))
        else:
            yield word


def read_command_line(arguments: Sequence[str], folder: Path) -> CommandLine:
    """`arguments` with the compiler first."""
    found = CommandLine()
    words = without_launchers(arguments)
    if not words:
        return found
    found.compiler = words[0]
    rest = expanded(words[1:], folder, found.troubles)
    default_cxx = is_cxx_compiler(found.compiler)
    language: str | None = None
    for word in rest:
        if word == "--":
            continue
        if not word.startswith("-") or word == "-":
            _take_file(found, word, language, default_cxx)
        elif word == "-x":
            language = next(rest, "none")
        elif word.startswith("-x") and len(word) > 2:
            language = word[2:]
        else:
            _take_option(found, word, rest)
        if language == "none":
            language = None
    return found


def _take_file(found: CommandLine, word: str, language: str | None, default_cxx: bool) -> None:
    suffix = os.path.splitext(word)[1]
    if suffix in OBJECT_SUFFIXES | LIBRARY_SUFFIXES or SHARED_LIBRARY.search(word):
        found.inputs.append(word)
    elif language is not None:
        found.sources.append((word, _LANGUAGES.get(language)))
    elif suffix in CXX_SUFFIXES or (suffix in C_SUFFIXES and default_cxx and suffix != ".i"):
        found.sources.append((word, True))
    elif suffix in {".c", ".i"}:
        found.sources.append((word, False))
    elif suffix in {".h", ".hh", ".hpp", ".hxx", ".s", ".S", ".asm"}:
        found.sources.append((word, None))
    else:
        found.inputs.append(word)


def _take_option(found: CommandLine, word: str, rest: Iterator[str]) -> None:
    if word == "-o":
        found.output = next(rest, "")
    elif word in {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"}:
        found.is_linking = False
        if word in {"-E", "-M", "-MM", "-fsyntax-only"}:
            found.sources = [(name, None) for name, _ in found.sources]
            found.troubles.append("only preprocesses")
    elif word in {"-shared", "-dynamiclib", "-bundle", "--shared"}:
        found.is_shared = True
    elif word in {"-r", "-Wl,-r", "--relocatable"}:
        found.is_relocatable = True
    elif word == "-L":
        found.library_folders.append(next(rest, ""))
    elif word.startswith("-L"):
        found.library_folders.append(word[2:])
    elif word == "-l":
        found.inputs.append("-l" + next(rest, ""))
    elif word.startswith("-l"):
        found.inputs.append(word)
    elif word in {"--sysroot", "-target"}:
        found.query.append(f"{'--target' if word == '-target' else word}={next(rest, '')}")
    elif _QUERY.fullmatch(word):
        found.query.append(word)
    elif word in {"-fopenmp", "-qopenmp"} or word.startswith("-fopenmp="):
        found.has_openmp = True
    elif word == "-Xpreprocessor":
        _take_option(found, next(rest, ""), rest)
    elif word == "-Xclang":
        _take_frontend_option(found, next(rest, ""), rest)
    elif word.startswith("-Wp,"):
        parts = iter(word[4:].split(","))
        for part in parts:
            _take_option(found, part, parts)
    elif word in _DROPPED_WITH_VALUE:
        next(rest, None)
    elif word in _TRANSLATED:
        found.flags.append(_TRANSLATED[word])
    elif word in _KEPT_WITH_VALUE:
        found.flags += [word, next(rest, "")]
    elif word.startswith(_KEPT_WITH_VALUE) or _KEPT_WORDS.fullmatch(word):
        found.flags.append(word)


def _take_frontend_option(found: CommandLine, word: str, rest: Iterator[str]) -> None:
    """`-Xclang -include -Xclang FILE`; a precompiled header comes with its text beside it."""
    if word in {"-include", "-include-pch"}:
        if next(rest, "") == "-Xclang":
            value = next(rest, "")
            if word == "-include":
                found.flags += ["-include", value]
