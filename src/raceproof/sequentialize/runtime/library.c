//: string_size
/* Bytes of a string with its final zero, but never more than `limit` characters. */
static uint64_t string_size(address text, uint64_t limit, unsigned width)
{
    uint64_t count = 0;
    while (count < limit && is_alive(text, (count + 1) * width)) {
        unsigned i;
        int is_zero = 1;
        for (i = 0; i < width; ++i)
            if (memory[text + count * width + i])
                is_zero = 0;
        ++count;
        if (is_zero)
            break;
    }
    return count * width;
}

//: string_length
static uint64_t string_length(address text)
{
    uint64_t length = 0;
    must(is_alive(text, 1));
    while (memory[text + length]) {
        ++length;
        must(is_alive(text, length + 1));
    }
    return length;
}

//: library_memcpy
static address library_memcpy(address target, address source, uint64_t size)
{
    copy(target, source, size);
    return target;
}

//: library_memset
static address library_memset(address target, uint64_t byte, uint64_t size)
{
    fill(target, (unsigned)byte & 255u, size);
    return target;
}

//: library_memcmp
static uint32_t library_memcmp(address a, address b, uint64_t size)
{
    uint64_t i;
    must(is_alive(a, size) && is_alive(b, size));
    for (i = 0; i < size; ++i)
        if (memory[a + i] != memory[b + i])
            return memory[a + i] < memory[b + i] ? 0xffffffffu : 1u;
    return 0;
}

//: library_strncmp
static uint32_t library_strncmp(address a, address b, uint64_t limit)
{
    uint64_t i;
    for (i = 0; i < limit; ++i) {
        must(is_alive(a, i + 1) && is_alive(b, i + 1));
        if (memory[a + i] != memory[b + i])
            return memory[a + i] < memory[b + i] ? 0xffffffffu : 1u;
        if (!memory[a + i])
            break;
    }
    return 0;
}

//: library_strcmp
static uint32_t library_strcmp(address a, address b)
{
    return library_strncmp(a, b, SIZE);
}

//: library_strlen
static uint64_t library_strlen(address text)
{
    return string_length(text);
}

//: library_strnlen
static uint64_t library_strnlen(address text, uint64_t limit)
{
    uint64_t length = 0;
    while (length < limit && is_alive(text, length + 1) && memory[text + length])
        ++length;
    return length;
}

//: library_strcpy
static address library_strcpy(address target, address source)
{
    copy(target, source, string_length(source) + 1);
    return target;
}

//: library_strncpy
static address library_strncpy(address target, address source, uint64_t size)
{
    uint64_t length = 0;
    while (length < size && is_alive(source, length + 1) && memory[source + length])
        ++length;
    copy(target, source, length);
    fill((address)(target + length), 0, size - length);
    return target;
}

//: library_strcat
static address library_strcat(address target, address source)
{
    copy((address)(target + string_length(target)), source, string_length(source) + 1);
    return target;
}

//: library_strchr
static address library_strchr(address text, uint64_t byte)
{
    uint64_t i, length = string_length(text);
    for (i = 0; i <= length; ++i)
        if (memory[text + i] == (byte & 255))
            return (address)(text + i);
    return 0;
}

//: library_strrchr
static address library_strrchr(address text, uint64_t byte)
{
    uint64_t i;
    for (i = string_length(text) + 1; i-- > 0;)
        if (memory[text + i] == (byte & 255))
            return (address)(text + i);
    return 0;
}

//: library_strstr
static address library_strstr(address text, address wanted)
{
    uint64_t i, k, length = string_length(text), size = string_length(wanted);
    for (i = 0; i + size <= length; ++i) {
        for (k = 0; k < size && memory[text + i + k] == memory[wanted + k]; ++k)
            ;
        if (k == size)
            return (address)(text + i);
    }
    return 0;
}

//: library_strncat
static address library_strncat(address target, address source, uint64_t limit)
{
    address end = (address)(target + string_length(target));
    uint64_t length = library_strnlen(source, limit);
    copy(end, source, length);
    put((address)(end + length), 0, 1);
    return target;
}

//: library_stpcpy
static address library_stpcpy(address target, address source)
{
    copy(target, source, string_length(source) + 1);
    return (address)(target + string_length(source));
}

//: library_mempcpy
static address library_mempcpy(address target, address source, uint64_t size)
{
    copy(target, source, size);
    return (address)(target + size);
}

//: library_bzero
static uint32_t library_bzero(address target, uint64_t size)
{
    fill(target, 0, size);
    return 0;
}

//: library_memchr
static address library_memchr(address text, uint64_t byte, uint64_t size)
{
    uint64_t i;
    must(is_alive(text, size));
    for (i = 0; i < size; ++i)
        if (memory[text + i] == (byte & 255))
            return (address)(text + i);
    return 0;
}

//: library_atoi
static uint64_t library_atoi(address text)
{
    uint64_t value = 0;
    int is_negative = 0;
    (void)string_length(text);
    while (memory[text] == ' ' || (memory[text] >= 9 && memory[text] <= 13))
        ++text;
    if (memory[text] == '-' || memory[text] == '+')
        is_negative = memory[text++] == '-';
    while (memory[text] >= '0' && memory[text] <= '9')
        value = value * 10 + (memory[text++] - (uint64_t)'0');
    return is_negative ? 0 - value : value;
}

//: library_abs
static uint32_t library_abs(uint64_t value)
{
    return (uint32_t)(value >> 31 & 1 ? 0 - value : value);
}

//: library_isdigit
static uint32_t library_isdigit(uint64_t c)
{
    return c >= 48 && c <= 57;
}

//: library_isspace
static uint32_t library_isspace(uint64_t c)
{
    return c == 32 || (c >= 9 && c <= 13);
}

//: library_toupper
static uint32_t library_toupper(uint64_t c)
{
    return (uint32_t)(c >= 97 && c <= 122 ? c - 32 : c);
}

//: library_tolower
static uint32_t library_tolower(uint64_t c)
{
    return (uint32_t)(c >= 65 && c <= 90 ? c + 32 : c);
}
