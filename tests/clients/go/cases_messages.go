// Messages: bodies of all sizes, properties and headers.

package main

import (
	"bytes"
	"context"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const bodyBytesMax = 16 * 1024 * 1024

var messageCases = []testCase{
	{"large_bodies", largeBodies},
	{"too_large_body_406", tooLargeBody406},
	{"empty_body", emptyBody},
	{"properties_echo", propertiesEcho},
	{"header_types_echo", headerTypesEcho},
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
	// Writing may already fail if the broker refuses the message before it is complete.
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
