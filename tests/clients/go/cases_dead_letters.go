// Dead letters: rejected, expired and over the length limit, with their x-death header.

package main

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

var deadLetterCases = []testCase{
	{"reject_dead_letters", rejectDeadLetters},
	{"expired_message_dead_letters", expiredMessageDeadLetters},
	{"overflow_dead_letters", overflowDeadLetters},
}

func rejectDeadLetters(connection *amqp.Connection, channel *amqp.Channel) {
	deadLetterExchange := declareExchange(channel, "fanout", "dlx", nil)
	dead := declareQueue(channel, "dead", nil)
	check(channel.QueueBind(dead, "", deadLetterExchange, false, nil))
	exchange := declareExchange(channel, "direct", "exchange", nil)
	queue := declareQueue(channel, "queue", amqp.Table{"x-dead-letter-exchange": deadLetterExchange})
	check(channel.QueueBind(queue, "work", exchange, false, nil))
	publish(channel, exchange, "work", amqp.Publishing{
		Headers: amqp.Table{"tenant": "blue"}, Body: []byte("poison")})
	delivery, _, err := channel.Get(queue, false)
	check(err)
	check(delivery.Reject(false))
	delivery = nextMessage(channel, dead)
	equal("poison", string(delivery.Body))
	equal(deadLetterExchange, delivery.Exchange)
	equal("work", delivery.RoutingKey)
	equal("blue", delivery.Headers["tenant"])
	checkDeath(delivery, queue, "rejected", exchange, "work")
	var major, minor int
	fmt.Sscanf(connection.Properties["version"].(string), "%d.%d", &major, &minor)
	if major > 3 || minor >= 13 {
		equal(queue, delivery.Headers["x-last-death-queue"])
		equal("rejected", delivery.Headers["x-last-death-reason"])
		equal(exchange, delivery.Headers["x-last-death-exchange"])
	}
}

func expiredMessageDeadLetters(_ *amqp.Connection, channel *amqp.Channel) {
	dead := declareQueue(channel, "dead", nil)
	queue := declareQueue(channel, "queue", amqp.Table{
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead})
	publish(channel, "", queue, amqp.Publishing{Expiration: "50", Body: []byte("late")})
	delivery := nextMessage(channel, dead)
	equal("50", checkDeath(delivery, queue, "expired", "", queue)["original-expiration"])
	equal("", delivery.Expiration)
}

func overflowDeadLetters(_ *amqp.Connection, channel *amqp.Channel) {
	dead := declareQueue(channel, "dead", nil)
	queue := declareQueue(channel, "queue", amqp.Table{"x-max-length": int32(2),
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": dead})
	for _, body := range []string{"1", "2", "3"} {
		publish(channel, "", queue, amqp.Publishing{Body: []byte(body)})
	}
	delivery := nextMessage(channel, dead)
	equal("1", string(delivery.Body))
	checkDeath(delivery, queue, "maxlen", "", queue)
	equal([]string{"2", "3"}, bodiesIn(channel, queue))
}
