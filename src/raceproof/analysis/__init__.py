"""Facts about a program: values, threads, locks, what may happen in parallel, accesses."""
