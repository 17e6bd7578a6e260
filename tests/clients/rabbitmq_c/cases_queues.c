// Queues: refused declarations, exclusive queues and priorities.

#include "cases.h"
#include "peer.h"

#include <stdlib.h>

static void missing_queue_404(void) {
    amqp_queue_declare(connection, 1, text(name_of("missing")), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue 'clients.rabbitmq_c.missing' in vhost '/'");
    check_usable();
}

static void inequivalent_argument_406(void) {
    const char* queue = declare_queue("queue", TABLE(number_entry("x-max-length", 5)));
    amqp_queue_declare(connection, 1, text(queue), 0, 1, 0, 0,
                       TABLE(number_entry("x-max-length", 6)));
    expect_close(1, 406, "inequivalent arg 'x-max-length' for queue 'clients.rabbitmq_c.queue'");
    check_usable();
}

static void reserved_name_403(void) {
    amqp_queue_declare(connection, 1, text("amq.clients.rabbitmq_c"), 0, 1, 0, 0, amqp_empty_table);
    expect_close(1, 403, "contains reserved prefix 'amq.*'");
    check_usable();
}

static void exclusive_queue_405(void) {
    const char* queue = name_of("exclusive");
    amqp_queue_declare(connection, 1, text(queue), 0, 0, 1, 0, amqp_empty_table);
    require_last_ok();
    amqp_connection_state_t owner = connection;
    connection = connect_to_broker();
    open_channel(1);
    amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 405, "cannot obtain exclusive access to locked queue");
    disconnect(owner);
    open_channel(1);
    amqp_queue_declare(connection, 1, text(queue), 1, 0, 0, 0, amqp_empty_table);
    expect_close(1, 404, "no queue");
}

static void priority_order(void) {
    const char* queue = declare_queue("queue", TABLE(number_entry("x-max-priority", 5)));
    select_confirms(1);
    const char* priorities[] = {"1", "5", "3", "5", "0"};
    for (int index = 0; index < 5; index++) {
        amqp_basic_properties_t properties = {._flags = AMQP_BASIC_PRIORITY_FLAG,
                                              .priority = (uint8_t)atoi(priorities[index])};
        CHECK(publish_with(1, "", queue, text(priorities[index]), &properties));
    }
    check_bodies(queue, "5 5 3 1 0");
}

static const struct test_case cases[] = {
    CASE(missing_queue_404), CASE(inequivalent_argument_406),
    CASE(reserved_name_403), CASE(exclusive_queue_405),
    CASE(priority_order),
};

const struct case_group queue_cases = GROUP(cases);
