// The cases, in one group for each file.

#pragma once

#include <stddef.h>

struct test_case {
    const char* name;
    void (*run)(void);
};

struct case_group {
    const struct test_case* cases;
    size_t count;
};

#define CASE(function) \
    { #function, function }

#define GROUP(cases) \
    { cases, sizeof cases / sizeof *cases }

extern const struct case_group connection_cases;
extern const struct case_group exchange_cases;
extern const struct case_group queue_cases;
extern const struct case_group publisher_cases;
extern const struct case_group message_cases;
extern const struct case_group consumer_cases;
extern const struct case_group dead_letter_cases;
