// AMQP 0-9-1 cases, written as users of amqp091-go write them. Usage: cases HOST PORT
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	patience     = 10 * time.Second
	caseTimeMax  = 20 * time.Second
	bodyBytesMax = 16 * 1024 * 1024
)

var (
	url              string
	createdQueues    []string
	createdExchanges []string
	confirmListeners sync.Map // From *amqp.Channel to its chan amqp.Confirmation.
)

type testCase struct {
	name string
	run  func(connection *amqp.Connection, channel *amqp.Channel)
}

var cases = []testCase{
	{"connection_properties", connectionProperties},
	{"bind_direct", bindDirect},
	{"bind_topic", bindTopic},
	{"bind_fanout", bindFanout},
	{"bind_headers", bindHeaders},
	{"bind_exchange_to_exchange", bindExchangeToExchange},
	{"alternate_exchange", alternateExchange},
	{"cc_and_bcc", ccAndBcc},
	{"confirms_one_by_one", confirmsOneByOne},
	{"confirms_of_a_burst", confirmsOfABurst},
	{"reject_publish_is_nacked", rejectPublishIsNacked},
	{"mandatory_return", mandatoryReturn},
	{"consume_with_prefetch", consumeWithPrefetch},
	{"get_and_empty_get", getAndEmptyGet},
	{"nack_requeues", nackRequeues},
	{"reject_dead_letters", rejectDeadLetters},
	{"expired_message_dead_letters", expiredMessageDeadLetters},
	{"overflow_dead_letters", overflowDeadLetters},
	{"client_cancels_consumer", clientCancelsConsumer},
	{"broker_cancels_consumer", brokerCancelsConsumer},
	{"transaction_commit", transactionCommit},
	{"transaction_rollback", transactionRollback},
	{"missing_queue_404", missingQueue404},
	{"inequivalent_argument_406", inequivalentArgument406},
	{"reserved_name_403", reservedName403},
	{"exclusive_queue_405", exclusiveQueue405},
	{"large_bodies", largeBodies},
	{"too_large_body_406", tooLargeBody406},
	{"empty_body", emptyBody},
	{"properties_echo", propertiesEcho},
	{"header_types_echo", headerTypesEcho},
	{"many_channels", manyChannels},
	{"concurrent_publishers", concurrentPublishers},
	{"heartbeat_keeps_idle_connection", heartbeatKeepsIdleConnection},
	{"direct_reply_to", directReplyTo},
	{"wrong_password_403", wrongPassword403},
	{"unknown_vhost_530", unknownVhost530},
	{"update_secret", updateSecret},
	{"priority_order", priorityOrder},
}

func connectionProperties(connection *amqp.Connection, channel *amqp.Channel) {
	equal("RabbitMQ", connection.Properties["product"])
	var major, minor, patch int
	_, err := fmt.Sscanf(connection.Properties["version"].(string), "%d.%d.%d", &major, &minor, &patch)
	check(err)
	capabilities := connection.Properties["capabilities"].(amqp.Table)
	for _, capability := range []string{"publisher_confirms", "basic.nack", "connection.blocked",
		"exchange_exchange_bindings", "consumer_cancel_notify", "authentication_failure_close"} {
		equal(true, capabilities[capability])
	}
	equal(131072, connection.Config.FrameSize)
	equal(2047, connection.Config.ChannelMax)
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
	case returned := <-returns: // It precedes the confirm, so it is here already.
		equal(uint16(312), returned.ReplyCode)
		equal("NO_ROUTE", returned.ReplyText)
		equal("amq.direct", returned.Exchange)
		equal(nameOf("nobody"), returned.RoutingKey)
		equal("m1 lost", returned.MessageId+" "+string(returned.Body))
	default:
		fail("the message was not returned before its confirm")
	}
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
		// The queue has given out all it may: the rest must still lie there.
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

