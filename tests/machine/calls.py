"""Random calls of library functions, as C text: what the native library says is right.

A call is one line of C that prints what the function returned, what it wrote and `errno`. The
arguments are drawn from small pools with the corner cases of each kind in them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

HEAD = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <math.h>
#undef basename
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>
static char b[80], c[80];
static wchar_t w[40], v[40];
static void start(void) { memset(b, '#', 80); memset(c, '#', 80); errno = 0; }
static void done(const char *what) { printf(" %s errno %d", what, errno); }
static void bytes(const char *p, int n)
{
    for (int i = 0; i < n; i++) printf("%c", p[i] < 32 || p[i] > 126 ? '.' : p[i]);
}
static void I(const char *t, long long x) { printf("%s = %lld", t, x); }
static void D(const char *t, double x)
{
    unsigned long long n;
    memcpy(&n, &x, 8);
    if (x != x) printf("%s = nan", t); else printf("%s = %llx", t, n);
}
static void S(const char *t, const char *base, const char *p)
{
    if (!p) printf("%s = null", t); else printf("%s = +%d", t, (int)(p - base));
}
"""

_INTS = ("0", "1", "-1", "2", "7", "-8", "64", "100", "255", "-256", "2147483647", "-2147483647")
_CHARS = ("0", "9", "10", "32", "47", "48", "57", "65", "90", "95", "97", "122", "126", "127")
_DOUBLES = (
    *("0.0", "-0.0", "1.0", "-1.0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "0.49999999999999994"),
    *("3.0", "1e-310", "1e300", "-1e300", "4503599627370497.5", "1e17", "-7.25", "0.1", "INFINITY"),
    *("-INFINITY", "NAN", "2.0", "10.0", "9007199254740993.0", "-3.0", "5e-324"),
)
_TEXTS = (
    *(
        '""',
        '"a"',
        '"ab"',
        '"abc"',
        '"b"',
        '"ABC"',
        '"a b c"',
        '"  x"',
        '"/usr/lib/"',
        '"/"',
        '"//"',
    ),
    *('"usr"', '"a/b"', '"a10"', '"a9"', '"a001"', '"a01"', '"a1.5"', '"1.2.3.4"', '"::1"'),
    *('"hello world"', '"World"', '"00"', '"0"', '"000"', '"x01y"', '"x1y"', '"item12"', '"item2"'),
)
_NUMBERS = (
    *('"12"', '" -7x"', '"+3"', '"0x1F"', '"0x"', '"010"', '"z"', '"99999999999999999999"', '"-1"'),
    *('"2147483648"', '"7fffffffffffffffff"', '""', '"-0"', '"1e3"', '" 12 34"', '"08"'),
)
_FLOATS = (
    *('"1.5"', '"-0"', '"1e400"', '"1e-400"', '"0x1p3"', '"0x1.8p-1"', '"inf"', '"-INFINITY"'),
    *('"nan"', '"nan(12)"', '".5"', '"5."', '"."', '"e5"', '"1e"', '"1e+"', '"0x"', '"0x.8"'),
    *('"2.2250738585072011e-308"', '"123456789012345678901234567890"', '"1.7976931348623159e308"'),
)
_ADDRESSES = (
    *('"1.2.3.4"', '"127.1"', '"0x7f.1"', '"256.1.1.1"', '"1.2.3"', '"010.1.1.1"', '"1.2.3.4.5"'),
    *('"::1"', '"::"', '"1::8"', '"1:2:3:4:5:6:7:8"', '"::ffff:1.2.3.4"', '"1:2"', '"01.2.3.4"'),
)
_FORMATS = (
    ('"%d|%5d|%-5d|%05d"', "{i}, {i}, {i}, {i}"),
    ('"%+d|% d|%.3d|%8.3d"', "{i}, {i}, {i}, {i}"),
    ('"%x|%#x|%X|%#o|%u"', "{i}, {i}, {i}, {i}, {i}"),
    ('"%.0d|%#.3x|%hhd|%hd"', "{i}, {i}, {i}, {i}"),
    ('"%f|%.2f|%10.1f|%-10.3f|"', "{d}, {d}, {d}, {d}"),
    ('"%e|%.0e|%g|%#g|%G"', "{d}, {d}, {d}, {d}, {d}"),
    ('"%a|%.3a|%.0a|%A|%+a"', "{d}, {d}, {d}, {d}, {d}"),
    ('"%s|%5s|%-5s|%.2s"', "{t}, {t}, {t}, {t}"),
    ('"%2$d %1$d"', "{i}, {i}"),
    ('"%*d|%.*s|%-*d"', "5, {i}, 2, {t}, 4, {i}"),
    ('"%c%%|%ls|%lc"', '65, L"wide", (wint_t)66'),
    ('"%08.2f|%+.1f|% .3e"', "{d}, {d}, {d}"),
    ('"%lld|%zu|%jd|%hu"', "{i}LL, (size_t)7, (intmax_t){i}, (unsigned short){i}"),
)


class Calls:
    """Draws lines of C."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self, pool: tuple[str, ...]) -> str:
        return self._random.choice(pool)

    def filled(self, text: str) -> str:
        """`{i}`, `{d}`, `{t}`, ... stand for arguments."""
        pools = {
            "{i}": _INTS,
            "{c}": _CHARS,
            "{d}": _DOUBLES,
            "{t}": _TEXTS,
            "{n}": _NUMBERS,
            "{f}": _FLOATS,
            "{a}": _ADDRESSES,
            "{m}": ('"12"', '" -7x"', '"+3"', '"010"', '"z"', '""', '"-0"', '" 12 34"', '"08"'),
            "{e}": ('"1.5x"', '"-0"', '"0x1p3 y"', '"inf"', '".5"', '"5.z"', '"."', '"z"'),
            "{k}": ("0", "1", "2", "3", "5", "8"),
            "{w}": tuple(f"L{t}" for t in _TEXTS),
            "{z}": ("0", "1", "951782400", "-1", "86399", "1700000000", "4102444800", "-86401"),
        }
        for mark, pool in pools.items():
            while mark in text:
                text = text.replace(mark, self.one(pool), 1)
        return text

    def lines(self, template: str, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self.filled(template)


def _integers(*calls: str) -> list[str]:
    return [f'I("{call.partition("(")[0]}", {call}); done("");' for call in calls]


def _doubles(*calls: str) -> list[str]:
    return [f'D("{call.partition("(")[0]}", {call}); done("");' for call in calls]


def _within(*calls: str) -> list[str]:
    """Pointers into `b`, which holds a text."""
    return [
        f'strcpy(b, {{t}}); S("{call.partition("(")[0]}", b, {call}); bytes(b, 20); done("");'
        for call in calls
    ]


def _signs(*calls: str) -> list[str]:
    """Of which the standard fixes the sign only."""
    return [
        f'{{ int r = {call}; I("{call.partition("(")[0]}", (r > 0) - (r < 0)); done(""); }}'
        for call in calls
    ]


def _truths(*calls: str) -> list[str]:
    return [f'I("{call.partition("(")[0]}", !!{call}); done("");' for call in calls]


CLASSES = [
    "alnum",
    "alpha",
    "blank",
    "cntrl",
    "digit",
    "graph",
    "lower",
    "print",
    "punct",
    "space",
    "upper",
    "xdigit",
]
ONE_ARGUMENT = [
    "ceil",
    "floor",
    "trunc",
    "round",
    "rint",
    "nearbyint",
    "fabs",
    "sqrt",
    "cbrt",
    "exp",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
    "logb",
    "exp2",
]
EXACT_IN_FLOAT = ["ceilf", "floorf", "truncf", "roundf", "rintf", "fabsf", "sqrtf", "logbf"]

TEMPLATES: dict[str, list[str]] = {
    "bits": _integers(
        "ffs({i})",
        "ffsl({i}L)",
        "ffsll({i}LL << 20)",
        "htons({i})",
        "htonl({i})",
        "ntohs({i})",
        "abs({i})",
        "labs({i}L)",
        "llabs({i}LL)",
        "imaxabs({i})",
        "toascii({i})",
        "div({i}, 7).quot",
        "div({i}, -3).rem",
        "ldiv({i}L, 10L).rem",
        "lldiv({i}LL, -7LL).quot",
        "imaxdiv({i}, 5).rem",
    ),
    "characters": [
        *_truths(*(f"is{name}({{c}})" for name in CLASSES)),
        *_truths(*(f"isw{name}({{c}})" for name in CLASSES)),
        *_integers("toupper({c})", "tolower({c})", "towupper({c})", "towlower({c})", "btowc({c})"),
        *_integers("wctob({c})", "isascii({c})", 'iswctype({c}, wctype("alpha")) != 0'),
    ],
    "strings": [
        *_signs("strcmp({t}, {t})", "strncmp({t}, {t}, {k})", "strcasecmp({t}, {t})"),
        *_signs("strncasecmp({t}, {t}, {k})", "strverscmp({t}, {t})", "strcoll({t}, {t})"),
        *_integers("strlen({t})", "strnlen({t}, {k})", "strspn({t}, {t})", "strcspn({t}, {t})"),
        *_within("strchr(b, {c})", "strrchr(b, {c})", "strstr(b, {t})", "strcasestr(b, {t})"),
        *_within("strpbrk(b, {t})", "strchrnul(b, {c})", "memchr(b, {c}, 80)", "memrchr(b, 98, 9)"),
        *_within(
            "rawmemchr(b, 0)", 'memmem(b, 9, "b", 1)', "basename(b)", "dirname(b) == b ? b : 0"
        ),
        *_within("__xpg_basename(b) - b < 80 ? b : 0", "stpcpy(b, {t})", "strcpy(b + 1, {t})"),
        *_within("strncpy(b, {t}, {k})", "stpncpy(b, {t}, {k})", "strcat(b, {t})"),
        *_within("strncat(b, {t}, {k})", "memccpy(b, {t}, 98, 2)", "memset(b + 1, {c}, {k})"),
        *_within("(swab({t}, b, 2), b)", "memfrob(b, {k})", "(strxfrm(b, {t}, 60), b)"),
        'strcpy(b, {t}); { char *r; S("strtok_r", b, strtok_r(b, " /", &r)); } bytes(b, 20); '
        'done("");',
        'strcpy(b, {t}); { char *r = b; S("strsep", b, strsep(&r, " /")); } bytes(b, 20); '
        'done("");',
    ],
    "wide": [
        *_signs("wcscmp({w}, {w})", "wcsncmp({w}, {w}, {k})", "wcscasecmp({w}, {w})"),
        *_signs('wmemcmp(L"abc", L"abd", {k} % 4)'),
        *_integers("wcslen({w})", "wcsnlen({w}, {k})", "wcsspn({w}, {w})", "wcscspn({w}, {w})"),
        *_integers("wcschr(wcscpy(w, {w}), {c}) != 0", "wcslen(wcscat(wcscpy(w, {w}), {w}))"),
        *_integers("wcslen(wcsncat(wcscpy(w, {w}), {w}, {k}))", "wcstol({w}, 0, 10)"),
        *_integers("(wmemset(w, {c}, 5), w[4])", "mbstowcs(w, {t}, 8)", "wcstombs(b, {w}, 8)"),
        *_integers(
            "mblen({t}, {k} + 1)", "mbtowc(w, {t}, {k} + 1)", "wctomb(b, {c})", "wcswidth({w}, 9)"
        ),
        'wcscpy(w, {w}); { wchar_t *r; wchar_t *p = wcstok(w, L" /", &r); '
        'I("wcstok", p ? p - w : -1); } done("");',
    ],
    "numbers": [
        f'{{{{ char *e; const char *t = {{n}}; I("{name}", {name}(t, &e, {base})); '
        f'printf(" +%d", (int)(e - t)); done(""); }}}}'.replace("{{{{", "{{").replace("}}}}", "}}")
        for name in ("strtol", "strtoul", "strtoll", "strtoull", "strtoimax", "strtoumax")
        for base in ("10", "0", "16", "36")
    ]
    + _integers('atoi("{i}")', 'atol("{i}")', 'atoll("{i}")'),
    "floats from text": [
        f'{{ char *e; const char *t = {{f}}; D("{name}", {name}(t, &e)); '
        f'printf(" +%d", (int)(e - t)); done(""); }}'
        for name in ("strtod", "strtof")
    ]
    + _doubles("atof({f})"),
    "math": [
        *_doubles(*(f"{name}({{d}})" for name in ONE_ARGUMENT)),
        *_doubles(*(f"{name}((float){{d}})" for name in EXACT_IN_FLOAT)),
        *_doubles("pow({d}, {d})", "fmod({d}, {d})", "remainder({d}, {d})", "hypot({d}, {d})"),
        *_doubles("atan2({d}, 3.0)", "copysign({d}, {d})", "fdim({d}, {d})", "fma({d}, {d}, {d})"),
        *_doubles("nextafter({d}, {d})", "ldexp({d}, {i})", "scalbn({d}, {k})", "fmax({d}, 1.0)"),
        *_doubles("nextafterf((float){d}, (float){d})", "fmin({d}, 1.0)", "scalbln({d}, {k})"),
        *_integers("ilogb({d})", "lround(7.5)", "llrint(2.5)", "lrint(-0.5)", "lround(-2.5)"),
        *_doubles("lgamma(-3.0)", "lgamma(0.0)", "lgamma(1.0)", "lgamma(-INFINITY)", "tgamma(5.0)"),
        *_doubles("tgamma(-0.0)", "tgamma(-2.0)", "lgamma(2.0)", "tgamma(-INFINITY)"),
        *_truths("isnan({d})", "isinf({d})", "isfinite({d})", "signbit({d})", "isnormal({d})"),
        '{ int n = 0; D("frexp", frexp({d}, &n)); if (0) printf(" %d", n); done(""); }',
        '{ double n = 0; D("modf", modf({d}, &n)); D("", n); done(""); }',
        '{ int n; D("remquo", remquo({d}, 2.0, &n)); done(""); }',
    ],
    "formats": [
        f'I("snprintf", snprintf(b, {size}, {form}, {given})); bytes(b, 80); done("");'
        for form, given in _FORMATS
        for size in ("80", "7")
    ],
    "scanning": [
        '{ int x = 5, y = 6, r = sscanf({m}, "%d %n", &x, &y); I("sscanf", r); '
        'printf(" %d %d", x, y); done(""); }',
        '{ int x = 5; char s[30] = "?"; int r = sscanf({t}, "%3[a-z]%d", s, &x); I("sscanf", r); '
        'printf(" %d %s", x, s); done(""); }',
        '{ double x = 5; char s[30] = "?"; int r = sscanf({e}, "%lf%29s", &x, s); I("sscanf", r); '
        'D("", x); printf(" %s", s); done(""); }',
        '{ unsigned x = 1; char s = 33; int r = sscanf({t}, "a%c%x", &s, &x); I("sscanf", r); '
        'printf(" %c %x", s, x); done(""); }',
    ],
    "addresses": [
        *_integers("inet_addr({a})"),
        '{ struct in_addr x = {7}; I("inet_aton", inet_aton({a}, &x)); printf(" %x", x.s_addr); '
        'done(""); }',
        'I("inet_pton", inet_pton(AF_INET, {a}, b)); bytes(b, 5); done("");',
        'I("inet_pton", inet_pton(AF_INET6, {a}, b)); bytes(b, 17); done("");',
        'if (inet_pton(AF_INET6, {a}, c) == 1) S("inet_ntop", b, inet_ntop(AF_INET6, c, b, 46)); '
        'bytes(b, 40); done("");',
    ],
    "time": [
        '{ time_t t = {z}; struct tm x; gmtime_r(&t, &x); printf("gmtime %d-%d-%d %d:%d:%d %d %d", '
        "x.tm_year, x.tm_mon, x.tm_mday, x.tm_hour, x.tm_min, x.tm_sec, x.tm_wday, x.tm_yday); "
        'done(""); }',
        "{ struct tm x = {.tm_year = {k} + 70, .tm_mon = {i} % 40, .tm_mday = {i} % 90, "
        '.tm_sec = {i} % 4000}; I("timegm", timegm(&x)); printf(" %d %d", x.tm_yday, x.tm_wday); '
        'done(""); }',
        '{ time_t t = {z}; struct tm x; gmtime_r(&t, &x); I("strftime", strftime(b, 80, '
        '"%F %T %a %B %j %U %W %V %G %y %C %e %I %p", &x)); bytes(b, 80); done(""); }',
        "{ time_t t = {z}; struct tm x; gmtime_r(&t, &x); asctime_r(&x, b); bytes(b, 26); "
        'done(""); }',
        'D("difftime", difftime({z}, {z})); done("");',
    ],
    "sets": [
        '{ sigset_t s; sigemptyset(&s); sigaddset(&s, {k} + 1); I("sigismember", '
        'sigismember(&s, {k} + 1)); done(""); }',
        '{ sigset_t s; sigfillset(&s); sigdelset(&s, {k} + 1); I("sigismember", '
        'sigismember(&s, {k} + 1)); done(""); }',
        '{ sigset_t s; sigemptyset(&s); I("sigaddset", sigaddset(&s, {i})); done(""); }',
    ],
}


def program(seed: int, count: int, *, group: str | None = None) -> str:
    """A program that makes `count` calls by each template."""
    calls = Calls(seed)
    functions = []
    for number, (name, templates) in enumerate(TEMPLATES.items()):
        if group is not None and name != group:
            continue
        lines = [line for template in templates for line in calls.lines(template, count)]
        body = "\n".join(f'    start(); {line} puts("");' for line in lines)
        functions.append(f"static void group{number}(void)\n{{\n{body}\n}}\n")
    names = [f"group{n}();" for n, g in enumerate(TEMPLATES) if group is None or g == group]
    return HEAD + "".join(functions) + "int main(void) { " + " ".join(names) + " return 0; }\n"
