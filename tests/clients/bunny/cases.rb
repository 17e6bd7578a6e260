#!/usr/bin/ruby
# AMQP 0-9-1 cases, written as users of bunny write them. Usage: cases.rb HOST PORT
# frozen_string_literal: true

require 'bunny'

HOST = ARGV[0]
PORT = Integer(ARGV[1])
PATIENCE_SECONDS = 10
CASE_SECONDS_MAX = 20
BODY_BYTES_MAX = 16 * 1024 * 1024
CASES = {}
CREATED_QUEUES = []
CREATED_EXCHANGES = []

# A case is a block that gets a fresh connection and a channel on it.
def test(name, &block)
  CASES[name] = block
end

def connect(**options)
  Bunny.new(host: HOST, port: PORT, automatically_recover: false, log_level: :fatal,
            continuation_timeout: PATIENCE_SECONDS * 1000, **options).start
end

def name_of(suffix)
  "clients.bunny.#{suffix}"
end

def declare_queue(channel, suffix = 'queue', **arguments)
  name = name_of(suffix)
  CREATED_QUEUES << name
  channel.queue_delete(name) # An interrupted run may have left it.
  channel.queue(name, durable: true, arguments: arguments.transform_keys { |key| dashed(key) })
end

def declare_exchange(channel, type, suffix = 'exchange', **arguments)
  name = name_of(suffix)
  CREATED_EXCHANGES << name
  channel.exchange_delete(name)
  channel.exchange(name, type: type, durable: true,
                         arguments: arguments.transform_keys { |key| dashed(key) })
end

def dashed(key)
  key.to_s.tr('_', '-')
end

def dead_letter_to(queue)
  { x_dead_letter_exchange: '', x_dead_letter_routing_key: queue.name }
end

# Publishes one message and waits for its confirm.
def publish(exchange, body, **options)
  exchange.channel.confirm_select unless exchange.channel.using_publisher_confirmations?
  exchange.publish(body, **options)
  check(exchange.channel.wait_for_confirms, 'the message was nacked')
end

def send_to(queue, body, **options)
  publish(queue.channel.default_exchange, body, routing_key: queue.name, **options)
end

# Waits for one message through a consumer and acknowledges it.
def next_message(queue)
  deliveries = Queue.new
  queue.channel.prefetch(1) # The following messages stay in the queue.
  consumer = queue.subscribe(manual_ack: true) { |*delivery| deliveries << delivery }
  delivery = take(deliveries, "a message arrives in #{queue.name}")
  consumer.cancel
  queue.channel.ack(delivery[0].delivery_tag)
  delivery
end

def take(deliveries, what)
  Timeout.timeout(PATIENCE_SECONDS, RuntimeError, "waited in vain until #{what}") { deliveries.pop }
end

def bodies_in(queue)
  found = []
  while (body = queue.pop[2])
    found << body
  end
  found
end

def check(condition, otherwise)
  raise otherwise unless condition
end

def equal(expected, actual)
  raise "expected #{expected.inspect}, got #{actual.inspect}" unless expected == actual
end

# The block makes the broker close the channel with this error; the connection survives.
def expect_close(error_class, text)
  yield
rescue Bunny::ChannelLevelException => error
  equal(error_class, error.class)
  check(error.message.include?(text), "reply text was #{error.message}")
else
  raise "no #{error_class}"
end

# The error of a publish arrives asynchronously: the next operation on the channel raises it.
def expect_refused_publish(text)
  yield
rescue Bunny::ChannelLevelException, Bunny::ChannelAlreadyClosed => error
  check(error.message.include?(text), "reply text was #{error.message}")
else
  raise 'the message was accepted'
end

def check_usable(connection)
  connection.with_channel do |channel|
    queue = channel.queue('', exclusive: true)
    check(queue.name.start_with?('amq.gen-'), queue.name)
    send_to(queue, 'still alive')
    equal(['still alive'], bodies_in(queue))
  end
end

def check_death(properties, queue, reason, exchange, routing_keys)
  equal(1, properties.headers['x-death'].size)
  death = properties.headers['x-death'][0]
  age = Time.now - death['time']
  check(age.abs < 60, "died #{age} s ago")
  expected = { 'queue' => queue.name, 'reason' => reason, 'exchange' => exchange, 'count' => 1,
               'routing-keys' => routing_keys }
  equal(expected, death.reject { |key, _| %w[time original-expiration].include?(key) })
  equal([queue.name, reason, exchange],
        %w[queue reason exchange].map { |key| properties.headers["x-first-death-#{key}"] })
  death
end

