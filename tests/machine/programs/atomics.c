// Atomic operations: C11, __atomic, __sync; every width; results before and after.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

static _Atomic int counter = 10;
static atomic_ullong wide;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic(int *) place;
static int plain = 3;
static uint8_t byte = 250;
static uint16_t half = 65530;
static uint64_t word = 0xffffffffffull;

int main(void) {
    printf("%d ", atomic_fetch_add(&counter, 5));
    printf("%d ", atomic_fetch_sub(&counter, 3));
    printf("%d ", atomic_exchange(&counter, 77));
    printf("%d ", atomic_load(&counter));
    counter += 3;
    counter++;
    --counter;
    counter *= 2;
    printf("%d\n", counter);
    int expected = 1;
    int done = atomic_compare_exchange_strong(&counter, &expected, 5);
    printf("%d %d ", done, expected);
    done = atomic_compare_exchange_strong(&counter, &expected, 5);
    printf("%d %d %d\n", done, expected, atomic_load_explicit(&counter, memory_order_acquire));
    atomic_store(&wide, 1ull << 40);
    atomic_fetch_or(&wide, 0xf0);
    atomic_fetch_and(&wide, ~0x30ull);
    atomic_fetch_xor(&wide, 0xff);
    printf("%llu\n", (unsigned long long)wide);
    printf("%d %d ", atomic_flag_test_and_set(&flag), atomic_flag_test_and_set(&flag));
    atomic_flag_clear(&flag);
    printf("%d\n", atomic_flag_test_and_set(&flag));
    atomic_store(&place, &plain);
    *atomic_load(&place) += 4;
    printf("%d\n", plain);
    printf("%d %d ", __sync_fetch_and_add(&plain, 2), __sync_add_and_fetch(&plain, 2));
    printf("%d %d ", __sync_bool_compare_and_swap(&plain, 11, 20), __sync_val_compare_and_swap(&plain, 20, 30));
    printf("%d %d\n", __sync_lock_test_and_set(&plain, 1), plain);
    __sync_lock_release(&plain);
    __sync_synchronize();
    printf("%d ", plain);
    printf("%u %u ", __atomic_add_fetch(&byte, 10, __ATOMIC_SEQ_CST), byte);
    printf("%u %u ", __atomic_fetch_add(&half, 10, __ATOMIC_RELAXED), half);
    printf("%llu\n", (unsigned long long)__atomic_sub_fetch(&word, 1ull << 39, __ATOMIC_SEQ_CST));
    uint8_t seen = 9;
    printf("%d %u\n", __atomic_compare_exchange_n(&byte, &seen, 1, 0, 5, 5), seen);
    int out, in = 42;
    __atomic_store(&plain, &in, __ATOMIC_SEQ_CST);
    __atomic_load(&plain, &out, __ATOMIC_SEQ_CST);
    printf("%d %d %d\n", out, __atomic_fetch_nand(&plain, 10, 5), plain);
    atomic_thread_fence(memory_order_seq_cst);
    return counter;
}
