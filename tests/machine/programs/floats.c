// Floating point: three widths, conversions, special values, comparisons, the usual functions.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static double horner(const double *c, int n, double x) {
    double y = 0;
    while (n--)
        y = y * x + c[n];
    return y;
}

static float mean(const float *v, int n) {
    float s = 0;
    for (int i = 0; i < n; i++)
        s += v[i];
    return s / (float)n;
}

int main(void) {
    volatile float f = 1.1f, g = 3.0f;
    volatile double d = 1.1, e = 3.0;
    volatile long double l = 1.5L, k = 4.0L;
    printf("%.9g %.9g %.9g %.9g %.9g\n", f + g, f - g, f * g, f / g, -f);
    printf("%.17g %.17g %.17g %.17g %.17g\n", d + e, d - e, d * e, d / e, fmod(d * 7, e));
    printf("%.10Lf %.10Lf %.10Lf %.10Lf\n", l + k, l - k, l * k, l / k);
    printf("%d %d %u %lld %llu\n", (int)-2.9, (int)2.9f, (unsigned)3e9, (long long)-1e15,
           (unsigned long long)1e19);
    printf("%f %f %f %f\n", (double)-7, (double)4000000000u, (float)16777217,
           (double)0xffffffffffffffffull);
    printf("%d %d\n", (signed char)-100.5, (short)1234.9);
    volatile double zero = 0, one = 1;
    double inf = one / zero, nan = zero / zero;
    printf("%f %f %d %d %d\n", inf, -inf, nan != nan, isinf(inf) != 0, isnan(nan) != 0);
    printf("%d %d %d %d %d %d\n", nan < 1, nan > 1, nan == nan, 1 < inf, d < e, f > g);
    printf("%d %d %d\n", isless(nan, 1), isunordered(nan, 1), !(nan >= 1));
    printf("%g %g %g %g\n", -0.0, 1e300 * 10, 5e-324, (double)(float)1e-40);
    uint64_t bits;
    memcpy(&bits, (double *)&d, 8);
    printf("%016llx\n", (unsigned long long)bits);
    uint32_t half;
    float copy = f;
    memcpy(&half, &copy, 4);
    printf("%08x\n", half);
    double c[] = {1, -2, 0.5, 3};
    printf("%.12f\n", horner(c, 4, 1.25));
    float v[] = {0.1f, 0.2f, 0.3f, 1e8f};
    printf("%.6f\n", mean(v, 4));
    printf("%.10f %.10f %.1f %.1f %.1f\n", sqrt(2), fabs(-2.5), floor(-2.5), ceil(-2.5),
           trunc(-2.7));
    printf("%.10f %.10f %.10f %.10f\n", pow(2, 0.5), exp(1), log(10), sin(1) + cos(1));
    printf("%.4f %.4f %.4f\n", fmax(2, 3), fmin(2, 3), copysign(3, -0.0));
    printf("%.1f %.1f %.1f %.1f\n", round(2.5), round(-2.5), rint(2.5), hypot(3, 4));
    double sum = 0;
    for (int i = 1; i <= 1000; i++)
        sum += 1.0 / i;
    float single = 0;
    for (int i = 1; i <= 1000; i++)
        single += 1.0f / i;
    printf("%.15f %.7f\n", sum, single);
    int exponent;
    double fraction = frexp(12.5, &exponent);
    printf("%g %d %g\n", fraction, exponent, ldexp(0.75, 4));
    return (int)sum;
}