test 'connection_properties' do |connection|
  properties = connection.server_properties
  check(properties['product'] == 'RabbitMQ', 'product')
  check(properties['version'].match?(/\A\d+\.\d+\.\d+/), properties['version'])
  %w[publisher_confirms basic.nack consumer_cancel_notify exchange_exchange_bindings
     connection.blocked authentication_failure_close].each do |capability|
    equal(true, properties['capabilities'][capability])
  end
  equal(131_072, connection.frame_max)
end

test 'bind_direct' do |_, channel|
  exchange = declare_exchange(channel, :direct)
  queue = declare_queue(channel).bind(exchange, routing_key: 'wanted')
  publish(exchange, '1', routing_key: 'other')
  publish(exchange, '2', routing_key: 'wanted')
  delivery, _, body = next_message(queue)
  equal([exchange.name, 'wanted', '2'], [delivery.exchange, delivery.routing_key, body])
end

test 'bind_topic' do |_, channel|
  exchange = declare_exchange(channel, :topic)
  one_word = declare_queue(channel, 'one_word').bind(exchange, routing_key: 'order.*.paid')
  any_words = declare_queue(channel, 'any_words').bind(exchange, routing_key: 'order.#')
  %w[order.eu.paid order.eu.north.paid order invoice.eu.paid].each do |key|
    publish(exchange, key, routing_key: key)
  end
  equal(%w[order.eu.paid], bodies_in(one_word))
  equal(%w[order.eu.paid order.eu.north.paid order], bodies_in(any_words))
end

test 'bind_fanout' do |_, channel|
  exchange = declare_exchange(channel, :fanout)
  queues = %w[copy_1 copy_2 copy_3].map { |suffix| declare_queue(channel, suffix).bind(exchange) }
  publish(exchange, 'news', routing_key: 'ignored')
  equal([['news']] * 3, queues.map { |queue| bodies_in(queue) })
end

test 'bind_headers' do |_, channel|
  exchange = declare_exchange(channel, :headers)
  both = declare_queue(channel, 'both')
  either = declare_queue(channel, 'either')
  both.bind(exchange, arguments: { 'x-match' => 'all', 'kind' => 'pdf', 'pages' => 2 })
  either.bind(exchange, arguments: { 'x-match' => 'any', 'kind' => 'pdf', 'pages' => 2 })
  publish(exchange, '1', headers: { 'kind' => 'pdf', 'pages' => 2 })
  publish(exchange, '2', headers: { 'kind' => 'pdf' })
  publish(exchange, '3', headers: { 'kind' => 'txt' })
  equal(['1'], bodies_in(both))
  equal(%w[1 2], bodies_in(either))
end

test 'bind_exchange_to_exchange' do |_, channel|
  source = declare_exchange(channel, :topic, 'source')
  destination = declare_exchange(channel, :fanout, 'destination').bind(source, routing_key: 'a.#')
  queue = declare_queue(channel).bind(destination)
  publish(source, 'through', routing_key: 'a.b')
  destination.unbind(source, routing_key: 'a.#')
  publish(source, 'cut off', routing_key: 'a.b')
  equal(['through'], bodies_in(queue))
end

test 'alternate_exchange' do |_, channel|
  fallback = declare_exchange(channel, :fanout, 'fallback')
  exchange = declare_exchange(channel, :direct, alternate_exchange: fallback.name)
  queue = declare_queue(channel).bind(fallback)
  publish(exchange, 'stray', routing_key: 'nobody')
  equal(['stray'], bodies_in(queue))
end

test 'cc_and_bcc' do |_, channel|
  to, copy, blind = %w[to cc bcc].map { |suffix| declare_queue(channel, suffix) }
  send_to(to, 'memo', headers: { 'CC' => [copy.name], 'BCC' => [blind.name] })
  [to, copy, blind].each do |queue|
    delivery, properties, = queue.pop
    equal([to.name, { 'CC' => [copy.name] }], [delivery.routing_key, properties.headers])
  end
end

test 'confirms_one_by_one' do |_, channel|
  queue = declare_queue(channel)
  100.times { |index| send_to(queue, index.to_s, persistent: true) }
  equal((0...100).map(&:to_s), bodies_in(queue))
end

test 'confirms_of_a_burst' do |connection, channel|
  count = 5000
  queue = declare_queue(channel)
  channel.confirm_select
  count.times { |index| queue.publish(index.to_s, persistent: true) }
  check(channel.wait_for_confirms, 'some messages were nacked')
  equal(0, channel.unconfirmed_set.size)
  equal(count, queue.message_count)
  received = Queue.new
  consumer = connection.create_channel
  consumer.queue(queue.name, passive: true).subscribe { |_, _, body| received << body }
  equal((0...count).map(&:to_s), count.times.map { take(received, 'all messages arrive') })
