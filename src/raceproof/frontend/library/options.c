// getopt, getopt_long, getsubopt: they hand out pointers into the arguments, and write through the
// `flag` of a long option. The variables are the library's, unguarded.
// when: getopt getopt_long getopt_long_only getsubopt optarg optind opterr optopt

#define VARIABLE __attribute__((weak))

VARIABLE char *optarg;
VARIABLE int optind = 1;
VARIABLE int opterr = 1;
VARIABLE int optopt;
static int raceproof_getopt; // where in a cluster of options the next one stands

struct option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};

static inline __attribute__((always_inline)) int is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != 0;
}

static inline __attribute__((always_inline)) int short_option(
    int argc, char *const *argv, const char *options)
{
    char *argument = argv[optind];
    if (raceproof_getopt == 0)
        raceproof_getopt = 1;
    int letter = argument[raceproof_getopt++];
    int is_last = argument[raceproof_getopt] == 0;
    const char *known = options;
    while (*known != 0 && (*known != letter || letter == ':'))
        known++;
    int takes = *known != 0 && known[1] == ':', may_lack = takes && known[2] == ':';
    if (*known == 0 || !takes) {
        if (is_last) {
            optind++;
            raceproof_getopt = 0;
        }
        if (*known == 0) {
            optopt = letter;
            return '?';
        }
        return letter;
    }
    if (!is_last)
        optarg = argument + raceproof_getopt;
    else if (may_lack)
        optarg = NULL;
    else if (optind + 1 < argc)
        optarg = argv[++optind];
    else {
        optind++;
        raceproof_getopt = 0;
        optopt = letter;
        return options[0] == ':' ? ':' : '?';
    }
    optind++;
    raceproof_getopt = 0;
    return letter;
}

static inline __attribute__((always_inline)) int long_option(
    int argc, char *const *argv, const char *options, const struct option *longs, int *index)
{
    char *name = argv[optind] + 1;
    if (*name == '-')
        name++;
    size_t length = strcspn(name, "=");
    int found = -1, count = 0;
    for (int i = 0; longs[i].name != NULL; i++) {
        if (strncmp(longs[i].name, name, length) != 0)
            continue;
        count++;
        found = i;
        if (longs[i].name[length] == 0) {
            count = 1;
            break;
        }
    }
    optind++;
    raceproof_getopt = 0;
    if (count != 1) {
        optopt = 0;
        return '?';
    }
    if (index != NULL)
        *index = found;
    optarg = NULL;
    if (name[length] == '=') {
        if (longs[found].has_arg == 0) {
            optopt = longs[found].val;
            return '?';
        }
        optarg = name + length + 1;
    } else if (longs[found].has_arg == 1) {
        if (optind >= argc) {
            optopt = longs[found].val;
            return options[0] == ':' ? ':' : '?';
        }
        optarg = argv[optind++];
    }
    if (longs[found].flag != NULL) {
        *longs[found].flag = longs[found].val;
        return 0;
    }
    return longs[found].val;
}

static inline __attribute__((always_inline)) int scan(
    int argc, char **argv, const char *options, const struct option *longs, int *index, int only)
{
    if (optind == 0) {
        optind = 1;
        raceproof_getopt = 0;
    }
    if (optind >= argc || argv[optind] == NULL)
        return -1;
    int first = optind, stops = options[0] == '+', in_order = options[0] == '-';
    if (raceproof_getopt == 0) {
        if (in_order && !is_option(argv[optind])) {
            optarg = argv[optind++];
            return 1;
        }
        while (optind < argc && argv[optind] != NULL && !is_option(argv[optind])) {
            if (stops) // or POSIXLY_CORRECT is set
                return -1;
            optind++;
        }
        if (optind >= argc || argv[optind] == NULL) {
            optind = first;
            return -1;
        }
        if (first != optind && raceproof_unspecified()) {
            optind = first;
            return -1;
        }
    }
    int here = optind, result;
    if (raceproof_getopt == 0 && argv[here][1] == '-' && argv[here][2] == 0) {
        optind++;
        result = -1;
    } else if (longs != NULL && raceproof_getopt == 0 && (argv[here][1] == '-' || only)) {
        if (stops || in_order)
            options++;
        result = long_option(argc, argv, options, longs, index);
    } else {
        if (stops || in_order)
            options++;
        result = short_option(argc, argv, options);
    }
    int count = optind - here;
    if (here > first && count > 0) {
        // what is no option goes behind the options
        for (int moved = 0; moved < count; moved++) {
            char *one = argv[here + moved];
            for (int i = here + moved; i > first + moved; i--)
                argv[i] = argv[i - 1];
            argv[first + moved] = one;
        }
        optind = first + count;
    } else if (here > first) {
        raceproof_may_write(argv);
    }
    return result;
}

LIBRARY int getopt(int argc, char *const *argv, const char *options)
{
    return scan(argc, (char **)argv, options, NULL, NULL, 0);
}

LIBRARY int getopt_long(
    int argc, char *const *argv, const char *options, const struct option *longs, int *index)
{
    return scan(argc, (char **)argv, options, longs, index, 0);
}

LIBRARY int getopt_long_only(
    int argc, char *const *argv, const char *options, const struct option *longs, int *index)
{
    return scan(argc, (char **)argv, options, longs, index, 1);
}

LIBRARY int getsubopt(char **place, char *const *tokens, char **value)
{
    char *text = *place;
    if (*text == 0)
        return -1;
    char *end = text + strcspn(text, ",");
    size_t length = strcspn(text, "=,");
    int found = -1;
    *value = text;
    for (int i = 0; tokens[i] != NULL; i++)
        if (strncmp(tokens[i], text, length) == 0 && tokens[i][length] == 0) {
            found = i;
            *value = text[length] == '=' ? text + length + 1 : NULL;
            break;
        }
    if (*end != 0)
        *end++ = 0;
    *place = end;
    return found;
}
