// Publishers: confirms, returns and transactions.

package main

import (
	"context"
	"fmt"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var publisherCases = []testCase{
	{"confirms_one_by_one", confirmsOneByOne},
	{"confirms_of_a_burst", confirmsOfABurst},
	{"reject_publish_is_nacked", rejectPublishIsNacked},
	{"mandatory_return", mandatoryReturn},
	{"transaction_commit", transactionCommit},
	{"transaction_rollback", transactionRollback},
	{"concurrent_publishers", concurrentPublishers},
}

func confirmsOneByOne(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	var expected []string
	for index := 0; index < 100; index++ {
		expected = append(expected, fmt.Sprint(index))
		publish(channel, "", queue, amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(expected[index])})
	}
	equal(expected, bodiesIn(channel, queue))
}

func confirmsOfABurst(connection *amqp.Connection, channel *amqp.Channel) {
	const count = 5000
	queue := declareQueue(channel, "queue", nil)
	check(channel.Confirm(false))
	confirmations := channel.NotifyPublish(make(chan amqp.Confirmation, count))
	for index := 0; index < count; index++ {
		check(channel.PublishWithContext(context.Background(), "", queue, false, false,
			amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte(fmt.Sprint(index))}))
	}
	deadline := time.After(30 * time.Second)
	for index := uint64(1); index <= count; index++ {
		select {
		case confirmation := <-confirmations:
			equal(amqp.Confirmation{DeliveryTag: index, Ack: true}, confirmation)
		case <-deadline:
			fail("only %d messages were confirmed", index-1)
		}
	}
	equal(count, inspect(channel, queue).Messages)
	deliveries, err := channel.Consume(queue, "", true, false, false, false, nil)
	check(err)
	for index := 0; index < count; index++ {
		equal(fmt.Sprint(index), string(take(deliveries).Body))
	}
}

func rejectPublishIsNacked(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", amqp.Table{"x-max-length": int32(1), "x-overflow": "reject-publish"})
	publish(channel, "", queue, amqp.Publishing{Body: []byte("fits")})
	equal(false, publishMandatory(channel, "", queue, amqp.Publishing{Body: []byte("does not fit")}))
	equal([]string{"fits"}, bodiesIn(channel, queue))
}

func mandatoryReturn(_ *amqp.Connection, channel *amqp.Channel) {
	returns := channel.NotifyReturn(make(chan amqp.Return, 1))
	equal(true, publishMandatory(channel, "amq.direct", nameOf("nobody"),
		amqp.Publishing{MessageId: "m1", Body: []byte("lost")}))
	select {
	case returned := <-returns: // The return precedes the confirm, so it has arrived.
		equal(uint16(312), returned.ReplyCode)
		equal("NO_ROUTE", returned.ReplyText)
		equal("amq.direct", returned.Exchange)
		equal(nameOf("nobody"), returned.RoutingKey)
		equal("m1 lost", returned.MessageId+" "+string(returned.Body))
	default:
		fail("the message was not returned before its confirm")
	}
}

func transactionCommit(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	check(channel.Tx())
	for _, body := range []string{"1", "2"} {
		check(channel.PublishWithContext(context.Background(), "", queue, false, false,
			amqp.Publishing{Body: []byte(body)}))
	}
	equal(0, inspect(channel, queue).Messages)
	check(channel.TxCommit())
	equal([]string{"1", "2"}, bodiesIn(openChannel(connection), queue))
}

func transactionRollback(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	publish(openChannel(connection), "", queue, amqp.Publishing{Body: []byte("kept")})
	check(channel.Tx())
	check(channel.PublishWithContext(context.Background(), "", queue, false, false,
		amqp.Publishing{Body: []byte("discarded")}))
	delivery, _, err := channel.Get(queue, false)
	check(err)
	check(delivery.Ack(false))
	check(channel.TxRollback())
	check(channel.Close())
	equal([]string{"kept"}, bodiesIn(openChannel(connection), queue))
}

// concurrentPublishers lets goroutines share one connection, each with its own channel.
func concurrentPublishers(connection *amqp.Connection, channel *amqp.Channel) {
	const publishers, count = 8, 250
	queue := declareQueue(channel, "queue", nil)
	finished := make(chan interface{}, publishers)
	for number := 0; number < publishers; number++ {
		go func(number int) {
			defer func() { finished <- recover() }()
			own := openChannel(connection)
			for index := 0; index < count; index++ {
				publish(own, "", queue, amqp.Publishing{AppId: fmt.Sprint(number), Body: []byte(fmt.Sprint(index))})
			}
		}(number)
	}
	deliveries, err := channel.Consume(queue, "", true, false, false, false, nil)
	check(err)
	next := map[string]int{}
	for index := 0; index < publishers*count; index++ {
		delivery := take(deliveries)
		equal(fmt.Sprint(next[delivery.AppId]), string(delivery.Body)) // The order is kept for each publisher.
		next[delivery.AppId]++
	}
	for number := 0; number < publishers; number++ {
		equal(nil, <-finished)
	}
}