end

test 'reject_publish_is_nacked' do |_, channel|
  queue = declare_queue(channel, x_max_length: 1, x_overflow: 'reject-publish')
  send_to(queue, 'fits')
  queue.publish('does not fit')
  check(!channel.wait_for_confirms, 'the message beyond the limit was not nacked')
  equal(1, channel.nacked_set.size)
end

test 'mandatory_return' do |_, channel|
  exchange = channel.direct('amq.direct', durable: true)
  returned = []
  exchange.on_return { |*message| returned << message }
  publish(exchange, 'lost', routing_key: name_of('nobody'), mandatory: true, message_id: 'm1')
  info, properties, body = returned.fetch(0) # The return precedes the confirm, so it has arrived.
  equal([312, 'NO_ROUTE'], [info.reply_code, info.reply_text])
  equal(['amq.direct', name_of('nobody')], [info.exchange, info.routing_key])
  equal(%w[m1 lost], [properties.message_id, body])
end

test 'consume_with_prefetch' do |connection, channel|
  count = 20
  prefetch = 3
  queue = declare_queue(channel)
  count.times { |index| send_to(queue, index.to_s) }
  consumer = connection.create_channel
  consumer.prefetch(prefetch)
  received = Queue.new
  consumer.queue(queue.name, passive: true).subscribe(manual_ack: true) { |*each| received << each }
  unacked = []
  index = 0
  while index < count
    while unacked.size < prefetch && index < count
      unacked << take(received, 'the window is full')
      equal(index.to_s, unacked.last[2])
      index += 1
    end
    # The prefetch limit is reached, so the other messages must still be in the queue.
    equal(count - index, queue.message_count)
    equal(0, received.size)
    consumer.ack(unacked.shift[0].delivery_tag)
  end
  consumer.ack(unacked.last[0].delivery_tag, true)
  consumer.close
  equal(0, queue.message_count)
end

test 'get_and_empty_get' do |_, channel|
  queue = declare_queue(channel)
  equal([nil, nil, nil], queue.pop)
  send_to(queue, 'first')
  send_to(queue, 'second')
  delivery, _, body = queue.pop(manual_ack: true)
  equal(['first', false, 1], [body, delivery.redelivered?, queue.message_count])
  channel.ack(delivery.delivery_tag)
  equal(['second'], bodies_in(queue))
end

test 'nack_requeues' do |_, channel|
  queue = declare_queue(channel)
  send_to(queue, 'again')
  delivery, = queue.pop(manual_ack: true)
  equal(false, delivery.redelivered?)
  channel.nack(delivery.delivery_tag, false, true)
  delivery, _, body = next_message(queue)
  equal([true, 'again'], [delivery.redelivered?, body])
end

test 'recover_requeues' do |_, channel|
  queue = declare_queue(channel)
  send_to(queue, 'again')
  queue.pop(manual_ack: true)
  channel.basic_recover(true)
  equal(true, next_message(queue)[0].redelivered?)
end

test 'reject_dead_letters' do |_, channel|
  dead_letter_exchange = declare_exchange(channel, :fanout, 'dlx')
  dead = declare_queue(channel, 'dead').bind(dead_letter_exchange)
  exchange = declare_exchange(channel, :direct)
  queue = declare_queue(channel, x_dead_letter_exchange: dead_letter_exchange.name)
  queue.bind(exchange, routing_key: 'work')
  publish(exchange, 'poison', routing_key: 'work', headers: { 'tenant' => 'blue' })
  channel.reject(queue.pop(manual_ack: true)[0].delivery_tag, false)
  delivery, properties, body = next_message(dead)
  equal([dead_letter_exchange.name, 'work'], [delivery.exchange, delivery.routing_key])
  equal(%w[poison blue], [body, properties.headers['tenant']])
  check_death(properties, queue, 'rejected', exchange.name, ['work'])
end

test 'expired_message_dead_letters' do |_, channel|
  dead = declare_queue(channel, 'dead')
  queue = declare_queue(channel, **dead_letter_to(dead))
  send_to(queue, 'late', expiration: 50)
  _, properties, = next_message(dead)
  death = check_death(properties, queue, 'expired', '', [queue.name])
  equal('50', death['original-expiration'])
  equal(nil, properties.expiration)
end

