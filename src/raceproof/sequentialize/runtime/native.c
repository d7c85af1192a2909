/* To execute this program, compile it with -DRACEPROOF_RUN:
     program values FILE      takes the nondeterministic values from FILE, in order, then zeros
     program seed N [COUNT]   takes random values, COUNT times, with the seeds N, N + 1, ...
     program follow FILE      follows a schedule and prints the values that describe it
   The exit code is 1 if the assertion fails (in one of the executions), else 0. */
#ifdef RACEPROOF_RUN
#define MOST 1000000

static enum { VALUES, RANDOM, FOLLOW } mode;
static jmp_buf over;
static uint64_t given[MOST], taken[MOST];
static unsigned given_count, given_next, taken_count;
static uint64_t generator;
static const char *reported[32][2];
static unsigned reported_count;
static unsigned char saved_memory[SIZE];
static unsigned char is_started[THREADS];

/* Of a schedule that is followed. The file holds the number of contexts and (thread, visible steps)
   of each; the racing context; the second thread; the number of threads and, of each thread, the
   number of its inputs and the inputs. */
static unsigned next_context, steps_left, last_switch;
static unsigned next_input[THREADS], inputs_end[THREADS];

static uint64_t draw(void)
{
    generator = generator * 6364136223846793005u + 1442695040888963407u;
    return (generator >> 32 ^ generator >> 11) & 0xffffffffu;
}

/* Where a random context ends: soon, anywhere, or where its thread must wait. */
static uint64_t drawn_switch(void)
{
    uint64_t kind = draw() % 100, soon = thread[running].pc + 1 + draw() % 6;
    if (kind < 50)
        return soon < choices ? soon : choices - 1;
    return kind < 75 ? draw() % choices : choices - 1;
}

/* Another thread that is alive, if there is one. */
static uint64_t drawn_second(void)
{
    unsigned start = (unsigned)(draw() % THREADS), i;
    for (i = 0; i < THREADS; ++i) {
        unsigned t = (start + i) % THREADS;
        if (t != running && thread[t].state == RUNNING)
            return t;
    }
    return start;
}

/* Inputs are mostly small. */
static uint64_t drawn_input(void)
{
    uint64_t kind = draw() % 100;
    if (kind < 40)
        return draw() % 2;
    if (kind < 65)
        return draw() % 7 - 1;
    if (kind < 95)
        return draw() % 100;
    return draw() << 32 | draw();
}

static uint64_t drawn(void)
{
    switch (asking) {
    case RACING:
        return draw() % choices;
    case SWITCH:
        return drawn_switch();
    case SECOND:
        return drawn_second();
    }
    return drawn_input();
}

static uint64_t followed(void)
{
    unsigned contexts = (unsigned)given[0];
    switch (asking) {
    case RACING:
        return given[2 * contexts + 1];
    case SECOND:
        return given[2 * contexts + 2];
    case SWITCH:
        steps_left = 0;
        if (next_context < contexts && given[2 * next_context + 1] == running) {
            steps_left = (unsigned)given[2 * next_context + 2];
            ++next_context;
        }
        last_switch = taken_count;
        return choices - 1;
    }
    return next_input[running] < inputs_end[running] ? given[next_input[running]++] : 0;
}

static uint64_t next_value(void)
{
    uint64_t value;
    if (mode == VALUES)
        value = given_next < given_count ? given[given_next++] : 0;
    else
        value = mode == RANDOM ? drawn() : followed();
    if (taken_count < MOST)
        taken[taken_count++] = value;
    return value;
}

static void native_stop(unsigned t, unsigned label, int is_visible)
{
    int counts = thread[t].pc == label || (is_visible && (alive > 1 || (t > 0 && !is_started[t])));
    if (is_visible)
        is_started[t] = 1;
    if (mode != FOLLOW || mark == 2 || !counts)
        return;
    if (steps_left > 0) {
        --steps_left;
    } else if (cs > label) {
        cs = label;
        taken[last_switch] = label;
    }
}

unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)next_value(); }
unsigned short __VERIFIER_nondet_ushort(void) { return (unsigned short)next_value(); }
unsigned __VERIFIER_nondet_uint(void) { return (unsigned)next_value(); }
unsigned long long __VERIFIER_nondet_ulonglong(void) { return next_value(); }
double __VERIFIER_nondet_double(void) { return (double)next_value(); }

long __VERIFIER_nondet_long(void)
{
    if (mode == FOLLOW)
        taken[taken_count++] = 0;
    return mode == FOLLOW ? 0 : (long)next_value();
}

void __VERIFIER_assume(int condition)
{
    if (!condition)
        longjmp(over, 1);
}

void reach_error(void)
{
    unsigned i = 0;
    while (i < reported_count && (reported[i][0] != place[1] || reported[i][1] != place[2]))
        ++i;
    if (i == reported_count && i < 32) {
        reported[i][0] = place[1];
        reported[i][1] = place[2];
        reported_count = i + 1;
        fprintf(stderr, "data race: %s and %s\n", place[1], place[2]);
    }
    longjmp(over, 2);
}

static int execute(void)
{
    int end;
    taken_count = given_next = next_context = 0;
    @RESET@
    end = setjmp(over);
    if (end == 0)
        explore();
    return end == 2;
}

static void read_values(const char *name)
{
    FILE *file = fopen(name, "r");
    unsigned long long value;
    if (file == NULL) {
        fprintf(stderr, "cannot read %s\n", name);
        exit(2);
    }
    while (given_count < MOST && fscanf(file, "%llu", &value) == 1)
        given[given_count++] = value;
    fclose(file);
}

static void read_schedule(void)
{
    unsigned at = 2 * (unsigned)given[0] + 4, count = (unsigned)given[at - 1], t;
    for (t = 0; t < THREADS && t < count; ++t) {
        next_input[t] = at + 1;
        at = at + 1 + (unsigned)given[at];
        inputs_end[t] = at;
    }
}

int main(int count, char **words)
{
    unsigned long failures = 0, executions = 1, i;
    if (count < 3) {
        fprintf(stderr, "usage: %s values FILE | seed N [COUNT] | follow FILE\n", words[0]);
        return 2;
    }
    @SAVE@
    if (words[1][0] == 's') {
        mode = RANDOM;
        executions = count > 3 ? strtoul(words[3], NULL, 10) : 1;
        for (i = 0; i < executions; ++i) {
            generator = (strtoul(words[2], NULL, 10) + i) * 0x9e3779b97f4a7c15u;
            (void)draw();
            failures += (unsigned long)execute();
        }
        printf("%lu of %lu executions fail\n", failures, executions);
        return failures > 0;
    }
    read_values(words[2]);
    if (words[1][0] == 'f') {
        mode = FOLLOW;
        read_schedule();
        failures = (unsigned long)execute();
        for (i = 0; i < taken_count; ++i)
            printf("%llu\n", (unsigned long long)taken[i]);
        return failures > 0;
    }
    return execute();
}
#else
int main(void)
{
    explore();
    return 0;
}
#endif
