// Connections: their properties, channels, heartbeats and refused logins.

package main

import (
	"fmt"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var connectionCases = []testCase{
	{"connection_properties", connectionProperties},
	{"many_channels", manyChannels},
	{"heartbeat_keeps_idle_connection", heartbeatKeepsIdleConnection},
	{"wrong_password_403", wrongPassword403},
	{"unknown_vhost_530", unknownVhost530},
	{"update_secret", updateSecret},
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
