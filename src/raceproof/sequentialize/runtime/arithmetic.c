//: sign
/* The signed value of a number of so many bits. */
static int64_t sign(uint64_t value, unsigned bits)
{
    uint64_t half = (uint64_t)1 << (bits - 1);
    return (int64_t)((value ^ half) - half);
}

//: udiv
static uint64_t udiv(uint64_t a, uint64_t b)
{
    must(b != 0);
    return a / b;
}

//: urem
static uint64_t urem(uint64_t a, uint64_t b)
{
    must(b != 0);
    return a % b;
}

//: sdiv
static uint64_t sdiv(uint64_t a, uint64_t b, unsigned bits)
{
    must(b != 0);
    must(sign(b, bits) != -1 || a != (uint64_t)1 << (bits - 1));
    if (sign(b, bits) == -1)
        return 0 - a;
    return (uint64_t)(sign(a, bits) / sign(b, bits));
}

//: srem
static uint64_t srem(uint64_t a, uint64_t b, unsigned bits)
{
    must(b != 0);
    must(sign(b, bits) != -1 || a != (uint64_t)1 << (bits - 1));
    if (sign(b, bits) == -1)
        return 0;
    return (uint64_t)(sign(a, bits) % sign(b, bits));
}

//: shl
static uint64_t shl(uint64_t a, uint64_t amount, unsigned bits)
{
    must(amount < bits);
    return a << amount;
}

//: lshr
static uint64_t lshr(uint64_t a, uint64_t amount, unsigned bits)
{
    must(amount < bits);
    return a >> amount;
}

//: ashr
static uint64_t ashr(uint64_t a, uint64_t amount, unsigned bits)
{
    must(amount < bits);
    if (sign(a, bits) < 0)
        return ~(~(uint64_t)sign(a, bits) >> amount);
    return a >> amount;
}

//: ctpop
static uint64_t ctpop(uint64_t a)
{
    uint64_t count = 0;
    for (; a != 0; a &= a - 1)
        ++count;
    return count;
}

//: ctlz
static uint64_t ctlz(uint64_t a, unsigned bits, int zero_is_undefined)
{
    uint64_t count = bits;
    must(a != 0 || !zero_is_undefined);
    for (; a != 0; a >>= 1)
        --count;
    return count;
}

//: cttz
static uint64_t cttz(uint64_t a, unsigned bits, int zero_is_undefined)
{
    uint64_t count = 0;
    must(a != 0 || !zero_is_undefined);
    if (a == 0)
        return bits;
    for (; !(a & 1); a >>= 1)
        ++count;
    return count;
}

//: bswap
static uint64_t bswap(uint64_t a, unsigned bits)
{
    uint64_t result = 0;
    unsigned i;
    for (i = 0; i < bits; i += 8)
        result = result << 8 | (a >> i & 255);
    return result;
}

//: sadd_overflows
static int sadd_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t sum = a + b;
    return (int)(((a ^ sum) & (b ^ sum)) >> (bits - 1) & 1);
}

//: ssub_overflows
static int ssub_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t difference = a - b;
    return (int)(((a ^ b) & (a ^ difference)) >> (bits - 1) & 1);
}

//: smul_overflows
static int smul_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    int64_t x = sign(a, bits), y = sign(b, bits);
    uint64_t limit = (uint64_t)1 << (bits - 1);
    uint64_t m = x < 0 ? 0 - (uint64_t)x : (uint64_t)x, n = y < 0 ? 0 - (uint64_t)y : (uint64_t)y;
    if ((x < 0) == (y < 0))
        limit = limit - 1;
    return m != 0 && n > limit / m;
}

//: uadd_overflows
static int uadd_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    return b > (~(uint64_t)0 >> (64 - bits)) - a;
}

//: usub_overflows
static int usub_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    (void)bits;
    return a < b;
}

//: umul_overflows
static int umul_overflows(uint64_t a, uint64_t b, unsigned bits)
{
    return a != 0 && b > (~(uint64_t)0 >> (64 - bits)) / a;
}

//: to_integer
/* Rounded towards zero; the number has to fit. */
static uint64_t to_integer(double value, unsigned bits, int is_signed)
{
    double limit = (double)((uint64_t)1 << (bits - 1)), low = is_signed ? -limit : 0;
    must(value >= low || (value > low - 1 && low - 1 != low));
    must(value < (is_signed ? limit : 2 * limit));
    return value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
}

//: bitreverse
static uint64_t bitreverse(uint64_t a, unsigned bits)
{
    uint64_t result = 0;
    unsigned i;
    for (i = 0; i < bits; ++i)
        result = result << 1 | (a >> i & 1);
    return result;
}

//: fshl
static uint64_t fshl(uint64_t a, uint64_t b, uint64_t amount, unsigned bits)
{
    amount %= bits;
    return amount == 0 ? a : a << amount | b >> (bits - amount);
}

//: fshr
static uint64_t fshr(uint64_t a, uint64_t b, uint64_t amount, unsigned bits)
{
    amount %= bits;
    return amount == 0 ? b : a << (bits - amount) | b >> amount;
}

//: uadd_sat
static uint64_t uadd_sat(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t most = ~(uint64_t)0 >> (64 - bits);
    return b > most - a ? most : a + b;
}

//: usub_sat
static uint64_t usub_sat(uint64_t a, uint64_t b, unsigned bits)
{
    (void)bits;
    return a < b ? 0 : a - b;
}

//: sadd_sat
static uint64_t sadd_sat(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t sum = a + b, half = (uint64_t)1 << (bits - 1);
    if ((((a ^ sum) & (b ^ sum)) >> (bits - 1) & 1) == 0)
        return sum;
    return sign(a, bits) < 0 ? half : half - 1;
}

//: ssub_sat
static uint64_t ssub_sat(uint64_t a, uint64_t b, unsigned bits)
{
    uint64_t difference = a - b, half = (uint64_t)1 << (bits - 1);
    if ((((a ^ b) & (a ^ difference)) >> (bits - 1) & 1) == 0)
        return difference;
    return sign(a, bits) < 0 ? half : half - 1;
}
