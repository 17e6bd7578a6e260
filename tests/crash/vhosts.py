"""Virtual hosts of single workloads, each with one queue."""
from brokers_to_crash import Api, Client, Lost, segment

QUEUE = "inside"
NO_ROOM = "the disk is full"
EVERYTHING = {"configure": ".*", "write": ".*", "read": ".*"}


def make_vhost(api, name):
    """Returns whether the disk had space for it."""
    status, answer = api.try_request("PUT", f"/api/vhosts/{segment(name)}", {})
    if NO_ROOM in str(answer):
        return False
    if status not in (201, 204):
        raise Lost(f"PUT of the virtual host {name} was answered with {status} {answer}")
    api.try_request("PUT", f"/api/permissions/{segment(name)}/guest", EVERYTHING)
    return True


def make_empty_vhost(broker, name):
    delete_vhost(broker, name)
    api = Api(broker.http_port)
    make_vhost(api, name)
    api.close()
    client = Client(broker.port, name)
    client.call("queue.declare", 0, QUEUE, False, True, False, False, False, [])
    client.close()


def delete_vhost(broker, name):
    api = Api(broker.http_port)
    api.request("DELETE", f"/api/vhosts/{segment(name)}")
    api.close()
