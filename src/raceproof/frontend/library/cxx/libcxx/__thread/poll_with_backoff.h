// Waiting for an atomic to change, for the analysis: reading it again and again, without a clock.
#ifndef RACEPROOF_POLL_WITH_BACKOFF
#define RACEPROOF_POLL_WITH_BACKOFF
#include <__chrono/duration.h>
#include <__chrono/high_resolution_clock.h>
#include <__config>

_LIBCPP_BEGIN_NAMESPACE_STD

enum class __backoff_results : unsigned char {
    __continue_poll = 1,
    __poll_success = 2,
    __timeout = 3,
    __backoff_failure = 4,
};

enum class __poll_with_backoff_results : unsigned char {
    __poll_success = 2,
    __timeout = 3,
    __backoff_failure = 4,
};

extern "C" int raceproof_input(void);

template <class _Poll, class _Backoff>
_LIBCPP_HIDE_FROM_ABI __poll_with_backoff_results __libcpp_thread_poll_with_backoff(
    _Poll &&__poll, _Backoff &&, chrono::nanoseconds __max_elapsed = chrono::nanoseconds::zero())
{
    while (!__poll()) {
        if (__max_elapsed != chrono::nanoseconds::zero() && raceproof_input())
            return __poll_with_backoff_results::__timeout;
    }
    return __poll_with_backoff_results::__poll_success;
}

struct __spinning_backoff_policy {
    _LIBCPP_HIDE_FROM_ABI constexpr __backoff_results operator()(const chrono::nanoseconds &) const
    {
        return __backoff_results::__continue_poll;
    }
};

_LIBCPP_END_NAMESPACE_STD

#endif
