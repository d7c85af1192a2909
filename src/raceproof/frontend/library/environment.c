// The environment of the process: what putenv keeps, getenv hands out. Not guarded: its first
// member stands for all of it, so that one race is told once.
// What the process was started with is not known: a name that the program did not set may have
// any value.
// when: setenv unsetenv putenv clearenv environ __environ
// define: ENVIRON if environ
// define: UNDERSCORED if __environ

struct variable {
    struct variable *next;
    char *string; // "NAME=value"
};

static struct variable *raceproof_environment;
static char raceproof_initial_environment[4096];

#ifdef ENVIRON
extern char **environ;
#endif
#ifdef UNDERSCORED
extern char **__environ;
#endif

static inline __attribute__((always_inline)) void changed(void)
{
#ifdef ENVIRON
    environ = environ;
#endif
#ifdef UNDERSCORED
    __environ = __environ;
#endif
}

static inline __attribute__((always_inline)) struct variable *find(const char *name, size_t length)
{
    struct variable *v = raceproof_environment;
    while (v != NULL) {
        char *string = GUARDED_READ(v->string);
        if (strncmp(string, name, length) == 0 && string[length] == '=')
            return v;
        v = GUARDED_READ(v->next);
    }
    return NULL;
}

static inline __attribute__((always_inline)) char *initial(const char *name)
{
    if (raceproof_input())
        return NULL;
    // Two pointers into it may be the same or not; what stands there is up to the caller of main.
    char *value = raceproof_initial_environment;
    raceproof_may_write(value);
    return value;
}

static inline __attribute__((always_inline)) void put(char *string, size_t length)
{
    struct variable *v = find(string, length);
    if (v == NULL) {
        v = malloc(sizeof *v);
        GUARDED_WRITE(v->next, raceproof_environment);
        GUARDED_WRITE(v->string, string);
        raceproof_environment = v;
    } else {
        raceproof_environment = raceproof_environment;
        GUARDED_WRITE(v->string, string);
    }
    changed();
}

LIBRARY char *getenv(const char *name)
{
    size_t length = strlen(name);
    struct variable *v = find(name, length);
    if (v != NULL)
        return GUARDED_READ(v->string) + length + 1;
    return initial(name);
}

LIBRARY char *secure_getenv(const char *name)
{
    size_t length = strlen(name);
    struct variable *v = find(name, length);
    if (raceproof_input())
        return NULL;
    if (v != NULL)
        return GUARDED_READ(v->string) + length + 1;
    return initial(name);
}

LIBRARY int putenv(char *string)
{
    size_t length = strcspn(string, "=");
    put(string, length);
    return 0;
}

LIBRARY int setenv(const char *name, const char *value, int overwrite)
{
    size_t length = strlen(name);
    if (length == 0 || name[strcspn(name, "=")] == '=')
        return -1;
    if (!overwrite && (find(name, length) != NULL || raceproof_input()))
        return 0;
    size_t rest = strlen(value);
    char *string = malloc(length + rest + 2);
    memcpy(string, name, length);
    string[length] = '=';
    memcpy(string + length + 1, value, rest + 1);
    put(string, length);
    return 0;
}

LIBRARY int unsetenv(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || name[strcspn(name, "=")] == '=')
        return -1;
    struct variable *v = raceproof_environment, *before = NULL;
    while (v != NULL) {
        char *string = GUARDED_READ(v->string);
        struct variable *next = GUARDED_READ(v->next);
        if (strncmp(string, name, length) != 0 || string[length] != '=')
            before = v;
        else if (before == NULL)
            raceproof_environment = next;
        else
            GUARDED_WRITE(before->next, next);
        v = next;
    }
    raceproof_environment = raceproof_environment;
    changed();
    return 0;
}

LIBRARY int clearenv(void)
{
    raceproof_environment = NULL;
    changed();
    return 0;
}
