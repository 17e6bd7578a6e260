// Consumers: prefetch, get, requeueing, cancellation and direct reply-to.

package main

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var consumerCases = []testCase{
	{"consume_with_prefetch", consumeWithPrefetch},
	{"get_and_empty_get", getAndEmptyGet},
	{"nack_requeues", nackRequeues},
	{"client_cancels_consumer", clientCancelsConsumer},
	{"broker_cancels_consumer", brokerCancelsConsumer},
	{"direct_reply_to", directReplyTo},
}

func consumeWithPrefetch(connection *amqp.Connection, channel *amqp.Channel) {
	const count, prefetch = 20, 3
	queue := declareQueue(channel, "queue", nil)
	for index := 0; index < count; index++ {
		publish(channel, "", queue, amqp.Publishing{Body: []byte(fmt.Sprint(index))})
	}
	consumer := openChannel(connection)
	check(consumer.Qos(prefetch, 0, false))
	deliveries, err := consumer.Consume(queue, "", false, false, false, false, nil)
	check(err)
	var unacked []amqp.Delivery
	for index := 0; index < count; {
		for ; len(unacked) < prefetch && index < count; index++ {
			unacked = append(unacked, take(deliveries))
			equal(fmt.Sprint(index), string(unacked[len(unacked)-1].Body))
		}
		// The prefetch limit is reached, so the other messages must still be in the queue.
		equal(count-index, inspect(channel, queue).Messages)
		equal(0, len(deliveries))
		check(unacked[0].Ack(false))
		unacked = unacked[1:]
	}
	check(unacked[len(unacked)-1].Ack(true))
	check(consumer.Close())
	equal(0, inspect(channel, queue).Messages)
}

func getAndEmptyGet(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	_, found, err := channel.Get(queue, false)
	check(err)
	equal(false, found)
	publish(channel, "", queue, amqp.Publishing{Body: []byte("first")})
	publish(channel, "", queue, amqp.Publishing{Body: []byte("second")})
	delivery, found, err := channel.Get(queue, false)
	check(err)
	equal(true, found)
	equal("first", string(delivery.Body))
	equal(uint32(1), delivery.MessageCount)
	equal(false, delivery.Redelivered)
	check(delivery.Ack(false))
	equal([]string{"second"}, bodiesIn(channel, queue))
}

func nackRequeues(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	publish(channel, "", queue, amqp.Publishing{Body: []byte("again")})
	delivery, _, err := channel.Get(queue, false)
	check(err)
	equal(false, delivery.Redelivered)
	check(delivery.Nack(false, true))
	delivery = nextMessage(channel, queue)
	equal(true, delivery.Redelivered)
	equal("again", string(delivery.Body))
}

func clientCancelsConsumer(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	deliveries, err := channel.Consume(queue, "worker", true, false, false, false, nil)
	check(err)
	equal(1, inspect(channel, queue).Consumers)
	check(channel.Cancel("worker", false))
	_, open := <-deliveries
	equal(false, open)
	equal(0, inspect(channel, queue).Consumers)
}

func brokerCancelsConsumer(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	cancelled := channel.NotifyCancel(make(chan string, 1))
	deliveries, err := channel.Consume(queue, "doomed", false, false, false, false, nil)
	check(err)
	_, err = openChannel(connection).QueueDelete(queue, false, false, false)
	check(err)
	select {
	case tag := <-cancelled:
		equal("doomed", tag)
	case <-time.After(patience):
		fail("the consumer was not cancelled")
	}
	_, open := <-deliveries
	equal(false, open)
	checkUsable(connection)
}

func directReplyTo(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	replies, err := channel.Consume("amq.rabbitmq.reply-to", "", true, false, false, false, nil)
	check(err)
	check(channel.PublishWithContext(context.Background(), "", queue, false, false, amqp.Publishing{
		ReplyTo: "amq.rabbitmq.reply-to", CorrelationId: "call-1", Body: []byte("ping")}))
	server := openChannel(connection)
	request := nextMessage(server, queue)
	check(server.PublishWithContext(context.Background(), "", request.ReplyTo, false, false, amqp.Publishing{
		CorrelationId: request.CorrelationId, Body: append(request.Body, " pong"...)}))
	reply := take(replies)
	equal("call-1 ping pong", reply.CorrelationId+" "+string(reply.Body))
}
