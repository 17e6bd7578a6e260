// The client of the cases: connections, declarations, messages and expected closes.

package main

import (
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
	patience    = 10 * time.Second
	caseTimeMax = 20 * time.Second
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
	_, err := channel.QueueDelete(name, false, false, false) // An interrupted run may have left it.
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

// publishMandatory publishes one message and returns whether it was acked or nacked. It listens for
// confirms itself: a DeferredConfirmation of version 1.5 waits forever if the broker is faster
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
	check(channel.Qos(1, 0, false)) // The following messages stay in the queue.
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
