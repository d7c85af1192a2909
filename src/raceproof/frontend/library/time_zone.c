// timezone, daylight, tzname: functions of <time.h> set them.
// when: timezone daylight tzname __timezone __daylight __tzname

static char raceproof_time_zones[2][8] = { "UTC", "UTC" };

__attribute__((weak)) long timezone;
__attribute__((weak)) int daylight;
__attribute__((weak)) char *tzname[2] = { raceproof_time_zones[0], raceproof_time_zones[1] };
__attribute__((weak)) long __timezone;
__attribute__((weak)) int __daylight;
__attribute__((weak)) char *__tzname[2] = { raceproof_time_zones[0], raceproof_time_zones[1] };

LIBRARY void raceproof_use_time_zone(void)
{
    if (raceproof_unspecified()) {
        GUARDED_WRITE(timezone, raceproof_input());
        GUARDED_WRITE(daylight, raceproof_input());
        GUARDED_WRITE(tzname[0], raceproof_time_zones[0]);
        GUARDED_WRITE(tzname[1], raceproof_time_zones[1]);
        GUARDED_WRITE(__timezone, raceproof_input());
        GUARDED_WRITE(__daylight, raceproof_input());
        GUARDED_WRITE(__tzname[0], raceproof_time_zones[0]);
        GUARDED_WRITE(__tzname[1], raceproof_time_zones[1]);
    }
}
