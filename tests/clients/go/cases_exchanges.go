// Exchanges: bindings of every type, alternate exchanges, CC and BCC.

package main

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"
)

var exchangeCases = []testCase{
	{"bind_direct", bindDirect},
	{"bind_topic", bindTopic},
	{"bind_fanout", bindFanout},
	{"bind_headers", bindHeaders},
	{"bind_exchange_to_exchange", bindExchangeToExchange},
	{"alternate_exchange", alternateExchange},
	{"cc_and_bcc", ccAndBcc},
}

func bindDirect(_ *amqp.Connection, channel *amqp.Channel) {
	exchange := declareExchange(channel, "direct", "exchange", nil)
	queue := declareQueue(channel, "queue", nil)
	check(channel.QueueBind(queue, "wanted", exchange, false, nil))
	publish(channel, exchange, "other", amqp.Publishing{Body: []byte("1")})
	publish(channel, exchange, "wanted", amqp.Publishing{Body: []byte("2")})
	delivery := nextMessage(channel, queue)
	equal("2", string(delivery.Body))
	equal(exchange, delivery.Exchange)
	equal("wanted", delivery.RoutingKey)
}

func bindTopic(_ *amqp.Connection, channel *amqp.Channel) {
	exchange := declareExchange(channel, "topic", "exchange", nil)
	oneWord := declareQueue(channel, "one_word", nil)
	anyWords := declareQueue(channel, "any_words", nil)
	check(channel.QueueBind(oneWord, "order.*.paid", exchange, false, nil))
	check(channel.QueueBind(anyWords, "order.#", exchange, false, nil))
	for _, key := range []string{"order.eu.paid", "order.eu.north.paid", "order", "invoice.eu.paid"} {
		publish(channel, exchange, key, amqp.Publishing{Body: []byte(key)})
	}
	equal([]string{"order.eu.paid"}, bodiesIn(channel, oneWord))
	equal([]string{"order.eu.paid", "order.eu.north.paid", "order"}, bodiesIn(channel, anyWords))
}

func bindFanout(_ *amqp.Connection, channel *amqp.Channel) {
	exchange := declareExchange(channel, "fanout", "exchange", nil)
	suffixes := []string{"copy_1", "copy_2", "copy_3"}
	for _, suffix := range suffixes {
		check(channel.QueueBind(declareQueue(channel, suffix, nil), "", exchange, false, nil))
	}
	publish(channel, exchange, "ignored", amqp.Publishing{Body: []byte("news")})
	for _, suffix := range suffixes {
		equal([]string{"news"}, bodiesIn(channel, nameOf(suffix)))
	}
}

func bindHeaders(_ *amqp.Connection, channel *amqp.Channel) {
	exchange := declareExchange(channel, "headers", "exchange", nil)
	both, either := declareQueue(channel, "both", nil), declareQueue(channel, "either", nil)
	check(channel.QueueBind(both, "", exchange, false,
		amqp.Table{"x-match": "all", "kind": "pdf", "pages": int32(2)}))
	check(channel.QueueBind(either, "", exchange, false,
		amqp.Table{"x-match": "any", "kind": "pdf", "pages": int32(2)}))
	for body, headers := range []amqp.Table{{"kind": "pdf", "pages": int64(2)}, {"kind": "pdf"}, {"kind": "txt"}} {
		publish(channel, exchange, "", amqp.Publishing{Headers: headers, Body: []byte(fmt.Sprint(body))})
	}
	equal([]string{"0"}, bodiesIn(channel, both))
	equal([]string{"0", "1"}, bodiesIn(channel, either))
}

func bindExchangeToExchange(_ *amqp.Connection, channel *amqp.Channel) {
	source := declareExchange(channel, "topic", "source", nil)
	destination := declareExchange(channel, "fanout", "destination", nil)
	queue := declareQueue(channel, "queue", nil)
	check(channel.ExchangeBind(destination, "a.#", source, false, nil))
	check(channel.QueueBind(queue, "", destination, false, nil))
	publish(channel, source, "a.b", amqp.Publishing{Body: []byte("through")})
	check(channel.ExchangeUnbind(destination, "a.#", source, false, nil))
	publish(channel, source, "a.b", amqp.Publishing{Body: []byte("cut off")})
	equal([]string{"through"}, bodiesIn(channel, queue))
}

func alternateExchange(_ *amqp.Connection, channel *amqp.Channel) {
	fallback := declareExchange(channel, "fanout", "fallback", nil)
	exchange := declareExchange(channel, "direct", "exchange", amqp.Table{"alternate-exchange": fallback})
	queue := declareQueue(channel, "queue", nil)
	check(channel.QueueBind(queue, "", fallback, false, nil))
	publish(channel, exchange, "nobody", amqp.Publishing{Body: []byte("stray")})
	equal([]string{"stray"}, bodiesIn(channel, queue))
}

func ccAndBcc(_ *amqp.Connection, channel *amqp.Channel) {
	to, copied := declareQueue(channel, "to", nil), declareQueue(channel, "cc", nil)
	blind := declareQueue(channel, "bcc", nil)
	publish(channel, "", to, amqp.Publishing{Headers: amqp.Table{
		"CC": []interface{}{copied}, "BCC": []interface{}{blind}}})
	for _, queue := range []string{to, copied, blind} {
		delivery := nextMessage(channel, queue)
		equal(amqp.Table{"CC": []interface{}{copied}}, delivery.Headers)
		equal(to, delivery.RoutingKey)
	}
}