func largeBodies(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	for _, size := range []int{bodyBytesMax - 7, bodyBytesMax} {
		body := bytes.Repeat([]byte("0123456789abcdefg"), size/17+1)[:size]
		publish(channel, "", queue, amqp.Publishing{Body: body})
		if !bytes.Equal(body, nextMessage(channel, queue).Body) {
			fail("a body of %d bytes changed", size)
		}
	}
}

func tooLargeBody406(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	closed := channel.NotifyClose(make(chan *amqp.Error, 1))
	// Writing may fail already, when the broker refuses the message before it has all of it.
	_ = channel.PublishWithContext(context.Background(), "", queue, false, false,
		amqp.Publishing{Body: make([]byte, bodyBytesMax+1)})
	select {
	case err := <-closed:
		expectClose(406, "message size 16777217 is larger than configured max size 16777216", err)
	case <-time.After(patience):
		fail("the channel was not closed")
	}
	checkUsable(connection)
}

func emptyBody(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	publish(channel, "", queue, amqp.Publishing{MessageId: "empty"})
	delivery := nextMessage(channel, queue)
	equal(0, len(delivery.Body))
	equal("empty", delivery.MessageId)
}

func propertiesEcho(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	sent := amqp.Publishing{ContentType: "text/plain", ContentEncoding: "utf-8", DeliveryMode: 2,
		Priority: 7, CorrelationId: "c1", ReplyTo: "r1", Expiration: "600000", MessageId: "m1",
		Timestamp: time.Unix(1700000000, 0), Type: "kind", UserId: "guest", AppId: "app",
		Headers: amqp.Table{"a": int32(1)}, Body: []byte("x")}
	publish(channel, "", queue, sent)
	got := nextMessage(channel, queue)
	equal(sent, amqp.Publishing{ContentType: got.ContentType, ContentEncoding: got.ContentEncoding,
		DeliveryMode: got.DeliveryMode, Priority: got.Priority, CorrelationId: got.CorrelationId,
		ReplyTo: got.ReplyTo, Expiration: got.Expiration, MessageId: got.MessageId,
		Timestamp: got.Timestamp, Type: got.Type, UserId: got.UserId, AppId: got.AppId,
		Headers: got.Headers, Body: got.Body})
}

func headerTypesEcho(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	sent := amqp.Table{"string": "café", "true": true, "false": false, "uint8": byte(200),
		"int8": int8(-5), "int16": int16(-3000), "int32": int32(-123456), "int64": int64(-1 << 40),
		"float": float32(0.5), "double": 0.125, "decimal": amqp.Decimal{Scale: 2, Value: 314},
		"timestamp": time.Unix(1700000000, 0), "bytes": []byte{0, 255, 128}, "void": nil,
		"table": amqp.Table{"inner": amqp.Table{"deep": int32(1)}},
		"array": []interface{}{int32(1), "two", true, nil, amqp.Table{"three": int64(3)}}}
	publish(channel, "", queue, amqp.Publishing{Headers: sent})
	equal(sent, nextMessage(channel, queue).Headers)
}

func manyChannels(connection *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", nil)
	var channels []*amqp.Channel
	for index := 0; index < 200; index++ {
		channels = append(channels, openChannel(connection))
	}
	for index, each := range channels {
		publish(each, "", queue, amqp.Publishing{Body: []byte(fmt.Sprint(index))})
	}
	for index, each := range channels {
		delivery, found, err := each.Get(queue, true)
		check(err)
		equal(true, found)
		equal(fmt.Sprint(index), string(delivery.Body))
		check(each.Close())
	}
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
		equal(fmt.Sprint(next[delivery.AppId]), string(delivery.Body)) // Order holds for each publisher.
		next[delivery.AppId]++
	}
	for number := 0; number < publishers; number++ {
		equal(nil, <-finished)
	}
}

