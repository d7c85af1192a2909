// libstdc++'s std::call_once hands this function to pthread_once, and what to call to it by a
// variable of the thread.
// when: __once_proxy

extern __thread void *_ZSt15__once_callable __attribute__((weak));
__thread void (*_ZSt11__once_call)(void) __attribute__((weak));

LIBRARY void __once_proxy(void)
{
    _ZSt11__once_call();
}
