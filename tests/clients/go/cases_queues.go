// Queues: refused declarations, exclusive queues and priorities.

package main

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

var queueCases = []testCase{
	{"missing_queue_404", missingQueue404},
	{"inequivalent_argument_406", inequivalentArgument406},
	{"reserved_name_403", reservedName403},
	{"exclusive_queue_405", exclusiveQueue405},
	{"priority_order", priorityOrder},
}

func missingQueue404(connection *amqp.Connection, channel *amqp.Channel) {
	queue := nameOf("missing")
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	_, err := channel.QueueDeclarePassive(queue, true, false, false, false, nil)
	expectClose(404, "no queue '"+queue+"' in vhost '/'", err)
	equal(404, (<-closed).Code)
	checkUsable(connection)
}

func inequivalentArgument406(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", amqp.Table{"x-max-length": int32(5)})
	_, err := channel.QueueDeclare(queue, true, false, false, false, amqp.Table{"x-max-length": int64(6)})
	expectClose(406, "inequivalent arg 'x-max-length' for queue '"+queue+"' in vhost '/'", err)
	checkUsable(connection)
}

func reservedName403(connection *amqp.Connection, channel *amqp.Channel) {
	_, err := channel.QueueDeclare("amq.clients.go", true, false, false, false, nil)
	expectClose(403, "contains reserved prefix 'amq.*'", err)
	checkUsable(connection)
}

func exclusiveQueue405(connection *amqp.Connection, channel *amqp.Channel) {
	queue := nameOf("exclusive")
	_, err := channel.QueueDeclare(queue, false, false, true, false, nil)
	check(err)
	second := dial()
	defer second.Close()
	_, err = openChannel(second).QueueDeclarePassive(queue, false, false, true, false, nil)
	expectClose(405, "cannot obtain exclusive access to locked queue '"+queue+"'", err)
	check(connection.Close())
	_, err = openChannel(second).QueueDeclarePassive(queue, false, false, true, false, nil)
	expectClose(404, "no queue", err)
}

func priorityOrder(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", amqp.Table{"x-max-priority": int32(5)})
	for _, priority := range []uint8{1, 5, 3, 5, 0} {
		publish(channel, "", queue, amqp.Publishing{Priority: priority, Body: []byte(fmt.Sprint(priority))})
	}
	equal([]string{"5", "5", "3", "1", "0"}, bodiesIn(channel, queue))
}