func heartbeatKeepsIdleConnection(_ *amqp.Connection, _ *amqp.Channel) {
	connection, err := amqp.DialConfig(url, amqp.Config{Heartbeat: time.Second, Locale: "en_US"})
	check(err)
	defer connection.Close()
	equal(time.Second, connection.Config.Heartbeat)
	select {
	case lost := <-connection.NotifyClose(make(chan *amqp.Error, 1)):
		fail("the idle connection was lost: %v", lost)
	case <-time.After(3500 * time.Millisecond):
	}
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

func wrongPassword403(_ *amqp.Connection, _ *amqp.Channel) {
	_, err := amqp.Dial(strings.Replace(url, "guest:guest", "guest:wrong", 1))
	equal(amqp.ErrCredentials, err)
}

func unknownVhost530(_ *amqp.Connection, _ *amqp.Channel) {
	_, err := amqp.Dial(url + "no-such-vhost")
	equal(amqp.ErrVhost, err)
}

func updateSecret(connection *amqp.Connection, _ *amqp.Channel) {
	check(connection.UpdateSecret("new-secret", "rotation"))
	checkUsable(connection)
}

func priorityOrder(_ *amqp.Connection, channel *amqp.Channel) {
	queue := declareQueue(channel, "queue", amqp.Table{"x-max-priority": int32(5)})
	for _, priority := range []uint8{1, 5, 3, 5, 0} {
		publish(channel, "", queue, amqp.Publishing{Priority: priority, Body: []byte(fmt.Sprint(priority))})
	}
	equal([]string{"5", "5", "3", "1", "0"}, bodiesIn(channel, queue))
}

func fail(format string, arguments ...interface{}) {
	panic(fmt.Sprintf(format, arguments...))
}

func check(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func equal(expected, actual interface{}) {
	if !reflect.DeepEqual(expected, actual) {
		fail("expected %#v, got %#v", expected, actual)
	}
}

func nameOf(suffix string) string {
	return "clients.go." + suffix
}

func dial() *amqp.Connection {
	connection, err := amqp.Dial(url)
	check(err)
	return connection
}

func openChannel(connection *amqp.Connection) *amqp.Channel {
	channel, err := connection.Channel()
	check(err)
	return channel
}

func declareQueue(channel *amqp.Channel, suffix string, arguments amqp.Table) string {
	name := nameOf(suffix)
	createdQueues = append(createdQueues, name)
	_, err := channel.QueueDelete(name, false, false, false) // An earlier run may have left it behind.
	check(err)
	_, err = channel.QueueDeclare(name, true, false, false, false, arguments)
	check(err)
	return name
}

func declareExchange(channel *amqp.Channel, kind, suffix string, arguments amqp.Table) string {
	name := nameOf(suffix)
	createdExchanges = append(createdExchanges, name)
	check(channel.ExchangeDelete(name, false, false))
	check(channel.ExchangeDeclare(name, kind, true, false, false, false, arguments))
	return name
}

// publish publishes one message and waits for its confirm.
func publish(channel *amqp.Channel, exchange, key string, message amqp.Publishing) {
	if !publishMandatory(channel, exchange, key, message) {
		fail("the message was nacked")
	}
}

// publishMandatory publishes one message and says whether it was acked or nacked. It listens for
// confirms itself: a DeferredConfirmation of version 1.5 waits for ever when the broker is quicker
// than the client's own bookkeeping (amqp091-go issue 182).
func publishMandatory(channel *amqp.Channel, exchange, key string, message amqp.Publishing) bool {
	listener, known := confirmListeners.Load(channel)
	if !known {
		check(channel.Confirm(false))
		listener = channel.NotifyPublish(make(chan amqp.Confirmation, 1))
		confirmListeners.Store(channel, listener)
	}
	check(channel.PublishWithContext(context.Background(), exchange, key, true, false, message))
	select {
	case confirmation, open := <-listener.(chan amqp.Confirmation):
		if !open {
			fail("the channel closed")
		}
		return confirmation.Ack
	case <-time.After(patience):
		fail("no confirm arrived")
	}
	panic("unreachable")
}

// nextMessage waits for one message through a consumer and acknowledges it.
func nextMessage(channel *amqp.Channel, queue string) amqp.Delivery {
	check(channel.Qos(1, 0, false)) // The messages behind it stay in the queue.
	deliveries, err := channel.Consume(queue, "next", false, false, false, false, nil)
	check(err)
	delivery := take(deliveries)
	check(channel.Cancel("next", false))
	check(delivery.Ack(false))
	return delivery
}

func take(deliveries <-chan amqp.Delivery) amqp.Delivery {
	select {
	case delivery, open := <-deliveries:
		if open {
			return delivery
		}
		fail("the consumer ended")
	case <-time.After(patience):
		fail("no message arrived")
	}
	panic("unreachable")
}

func bodiesIn(channel *amqp.Channel, queue string) (found []string) {
	for {
		delivery, ok, err := channel.Get(queue, true)
		check(err)
		if !ok {
			return found
		}
		found = append(found, string(delivery.Body))
	}
}

func inspect(channel *amqp.Channel, queue string) amqp.Queue {
	state, err := channel.QueueInspect(queue)
	check(err)
	return state
}

func expectClose(code int, text string, err error) {
	closed, ok := err.(*amqp.Error)
	if !ok {
		fail("expected a close with %d, got %v", code, err)
	}
	equal(code, closed.Code)
	if !strings.Contains(closed.Reason, text) {
		fail("reply text was %s", closed.Reason)
	}
}

func checkUsable(connection *amqp.Connection) {
	channel := openChannel(connection)
	queue, err := channel.QueueDeclare("", false, false, true, false, nil)
	check(err)
	equal("amq.gen-", queue.Name[:8])
	publish(channel, "", queue.Name, amqp.Publishing{Body: []byte("still alive")})
	equal([]string{"still alive"}, bodiesIn(channel, queue.Name))
	check(channel.Close())
}

func checkDeath(delivery amqp.Delivery, queue, reason, exchange, key string) amqp.Table {
	deaths := delivery.Headers["x-death"].([]interface{})
	equal(1, len(deaths))
	death := deaths[0].(amqp.Table)
	equal(queue, death["queue"])
	equal(reason, death["reason"])
	equal(exchange, death["exchange"])
	equal(int64(1), death["count"])
	equal([]interface{}{key}, death["routing-keys"])
	if age := time.Since(death["time"].(time.Time)); age < -time.Minute || age > time.Minute {
		fail("died %v ago", age)
	}
	equal(queue, delivery.Headers["x-first-death-queue"])
	equal(reason, delivery.Headers["x-first-death-reason"])
	equal(exchange, delivery.Headers["x-first-death-exchange"])
	return death
}

func cleanUp() {
	connection := dial()
	defer connection.Close()
	channel := openChannel(connection)
	for _, queue := range createdQueues {
		_, err := channel.QueueDelete(queue, false, false, false)
		check(err)
	}
	for _, exchange := range createdExchanges {
		check(channel.ExchangeDelete(exchange, false, false))
	}
	createdQueues, createdExchanges = nil, nil
}

func run(test testCase) bool {
	connection := dial()
	defer cleanUp()
	defer connection.Close()
	finished := make(chan interface{}, 1)
	go func() {
		defer func() {
			reason := recover()
			if reason != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s", reason, debug.Stack())
			}
			finished <- reason
		}()
		test.run(connection, openChannel(connection))
	}()
	var reason interface{}
	select {
	case reason = <-finished:
	case <-time.After(caseTimeMax):
		reason = fmt.Sprintf("no end after %v", caseTimeMax)
	}
	if reason != nil {
		fmt.Printf("not ok %s: %v\n", test.name, reason)
		return false
	}
	fmt.Printf("ok %s\n", test.name)
	return true
}

func main() {
	url = fmt.Sprintf("amqp://guest:guest@%s:%s/", os.Args[1], os.Args[2])
	fmt.Printf("1..%d\n", len(cases))
	passed := true
	for _, test := range cases {
		passed = run(test) && passed
	}
	if !passed {
		os.Exit(1)
	}
}