test 'overflow_dead_letters' do |_, channel|
  dead = declare_queue(channel, 'dead')
  queue = declare_queue(channel, x_max_length: 2, **dead_letter_to(dead))
  %w[1 2 3].each { |body| send_to(queue, body) }
  _, properties, body = next_message(dead)
  equal('1', body)
  check_death(properties, queue, 'maxlen', '', [queue.name])
  equal(%w[2 3], bodies_in(queue))
end

test 'client_cancels_consumer' do |_, channel|
  queue = declare_queue(channel)
  consumer = queue.subscribe { |*| nil }
  equal(1, queue.consumer_count)
  consumer.cancel
  equal(0, queue.consumer_count)
end

test 'broker_cancels_consumer' do |connection, channel|
  queue = declare_queue(channel)
  cancelled = Queue.new
  queue.subscribe(consumer_tag: 'doomed',
                  on_cancellation: ->(method) { cancelled << method.consumer_tag }) { |*| nil }
  connection.create_channel.queue_delete(queue.name)
  equal('doomed', take(cancelled, 'the consumer is cancelled'))
  check(channel.open?, 'the channel must stay open')
end

test 'transaction_commit' do |connection, channel|
  queue = declare_queue(channel)
  channel.tx_select
  %w[1 2].each { |body| queue.publish(body) }
  equal(0, queue.message_count)
  channel.tx_commit
  equal(%w[1 2], bodies_in(connection.create_channel.queue(queue.name, passive: true)))
end

test 'transaction_rollback' do |connection, channel|
  queue = declare_queue(channel)
  observer = connection.create_channel.queue(queue.name, passive: true)
  send_to(observer, 'kept')
  channel.tx_select
  queue.publish('discarded')
  channel.ack(queue.pop(manual_ack: true)[0].delivery_tag)
  channel.tx_rollback
  channel.close
  equal(['kept'], bodies_in(observer))
end

test 'missing_queue_404' do |connection, channel|
  expect_close(Bunny::NotFound, "no queue '#{name_of('missing')}' in vhost '/'") do
    channel.queue(name_of('missing'), passive: true)
  end
  equal(false, connection.queue_exists?(name_of('missing')))
  check_usable(connection)
end

test 'inequivalent_argument_406' do |connection, channel|
  queue = declare_queue(channel, x_message_ttl: 60_000)
  expect_close(Bunny::PreconditionFailed,
               "inequivalent arg 'x-message-ttl' for queue '#{queue.name}' in vhost '/'") do
    connection.create_channel.queue(queue.name, durable: true)
  end
  check_usable(connection)
end

test 'reserved_name_403' do |connection, channel|
  expect_close(Bunny::AccessRefused, "contains reserved prefix 'amq.*'") do
    channel.fanout('amq.clients.bunny', durable: true)
  end
  check_usable(connection)
end

test 'publish_to_missing_exchange_404' do |connection, channel|
  expect_refused_publish("NOT_FOUND - no exchange '#{name_of('missing')}' in vhost '/'") do
    channel.basic_publish('x', name_of('missing'), 'key')
    channel.queue('', exclusive: true)
  end
  check_usable(connection)
end

test 'unknown_delivery_tag_406' do |connection, channel|
  closes = Queue.new
  channel.on_error { |_, close| closes << close }
  channel.basic_ack(77, false)
  close = take(closes, 'the channel is closed')
  equal([406, 'PRECONDITION_FAILED - unknown delivery tag 77'],
        [close.reply_code, close.reply_text])
  check_usable(connection)
end

test 'exclusive_queue_405' do |connection, channel|
  queue = channel.queue(name_of('exclusive'), exclusive: true)
  second = connect
  expect_close(Bunny::ResourceLocked,
               "cannot obtain exclusive access to locked queue '#{queue.name}'") do
    second.create_channel.queue(queue.name, exclusive: true)
  end
  connection.close
  equal(false, second.queue_exists?(queue.name))
  second.close
end

test 'large_bodies' do |_, channel|
  queue = declare_queue(channel)
  [BODY_BYTES_MAX - 7, BODY_BYTES_MAX].each do |size|
    body = Random.new(size).bytes(size)
    send_to(queue, body)
    check(next_message(queue)[2] == body, "a body of #{size} bytes changed")
  end
end

test 'too_large_body_406' do |connection, channel|
  queue = declare_queue(channel)
  expect_refused_publish('PRECONDITION_FAILED - message size 16777217 is larger than ' \
                         'configured max size 16777216') do
    queue.publish('x' * (BODY_BYTES_MAX + 1))
    queue.message_count
  end
  check_usable(connection)
end

