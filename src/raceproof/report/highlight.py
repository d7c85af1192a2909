"""C source in colours, for HTML: the lines of an excerpt with token classes."""

from __future__ import annotations

from markupsafe import Markup, escape
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, String, _TokenType

from raceproof.report.source import SourceLine

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Comment.Preproc, "p"),
    (Comment.PreprocFile, "s"),
    (Comment, "c"),
    (Keyword, "k"),
    (Name.Function, "f"),
    (Name.Builtin, "k"),
    (Number, "n"),
    (String, "s"),
)


def highlighted(lines: list[SourceLine]) -> list[Markup]:
    """Each line's text with <span> around its tokens."""
    text = "\n".join(line.text for line in lines)
    lexer = get_lexer_by_name("cpp", stripnl=False, ensurenl=False)
    found = [Markup("")]
    for kind, value in lexer.get_tokens(text):
        ancestors = kind.split()
        name = next((css for token, css in _CLASSES if token in ancestors), "")
        for index, part in enumerate(value.split("\n")):
            if index:
                found.append(Markup(""))
            if part:
                span = Markup('<span class="{}">{}</span>').format(name, part)
                found[-1] += span if name else escape(part)
    found += [Markup("")] * (len(lines) - len(found))
    return found[: len(lines)]
