"""revenantctl: rabbitmqctl's commands, arguments, outputs and exit codes."""
import os
import socket
import tempfile
import threading

import pika

from world import Mismatch, case, contains, equal


@case
def ctl_pings_and_awaits(world):  # management 9.4
    contains(world.ctl("ping").stdout, "Ping succeeded")
    for option in ("-q", "-s"):  # suppresses the banner, not the result
        equal(world.ctl(option, "ping").stdout, "Ping succeeded\n")
    world.ctl("await_startup")
    equal(world.ctl("version").stdout, "4.3.0\n")
    nobody = "http://127.0.0.1:9"
    contains(world.ctl("ping", "--url", nobody, status=69).stderr, "Connection refused")
    world.ctl("list_queues", "--url", nobody, status=69)
    world.ctl("await_startup", "-t", "0.2", "--url", nobody, status=69)


@case
def ctl_tells_the_status(world):
    status = world.ctl_json("status")
    equal(status["pid"], world.broker.pid)
    equal(status["totals"]["virtual_host_count"], 1)
    equal(status["alarms"], [])
    text = world.ctl("status").stdout
    contains(text, f"OS PID: {world.broker.pid}\n")
    limit = world.get("/nodes")[0]["disk_free_limit"]
    contains(text, f"Low free disk space watermark: {round(limit / 1e9, 4)} gb\n")
    contains(world.ctl("status", "--unit", "mb").stdout, f"Low free disk space watermark: {round(limit / 1e6, 4)} mb\n")
    contains(world.ctl("status", "--unit", "bytes").stdout, f"Low free disk space watermark: {limit} bytes\n")
    contains(world.ctl("status", "--unit", "xb", status=64).stderr, "unit 'xb' is not supported")
    contains(text, f"port: {world.broker.port}, protocol: amqp\n")


@case
def ctl_manages_users(world):  # management 5.3, 5.10
    done = world.ctl("add_user", "cu", "secret")
    equal(done.stdout.splitlines()[0], 'Adding user "cu" ...')
    equal(world.ctl("add_user", "cu", "secret", status=70).stderr, 'Error:\nUser "cu" already exists\n')
    contains(world.ctl("authenticate_user", "cu", "secret").stdout, "Success")
    contains(world.ctl("authenticate_user", "cu", "wrong", status=65).stderr, 'failed to authenticate user "cu"')
    world.ctl("change_password", "cu", stdin="from a pipe\n")
    world.ctl("authenticate_user", "cu", stdin="from a pipe\n")
    equal(world.ctl("set_user_tags", "cu", "management", "x").stdout,
          'Setting tags for user "cu" to [management, x] ...\n')
    world.ctl("authenticate_user", "cu", "from a pipe")  # setting tags does not change the password
    lines = world.ctl("list_users").stdout.splitlines()
    equal(lines[:2], ["Listing users ...", "user\ttags"])
    contains(lines, "cu\t[management, x]")
    contains(world.ctl_json("list_users"), {"user": "cu", "tags": ["management", "x"]})
    contains(world.ctl("list_users", "--formatter", "csv").stdout, '\n"cu","[management, x]"\n')
    world.ctl("clear_password", "cu")
    world.ctl("authenticate_user", "cu", "from a pipe", status=65)
    world.ctl("delete_user", "cu")
    world.ctl("delete_user", "cu")  # rabbitmqctl also succeeds for a missing user
    for command in (("change_password", "cu", "p"), ("set_user_tags", "cu", "x"),
                    ("set_permissions", "cu", "", "", ""), ("list_user_permissions", "cu")):
        contains(world.ctl(*command, status=67).stderr, 'User "cu" does not exist')


@case
def ctl_manages_vhosts_and_permissions(world):
    world.ctl("add_vhost", "cv", "--description", "for tests", "--tags", "a,b")
    world.ctl("add_vhost", "cv")
    contains(world.ctl_json("list_vhosts", "name", "description", "tags"),
             {"name": "cv", "description": "for tests", "tags": ["a", "b"]})
    equal(world.ctl("list_permissions", "-p", "cv", "-s").stdout, "")  # no user has permissions
    patterns = ("[ab]", "", "{}|^x$")
    world.ctl("set_permissions", "-p", "cv", "guest", *patterns)
    equal(world.ctl("list_permissions", "-p", "cv", "-q").stdout,
          "user\tconfigure\twrite\tread\nguest\t[ab]\t\t{}|^x$\n")
    contains(world.ctl("list_user_permissions", "guest").stdout, "cv\t[ab]\t\t{}|^x$\n")
    contains(world.ctl("set_permissions", "-p", "cv", "guest", "(", "", "", status=65).stderr, "(")
    world.ctl("set_topic_permissions", "-p", "cv", "guest", "amq.topic", "^a", "^b")
    equal(world.ctl_json("list_topic_permissions", "-p", "cv"),
          [{"user": "guest", "exchange": "amq.topic", "write": "^a", "read": "^b"}])
    world.ctl("clear_topic_permissions", "-p", "cv", "guest")
    world.ctl("clear_permissions", "-p", "cv", "guest")
    world.ctl("clear_permissions", "-p", "cv", "guest")
    world.ctl("delete_vhost", "cv")
    for command in (("delete_vhost", "cv"), ("list_permissions", "-p", "cv"), ("list_queues", "-p", "cv"),
                    ("set_permissions", "-p", "cv", "guest", "", "", "")):
        contains(world.ctl(*command, status=65).stderr, "Virtual host 'cv' does not exist")