test 'empty_body' do |_, channel|
  queue = declare_queue(channel)
  send_to(queue, '', message_id: 'empty')
  _, properties, body = next_message(queue)
  equal(['empty', ''], [properties.message_id, body])
end

test 'properties_echo' do |_, channel|
  queue = declare_queue(channel)
  sent = { content_type: 'text/plain', content_encoding: 'utf-8', priority: 7, app_id: 'app',
           correlation_id: 'c1', reply_to: 'r1', expiration: '600000', message_id: 'm1',
           timestamp: 1_700_000_000, type: 'kind', user_id: 'guest',
           headers: { 'a' => 1 } }
  send_to(queue, 'x', persistent: true, **sent)
  properties = next_message(queue)[1]
  equal({ **sent, timestamp: Time.at(1_700_000_000), delivery_mode: 2 }.sort,
        properties.to_hash.sort)
end

test 'header_types_echo' do |_, channel|
  queue = declare_queue(channel)
  sent = { 'string' => 'café'.b, 'true' => true, 'false' => false, 'integer' => -(2**40),
           'double' => 0.125, 'time' => Time.at(1_700_000_000), 'void' => nil,
           'table' => { 'inner' => { 'deep' => 1 } },
           'array' => [1, 'two', true, 2.5, { 'three' => 3 }, [4]] }
  send_to(queue, 'x', headers: sent)
  equal(sent, next_message(queue)[1].headers)
end

test 'many_channels' do |connection, channel|
  queue = declare_queue(channel)
  channels = Array.new(200) { connection.create_channel }
  channels.each_with_index do |each, index|
    publish(each.default_exchange, index.to_s, routing_key: queue.name)
  end
  received = channels.map { |each| each.basic_get(queue.name, manual_ack: false)[2] }
  equal((0...200).map(&:to_s), received)
  channels.each(&:close)
end

test 'heartbeat_keeps_idle_connection' do
  connection = connect(heartbeat: 1)
  equal(1, connection.heartbeat)
  sleep 3.5 # The connection must be idle; bunny checks the broker's heartbeats in the meantime.
  check(connection.open?, 'the idle connection was lost')
  check_usable(connection)
  connection.close
end

test 'direct_reply_to' do |connection, channel|
  queue = declare_queue(channel)
  server = connection.create_channel
  server.queue(queue.name, passive: true).subscribe do |_, request, body|
    server.default_exchange.publish("#{body} pong", routing_key: request.reply_to,
                                                    correlation_id: request.correlation_id)
  end
  replies = Queue.new
  channel.basic_consume('amq.rabbitmq.reply-to', '', true) do |_, properties, body|
    replies << [properties.correlation_id, body]
  end
  queue.publish('ping', reply_to: 'amq.rabbitmq.reply-to', correlation_id: 'call-1')
  equal(['call-1', 'ping pong'], take(replies, 'the reply arrives'))
end

test 'wrong_password_403' do
  connect(password: 'wrong')
  raise 'the broker let us in'
rescue Bunny::AuthenticationFailureError => error
  equal('guest', error.username)
end

test 'unknown_vhost_530' do
  connect(vhost: 'no-such-vhost')
  raise 'the broker opened a vhost that does not exist'
rescue Bunny::NotAllowedError => error
  check(error.message.include?('vhost no-such-vhost not found'), error.message)
end

test 'priority_order' do |_, channel|
  queue = declare_queue(channel, x_max_priority: 5)
  [1, 5, 3, 5, 0].each { |priority| send_to(queue, priority.to_s, priority: priority) }
  equal(%w[5 5 3 1 0], bodies_in(queue))
end

def clean_up
  connection = connect
  channel = connection.create_channel
  channel.queue_delete(CREATED_QUEUES.pop) until CREATED_QUEUES.empty?
  channel.exchange_delete(CREATED_EXCHANGES.pop) until CREATED_EXCHANGES.empty?
  connection.close
end

# A failed case may leave a connection that cannot be closed normally.
def close_quietly(connection)
  connection.close if connection&.open?
rescue StandardError
  nil
end

def run(name, block)
  connection = connect
  Timeout.timeout(CASE_SECONDS_MAX) { block.call(connection, connection.create_channel) }
  puts "ok #{name}"
  true
rescue StandardError => error
  warn error.full_message(highlight: false)
  puts "not ok #{name}: #{error.message.tr("\n", ' ')}"
  false
ensure
  close_quietly(connection)
  clean_up
end

$stdout.sync = true
puts "1..#{CASES.size}"
exit(CASES.map { |name, block| run(name, block) }.all?)
