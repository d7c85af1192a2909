// strtok, strtok_r, strsep: where the next token starts is kept between the calls.
// when: strtok strtok_r __strtok_r strsep __strsep

static inline __attribute__((always_inline)) char *next_token(
    char *text, const char *delimiters, char **rest)
{
    if (text == NULL)
        text = *rest;
    if (text == NULL)
        return NULL;
    text += strspn(text, delimiters);
    if (*text == 0) {
        *rest = text;
        return NULL;
    }
    char *end = text + strcspn(text, delimiters);
    if (*end == 0) {
        *rest = end;
    } else {
        *end = 0;
        *rest = end + 1;
    }
    return text;
}

static char *raceproof_strtok;

LIBRARY char *strtok(char *text, const char *delimiters)
{
    return next_token(text, delimiters, &raceproof_strtok);
}

LIBRARY char *strtok_r(char *text, const char *delimiters, char **rest)
{
    return next_token(text, delimiters, rest);
}

LIBRARY char *__strtok_r(char *text, const char *delimiters, char **rest)
{
    return next_token(text, delimiters, rest);
}

LIBRARY char *strsep(char **place, const char *delimiters)
{
    char *text = *place;
    if (text == NULL)
        return NULL;
    char *end = text + strcspn(text, delimiters);
    if (*end == 0) {
        *place = NULL;
    } else {
        *end = 0;
        *place = end + 1;
    }
    return text;
}

LIBRARY char *__strsep(char **place, const char *delimiters)
{
    char *text = *place;
    if (text == NULL)
        return NULL;
    char *end = text + strcspn(text, delimiters);
    if (*end == 0) {
        *place = NULL;
    } else {
        *end = 0;
        *place = end + 1;
    }
    return text;
}