@case
def ctl_sets_lists_and_clears_policies(world):  # management 5.4, C.14
    definition = '{"dead-letter-exchange":"my-dlx"}'
    done = world.ctl("set_policy", "DLX", ".*", definition, "--apply-to", "queues")
    equal(done.stdout, f'Setting policy "DLX" for pattern ".*" to "{definition}" with priority "0" for vhost "/" ...\n')
    equal(world.ctl("-q", "set_policy", "--priority", "-1", "low", "^a", '{"max-length":5}').stdout, "")
    equal(world.ctl("list_policies").stdout.splitlines(), [
        'Listing policies for vhost "/" ...', "vhost\tname\tpattern\tapply-to\tdefinition\tpriority",
        '/\tlow\t^a\tall\t{"max-length":5}\t-1', f"/\tDLX\t.*\tqueues\t{definition}\t0"])
    equal(world.ctl_json("list_policies", "-p", "/"), [
        {"vhost": "/", "name": "low", "pattern": "^a", "apply-to": "all", "definition": '{"max-length":5}', "priority": -1},
        {"vhost": "/", "name": "DLX", "pattern": ".*", "apply-to": "queues", "definition": definition, "priority": 0}])
    contains(world.ctl("list_policies", "--formatter", "csv").stdout, '"{""max-length"":5}","-1"\n')
    equal(world.ctl("list_policies", "-s").stdout.count("\n"), 2)
    world.put("/queues/%2F/aq", {"durable": True, "arguments": {"x-queue-type": "quorum"}})
    equal(world.ctl("list_queues", "-s", "name", "policy", "effective_policy_definition", "type", "messages_dlx").stdout,
          'aq\tDLX\t[{"dead-letter-exchange","my-dlx"}]\tquorum\t0\n')
    contains(world.ctl("list_exchanges", "-s", "name", "policy").stdout, "\t\namq.direct\tlow\n")
    equal(world.ctl("clear_policy", "DLX").stdout, 'Clearing policy "DLX" on vhost "/" ...\n')
    equal(world.ctl_json("list_queues", "-q", "policy", "operator_policy"), [{"policy": "low", "operator_policy": ""}])
    world.ctl("clear_policy", "low", "-q")
    equal(world.ctl("clear_policy", "low", status=69).stderr, "Error:\nParameter does not exist\n")
    world.delete("/queues/%2F/aq")


@case
def ctl_limits_by_operator_policies(world):
    limit = '{"max-length":9}'
    equal(world.ctl("set_operator_policy", "-p", "/", "OP", ".*", limit).stdout,
          f'Setting operator policy override "OP" for pattern ".*" to "{limit}" with priority "0" for vhost "/" ...\n')
    equal(world.ctl("list_operator_policies").stdout.splitlines(), [
        'Listing operator policy overrides for vhost "/" ...', "vhost\tname\tpattern\tapply-to\tdefinition\tpriority",
        f"/\tOP\t.*\tall\t{limit}\t0"])
    world.put("/queues/%2F/oq", {})
    equal(world.ctl_json("list_queues", "-q", "operator_policy", "effective_policy_definition", "type"),
          [{"operator_policy": "OP", "effective_policy_definition": {"max-length": 9}, "type": "classic"}])
    equal(world.ctl("clear_operator_policy", "OP").stdout, 'Clearing operator policy "OP" on vhost "/" ...\n')
    world.ctl("clear_operator_policy", "OP", status=69)
    equal(world.ctl_json("list_operator_policies"), [])
    world.delete("/queues/%2F/oq")


