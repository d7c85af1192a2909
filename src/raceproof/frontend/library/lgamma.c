// lgamma writes signgam, an object of the library for all threads.
// when: lgamma lgammaf lgammal gamma gammaf gammal signgam

__attribute__((weak)) int signgam;

double lgamma_r(double, int *);
float lgammaf_r(float, int *);
long double lgammal_r(long double, int *);

LIBRARY double lgamma(double x)
{
    return lgamma_r(x, &signgam);
}

LIBRARY float lgammaf(float x)
{
    return lgammaf_r(x, &signgam);
}

LIBRARY long double lgammal(long double x)
{
    return lgammal_r(x, &signgam);
}

LIBRARY double gamma(double x)
{
    return lgamma_r(x, &signgam);
}

LIBRARY float gammaf(float x)
{
    return lgammaf_r(x, &signgam);
}

LIBRARY long double gammal(long double x)
{
    return lgammal_r(x, &signgam);
}
