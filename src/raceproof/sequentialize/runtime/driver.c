//: explore
/* The simulation: ROUNDS rounds, in each one context of every thread, in the order of creation.
   At the end of one guessed context the race monitor looks at what its thread is about to do
   (phase 1), and then at what one other thread is about to do (phase 2). */
static void explore(void)
{
    unsigned racing, second, round, t;
    initialise();
    racing = choose(RACING, ROUNDS * THREADS);
    for (round = 0; round < ROUNDS; ++round) {
        for (t = 0; t < THREADS; ++t) {
            if (thread[t].state != RUNNING)
                continue;
            mark = round * THREADS + t == racing;
            running = t;
            cs = choose(SWITCH, LABELS);
            run(t);
            if (!mark)
                continue;
            must(thread[t].state == RUNNING);
            second = choose(SECOND, THREADS);
            must(second != t && thread[second].state == RUNNING);
            mark = 2;
            running = second;
            cs = 0;
            run(second);
            __VERIFIER_assert(!raced); /* fails: a data race */
            return;
        }
    }
}