@case
def ctl_names_what_is_wrong_with_a_policy(world):
    good = '{"max-length":1}'
    equal(world.ctl("set_policy", "bad", ".*", '{"foo":1}', status=69).stderr,
          'Error:\nValidation failed\n\n[{<<"foo">>,1}] are not recognised policy settings\n\n')
    for definition in ("{dead-letter-exchange:my-dlx}", "nojson", ""):
        contains(world.ctl("set_policy", "bad", ".*", definition, status=69).stderr,
                 "Error:\nCould not parse JSON document: ")
    contains(world.ctl("set_policy", "bad", ".*", "[]", status=69).stderr, "no policy provided")
    contains(world.ctl("set_policy", "bad", "(", good, status=69).stderr, "should be regular expression")
    contains(world.ctl("set_policy", "bad", ".*", good, "--apply-to", "x", status=69).stderr, "apply-to 'x' unrecognised")
    contains(world.ctl("set_operator_policy", "bad", ".*", '{"dead-letter-exchange":"x"}', status=69).stderr,
             "Validation failed")
    contains(world.ctl("set_policy", "bad", ".*", good, "--priority", "x", status=64).stderr, "--priority")
    contains(world.ctl("set_policy", "bad", ".*", status=64).stderr, "not enough arguments")
    contains(world.ctl("list_policies", "x", status=64).stderr, "too many arguments")
    for command in (("set_policy", "bad", ".*", good), ("list_policies",), ("list_operator_policies",)):
        contains(world.ctl(*command, "-p", "nosuch", status=65).stderr, "Virtual host 'nosuch' does not exist")
    contains(world.ctl("clear_policy", "bad", "-p", "nosuch", status=69).stderr, "Parameter does not exist")
    world.ctl("list_policies", "--url", "http://127.0.0.1:9", status=69)
    equal(world.get("/policies"), [])


@case
def ctl_says_which_rabbitmq_a_vhost_follows(world):
    world.ctl("add_vhost", "cc", "--compat", "3.12", "--default-queue-type", "quorum")
    wanted = {"name": "cc", "compat": "3.12", "default_queue_type": "quorum"}
    contains(world.ctl_json("list_vhosts", "name", "compat", "default_queue_type"), wanted)
    equal(world.ctl("update_vhost_metadata", "cc", "--description", "d", "--compat", "4.3").stdout,
          'Updating metadata of vhost "cc" ...\n')
    contains(world.ctl_json("list_vhosts", "name", "compat", "description"),
             {"name": "cc", "compat": "4.3", "description": "d"})
    world.ctl("update_vhost_metadata", "cc", "--description", "")
    contains(world.ctl_json("list_vhosts", "name", "description"), {"name": "cc", "description": ""})
    contains(world.ctl("update_vhost_metadata", "cc", "--compat", "2", status=65).stderr, "compat '2'")
    contains(world.ctl("update_vhost_metadata", "nosuch", "--compat", "4.3", status=65).stderr,
             "Virtual host 'nosuch' does not exist")
    world.ctl("update_vhost_metadata", "cc", status=64)
    world.ctl("delete_vhost", "cc")


@case
def ctl_lists_queues_exchanges_bindings(world):  # management 5.5, 5.6
    world.put("/queues/%2F/cq", {"durable": True, "arguments": {"x-max-length": 100, "x-overflow": "reject-publish"}})
    lines = world.ctl("list_queues").stdout.splitlines()
    equal(lines[-2:], ["name\tmessages", "cq\t0"])
    contains(lines[-3], "Listing queues for vhost / ...")
    equal(world.ctl("list_queues", "-q", "name,durable", "arguments").stdout.splitlines()[1],
          'cq\ttrue\t[{"x-max-length",100},{"x-overflow","reject-publish"}]')
    equal(world.ctl_json("list_queues", "-q", "name", "messages_ready", "policy"),
          [{"name": "cq", "messages_ready": 0, "policy": ""}])
    contains(world.ctl("list_queues", "nosuch", "name", status=64).stderr, "Info key(s) nosuch are not supported")
    contains(world.ctl("list_exchanges", "-q").stdout, "name\ttype\n\tdirect\namq.direct\tdirect\n")
    contains(world.ctl("list_bindings", "-q").stdout,
             "source_name\tsource_kind\tdestination_name\tdestination_kind\trouting_key\targuments\n"
             "\texchange\tcq\tqueue\tcq\t[]\n")
    world.ctl("purge_queue", "cq")
    equal(world.ctl("list_parked_messages", "-q", "cq").stdout, "")
    world.ctl("discard_parked_messages", "cq")
    contains(world.ctl("delete_queue", "cq", "--if-empty", "-u").stdout, "Queue was successfully deleted")
    contains(world.ctl("delete_queue", "cq", status=64).stderr, "No such queue was found")
    world.ctl("purge_queue", "cq", status=65)
    world.ctl("list_parked_messages", "cq", status=69)
    world.ctl("discard_parked_messages", "cq", status=69)


# Fields that an AMQP 0-9-1 connection without TLS does not have.
ABSENT = ("ssl_protocol", "ssl_key_exchange", "ssl_cipher", "ssl_hash", "peer_cert_subject", "peer_cert_issuer",
          "peer_cert_validity", "container_id")


