"""What the printed program computes: each program checks itself, and races only if all is right."""

from pathlib import Path

import pytest

from raceproof.options import DataModel
from raceproof.sequentialize import Bounds, sequentialize
from tests.sequentialize.native import build, load, models

FRAME = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
int shared;
static void *worker(void *p) { shared++; return p; }
%s
int main(void) {
    pthread_t t;
    if (!check()) return 1;
    pthread_create(&t, 0, worker, 0);
    shared++;
    pthread_join(t, 0);
    return 0;
}
"""

CHECKS = {
    "narrow integers": """
        static volatile unsigned char c = 250; static volatile signed char s = -7;
        static volatile unsigned short h = 65535; static volatile short n = -32768;
        static int check(void) {
            unsigned char d = c + 10; signed char e = s / 2; unsigned short g = h * h;
            short m = n >> 3; int w = s * n;
            return d == 4 && e == -3 && g == 1 && m == -4096 && w == 229376 && (s % 4) == -3;
        }""",
    "wide integers": """
        static volatile int a = -17, b = 5; static volatile long long q = -9000000000ll;
        static volatile unsigned u = 0x80000001u; static volatile int k = 31;
        static int check(void) {
            return a / b == -3 && a % b == -2 && q / a == 529411764 && q >> 4 == -562500000ll
                && u >> k == 1 && (u << 1) == 2 && (int)u < 0 && u > 5 && (uint64_t)u * u
                == 0x4000000100000001ull && (q < 0) && (unsigned long long)q > 5;
        }""",
    "overflow builtins": """
        static volatile int big = 2147483647; static volatile unsigned ub = 4294967295u;
        static volatile long long huge = 9223372036854775807ll;
        static int check(void) {
            int r; unsigned v; long long w;
            return __builtin_add_overflow(big, 1, &r) && r == -big - 1
                && !__builtin_add_overflow(big, -1, &r) && __builtin_mul_overflow(big, 2, &r)
                && __builtin_add_overflow(ub, 1u, &v) && v == 0
                && !__builtin_sub_overflow(ub, 1u, &v)
                && __builtin_mul_overflow(huge, huge, &w) && __builtin_sub_overflow(-huge, 2ll, &w)
                && __builtin_popcount(ub) == 32 && __builtin_clz(big) == 1 && __builtin_ctz(8) == 3
                && __builtin_bswap32(0x01020304) == 0x04030201;
        }""",
    "floating point": """
        static volatile double d = 2.5; static volatile float f = 0.1f; static volatile int i = -3;
        static int check(void) {
            union { double d; uint64_t u; } x; x.d = d;
            return d * 4 == 10.0 && (int)(d * i) == -7 && f > 0.09f && f != 0.1 && x.u
                == 0x4004000000000000ull && (float)i == -3.0f && -d < 0 && !(d != d);
        }""",
    "bit-fields and unions": """
        static struct { unsigned a : 3; int b : 5; unsigned c : 8; } s;
        static union { uint32_t w; unsigned char b[4]; } u;
        static int check(void) {
            s.a = 9; s.b = -4; s.c = 200; u.w = 0x11223344;
            return s.a == 1 && s.b == -4 && s.c == 200 && u.b[0] == 0x44 && u.b[3] == 0x11;
        }""",
    "structs by value": """
        struct small { int x, y; }; struct large { int v[20]; };
        static struct small swap(struct small s) { struct small r = {s.y, s.x}; return r; }
        static int sum(struct large l) { int t = 0; for (int i = 0; i < 20; i++) t += l.v[i];
            l.v[0] = 99; return t; }
        static int check(void) {
            struct large l; struct small s = {1, 2};
            for (int i = 0; i < 20; i++) l.v[i] = i;
            s = swap(s);
            return s.x == 2 && s.y == 1 && sum(l) == 190 && l.v[0] == 0;
        }""",
    "variable arguments": """
        static int add(int n, ...) {
            va_list list, again; int t = 0; va_start(list, n); va_copy(again, list);
            for (int i = 0; i < n; i++) t += va_arg(list, int);
            t += (int)va_arg(list, double); t += va_arg(again, int);
            va_end(again); va_end(list); return t;
        }
        static int check(void) { return add(3, 1, 2, 3, 4.5) == 11; }""",
    "pointers": """
        static int grid[3][4]; static int *row = grid[1];
        static int twice(int x) { return 2 * x; } static int thrice(int x) { return 3 * x; }
        static int (*table[])(int) = {twice, thrice};
        static int check(void) {
            int *p = &grid[2][3]; char *c = (char *)grid;
            row[2] = 5; *p = 7;
            return grid[1][2] == 5 && p - row == 7 && *(int *)(c + 44) == 7 && table[1](7) == 21
                && table[0](4) == 8 && (uintptr_t)p > (uintptr_t)row;
        }""",
    "control flow": """
        static int kind(int x) { switch (x) { case 1: return 10; case 5: case 6: return 20;
            case -1: return 30; default: return 0; } }
        static int walk(int n) {
            static void *steps[] = {&&one, &&two}; int t = 0;
            goto *steps[n]; one: t += 1; two: t += 2; return t;
        }
        static int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
        static int check(void) {
            int t = 0;
            for (int i = 0; i < 5; i++) {
                if (i == 3) continue;
                for (int k = i; k > 0; k--) t += k;
            }
            return kind(1) == 10 && kind(6) == 20 && kind(-1) == 30 && kind(7) == 0 && walk(0) == 3
                && walk(1) == 2 && fact(3) == 6 && t == 14;
        }""",
    "the library": """
        static char text[20] = "race";
        static int check(void) {
            char copy[20]; int *p = malloc(8), *z = calloc(2, 4);
            strcpy(copy, text); strcat(copy, "proof"); p[0] = 3; p[1] = 4;
            p = realloc(p, 40); memset(p + 2, 255, 8); memmove(copy + 1, copy, 4);
            int right = strlen(text) == 4 && strcmp(copy, "rraceroof") == 0
                && memcmp(copy, "rrace", 5) == 0 && strncmp(text, "rat", 2) == 0
                && strchr(text, 'c') == text + 2 && p[1] == 4
                && p[3] == -1 && z[1] == 0 && atoi("  -42x") == -42 && abs(-5) == 5;
            free(p); free(z); return right;
        }""",
    "more of the library": """
        static char text[24] = "a race is a race";
        static int check(void) {
            char copy[24]; char *end = stpcpy(copy, "ab");
            strncat(copy, "cdef", 2); bzero(text + 14, 2);
            return strrchr(text, 'r') == text + 12 && strstr(text, "race") == text + 2
                && !strstr(text, "xyz") && end == copy + 2 && strcmp(copy, "abcd") == 0
                && strlen(text) == 14 && strnlen(text, 3) == 3 && !memchr(copy, 'z', 4);
        }""",
    "arrays of variable length": """
        static volatile int n = 5;
        static int check(void) {
            int a[n]; int t = 0;
            for (int i = 0; i < 5; i++) a[i] = i * i;
            for (int i = 0; i < 5; i++) t += a[i];
            return t == 30;
        }""",
    "atomic operations": """
        #include <stdatomic.h>
        static _Atomic int a = 5; static atomic_flag flag;
        static int check(void) {
            int e = 4; int first = atomic_compare_exchange_strong(&a, &e, 9); int seen = e;
            int second = atomic_compare_exchange_strong(&a, &e, 9);
            int old = __atomic_fetch_nand((int *)&a, 8, 5), top = atomic_exchange(&a, 3);
            return !first && seen == 5 && second && old == 9 && top == ~8
                && !atomic_flag_test_and_set(&flag) && atomic_flag_test_and_set(&flag) && a == 3;
        }""",
    "a loop without visible statements": """
        static int check(void) {
            unsigned x = 12345; for (int i = 0; i < 1000; i++) x = x * 1103515245u + 12345u;
            unsigned y = 12345; int k = 0; while (k < 1000) { y = y * 1103515245u + 12345u; k++; }
            return x == y;
        }""",
}


@pytest.mark.parametrize("data_model", list(DataModel))
@pytest.mark.parametrize("name", CHECKS)
def test_computes_as_c_does(name: str, data_model: DataModel, tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(FRAME % CHECKS[name])
    text = sequentialize(load(source, data_model), models(), Bounds(unwind=6, threads=1))
    answer = build(text, tmp_path).run("seed", "1", "300")
    assert answer.returncode == 1, "main found something wrong, or left the bounds"


def test_a_wrong_result_would_be_seen(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(FRAME % "static int check(void) { return 2 + 2 == 5; }")
    text = sequentialize(load(source), models(), Bounds(threads=1))
    assert build(text, tmp_path).run("seed", "1", "300").returncode == 0
