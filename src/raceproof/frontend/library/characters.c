// Characters in the C locale. Where the program sets another, what they return stays open.
// when: isupper islower isalpha isdigit isxdigit isspace
// when: isprint isgraph isblank iscntrl ispunct isalnum
// when: isascii toascii toupper tolower
// not: setlocale newlocale uselocale

LIBRARY int isupper(int c)
{
    return (c >= 'A' && c <= 'Z') ? 0x100 : 0;
}

LIBRARY int islower(int c)
{
    return (c >= 'a' && c <= 'z') ? 0x200 : 0;
}

LIBRARY int isalpha(int c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') ? 0x400 : 0;
}

LIBRARY int isdigit(int c)
{
    return (c >= '0' && c <= '9') ? 0x800 : 0;
}

LIBRARY int isxdigit(int c)
{
    return ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f')) ? 0x1000 : 0;
}

LIBRARY int isspace(int c)
{
    return (c == ' ' || (c >= '\t' && c <= '\r')) ? 0x2000 : 0;
}

LIBRARY int isprint(int c)
{
    return (c >= ' ' && c <= '~') ? 0x4000 : 0;
}

LIBRARY int isgraph(int c)
{
    return (c > ' ' && c <= '~') ? 0x8000 : 0;
}

LIBRARY int isblank(int c)
{
    return (c == ' ' || c == '\t') ? 0x1 : 0;
}

LIBRARY int iscntrl(int c)
{
    return ((c >= 0 && c < ' ') || c == 127) ? 0x2 : 0;
}

LIBRARY int ispunct(int c)
{
    return (c > ' ' && c <= '~' && !(((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9'))) ? 0x4 : 0;
}

LIBRARY int isalnum(int c)
{
    return (((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9')) ? 0x8 : 0;
}

LIBRARY int isascii(int c)
{
    return c >= 0 && c < 128;
}

LIBRARY int toascii(int c)
{
    return c & 127;
}

LIBRARY int toupper(int c)
{
    return c >= 'a' && c <= 'z' ? c - 32 : c;
}

LIBRARY int tolower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}