@case
def ctl_lists_and_closes_connections(world):  # management 5.7
    connection = world.amqp(name="by name")
    channel = connection.channel()
    channel.queue_declare("watched", auto_delete=True)
    channel.basic_consume("watched", lambda *_: None, consumer_tag="tag")
    equal(world.ctl_json("list_connections", "user", "state", "user_provided_name"),
          [{"user": "guest", "state": "running", "user_provided_name": "by name"}])
    name = world.ctl_json("list_connections", "pid")[0]["pid"]
    counted = ("recv_oct", "recv_cnt", "send_oct", "send_cnt", "send_pend", "channel_max", "frame_max", "connected_at")
    shown = world.ctl_json("list_connections", *counted)[0]
    equal({column: type(value) for column, value in shown.items()}, dict.fromkeys(counted, int))
    equal(world.ctl_json("list_connections", *ABSENT)[0], dict.fromkeys(ABSENT, ""))
    equal(world.ctl("list_channels", "-s").stdout, f"{name} (1)\tguest\t1\t0\n")
    equal(world.ctl("list_consumers", "-s").stdout, f"watched\t{name} (1)\ttag\ttrue\t0\ttrue\t[]\n")
    contains(world.ctl("delete_queue", "watched", "--if-unused", status=64).stderr, "Queue is in use")
    world.ctl("close_connection", name, "no more")
    try:
        connection.process_data_events(5)
        raise Mismatch("the client was not told")
    except pika.exceptions.ConnectionClosedByBroker as closed:
        contains(closed.reply_text, "no more")
    world.ctl("close_connection", "nosuch", "reason", status=69)
    world.eventually(lambda: world.ctl_json("list_connections") == [], "the connection is gone")


@case
def ctl_lists_containers_of_amqp10(world):
    connection = world.amqp10()
    shown = world.ctl_json("list_connections", "protocol", "container_id")[0]
    equal((shown["protocol"], shown["container_id"]), ("AMQP 1-0", connection.container.container_id))
    connection.close()
    world.eventually(lambda: world.ctl_json("list_connections") == [], "the connection is gone")


@case
def ctl_lists_no_queues_of_absent_nodes(world):
    world.put("/queues/%2F/cq", {})
    equal(world.ctl("list_queues", "-s", "name").stdout, "cq\n")
    equal(world.ctl("list_queues", "-s", "--online", "name").stdout, "cq\n")
    equal(world.ctl("list_queues", "-s", "--offline", "name").stdout, "")
    world.ctl("list_queues", "-p", "nosuch", "--offline", status=65)
    world.delete("/queues/%2F/cq")


@case
def ctl_gives_up_in_time(world):
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections and never responds
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for command in ("list_queues", "ping", "check_running"):
            contains(world.ctl("-t", "0.2", command, "--url", url, status=75).stderr, "timeout")
    world.ctl("-t", "1", "list_queues", "--url", url, status=69)


@case
def ctl_takes_no_half_answers(world):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            peer, _ = server.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n[]")

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        contains(world.ctl("list_queues", "--url", url, status=69).stderr, "response truncated")
        thread.join()


@case
def ctl_names_wrong_usage(world):
    for command, text in ((("nosuch",), "Command 'nosuch' not found"), (("add_user",), "not enough arguments"),
                          (("ping", "x"), "too many arguments"), (("list_users", "--nosuch"), "--nosuch"),
                          (("list_users", "--formatter", "nosuch"), "nosuch"), (("ping", "--url", "ftp://x"), "ftp://x")):
        contains(world.ctl(*command, status=64).stderr, text)
    world.ctl(status=64)
    contains(world.ctl("help").stdout, "set_permissions")
    contains(world.ctl("help", "set_permissions").stdout, "Example:")
    world.ctl("list_users", user="guest:wrong", status=69)


@case
def ctl_answers_to_the_name_of_rabbitmqctl(world):
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "rabbitmqctl")
        os.symlink(world.ctl_program, program)
        contains(world.ctl("list_users", "-q", program=program).stdout, "guest\t[administrator]\n")
        contains(world.ctl("add_user", status=64, program=program).stderr, "Usage: rabbitmqctl add_user")
        world.ctl("-n", "rabbit@localhost", "-l", "list_queues", "--online", program=program)
        world.ctl("-n", "rabbit@localhost", "--erlang-cookie", "SECRET", "-n", "other", "list_queues", program=program)
        # The example in RabbitMQ's guide to dead-letter exchanges.
        line = """rabbitmqctl set_policy DLX ".*" '{"dead-letter-exchange":"my-dlx"}' --apply-to queues"""
        world.ctl("-c", line, program="/bin/sh", PATH=directory)
        equal(world.get("/policies/%2F/DLX")["definition"], {"dead-letter-exchange": "my-dlx"})
        world.delete("/policies/%2F/DLX")
