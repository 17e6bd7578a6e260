// AMQP 0-9-1 cases, written as users of rabbitmq-c write them. Usage: cases HOST PORT

#include "cases.h"

#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

static const struct case_group* const groups[] = {
    &connection_cases, &exchange_cases, &queue_cases,       &publisher_cases,
    &message_cases,    &consumer_cases, &dead_letter_cases,
};
static const size_t group_count = sizeof groups / sizeof *groups;

static bool run_case(void (*run)(void)) {
    if (setjmp(case_failed) != 0) return false;
    connection = connect_to_broker();
    open_channel(1);
    run();
    disconnect(connection);
    clean_up();
    return true;
}

static void clean_up_after_failure(void) {
    // The connection is in an unknown state; closing its socket ends it for the broker too.
    amqp_destroy_connection(connection);
    if (setjmp(case_failed) == 0) clean_up();
}

static bool run_group(const struct case_group* group) {
    bool passed = true;
    for (size_t index = 0; index < group->count; index++) {
        const struct test_case* test = &group->cases[index];
        if (run_case(test->run)) {
            printf("ok %s\n", test->name);
            continue;
        }
        printf("not ok %s: %s\n", test->name, failure);
        passed = false;
        clean_up_after_failure();
    }
    return passed;
}

int main(int argument_count, char** arguments) {
    if (argument_count != 3) return 2;
    host = arguments[1];
    port = atoi(arguments[2]);
    size_t case_count = 0;
    for (size_t index = 0; index < group_count; index++) case_count += groups[index]->count;
    bool passed = true;
    setlinebuf(stdout);
    printf("1..%zu\n", case_count);
    for (size_t index = 0; index < group_count; index++) {
        passed = run_group(groups[index]) && passed;
    }
    return passed ? 0 : 1;
}
