"""Failed logins: an address with too many is throttled over AMQP and HTTP; other addresses are not."""
import http.client
import time

import pika
from cases_secrets import log_in, request
from world import SECONDS_MAX, Mismatch, case, contains, equal, eventually, lacks

LIMITED = "login_failures.per_minute_loopback = 5\nlogin_failures.wait_max = 1000\ndefault_pass = guest\n"
WAITS = "too many failed logins: throttling logins from this address"


def whoami(broker, password):
    return request(broker, "GET", "/api/whoami", user="guest:" + password)


def refused_over_amqp(broker, password):
    try:
        log_in(broker, "guest", password).close()
        return False
    except pika.exceptions.AMQPError:
        return True


@case
def logins_beyond_the_limit_have_to_wait(world):
    with world.directory() as directory, world.broker(directory, LIMITED) as broker:
        with log_in(broker, "guest", "guest") as connection:
            for _ in range(5):
                equal(whoami(broker, "wrong")[0], 401)
            equal(whoami(broker, "guest")[0], 200, "five may fail")
            contains(answer_while_waiting(broker), "Too many failed logins from this address")
            connection.channel().queue_declare("still-there", auto_delete=True)  # Open connections are not affected.
            eventually(lambda: whoami(broker, "guest")[0] == 200, "the wait ends")
            eventually(lambda: not refused_over_amqp(broker, "guest"), "over AMQP, too")
        equal(broker.log().count(WAITS), 1, broker.log())
        contains(broker.log(), "127.0.0.1")


def answer_while_waiting(broker):
    """The response to the right password while the address is throttled."""
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        whoami(broker, "wrong")
        status, body = whoami(broker, "guest")
        if status == 429:
            return body
    raise Mismatch("the right password was never refused")


@case
def logins_over_amqp_count_as_well_as_those_over_http(world):
    with world.directory() as directory, world.broker(directory, LIMITED) as broker:
        for _ in range(8):
            equal(refused_over_amqp(broker, "wrong"), True)
        end = time.monotonic() + SECONDS_MAX
        while whoami(broker, "guest")[0] != 429:
            if time.monotonic() > end:
                raise Mismatch("HTTP does not know of the failures over AMQP")
            refused_over_amqp(broker, "wrong")
        eventually(lambda: broker.log().count("login refused") >= 6, "each failure is logged")
        eventually(lambda: not refused_over_amqp(broker, "guest"), "the right password is let in again")


@case
def logins_without_a_password_and_without_a_tag_are_no_failures(world):
    with world.directory() as directory, world.broker(directory, LIMITED) as broker:
        equal(request(broker, "PUT", "/api/users/untagged", {"password": "p", "tags": ""}, user="guest:guest")[0], 201)
        for _ in range(30):
            equal(request(broker, "GET", "/api/whoami", user="untagged:p")[0], 401)
            connection = http.client.HTTPConnection("127.0.0.1", broker.ports["http"], timeout=SECONDS_MAX)
            connection.request("GET", "/api/whoami")
            equal(connection.getresponse().status, 401)
            connection.close()
        equal(whoami(broker, "guest")[0], 200)
        lacks(broker.log(), WAITS)


@case
def logins_from_this_machine_may_fail_often_unless_told_otherwise(world):
    with world.directory() as directory, world.broker(directory) as broker:
        for _ in range(300):
            equal(whoami(broker, "wrong")[0], 401)
        equal(whoami(broker, "guest")[0], 200)
    with world.directory() as directory, world.broker(directory, "login_failures.per_minute_loopback = 0\n") as broker:
        for _ in range(50):
            equal(whoami(broker, "wrong")[0], 401)
        equal(whoami(broker, "guest")[0], 200)
