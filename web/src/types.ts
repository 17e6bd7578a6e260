// The types of the HTTP API that the pages use. Fields that the broker may omit are optional.
import type { Details } from './parts/chart';

export type Table = Record<string, unknown>;

export interface MessageStats {
  [name: string]: number | Details | undefined;
}
export const statRate = (stats: MessageStats | undefined, name: string): number => ((stats?.[name + '_details'] as Details | undefined)?.rate ?? 0);
export const statDetails = (stats: MessageStats | undefined, name: string) => stats?.[name + '_details'] as Details | undefined;

export interface Listener {
  node: string;
  protocol: string;
  ip_address: string;
  port: number;
}

export interface Overview {
  cluster_name: string;
  node?: string;
  product_version: string;
  rabbitmq_version: string;
  message_stats?: MessageStats;
  queue_totals: MessageStats;
  churn_rates: MessageStats;
  object_totals: { connections: number; channels: number; exchanges: number; queues: number; consumers: number };
  listeners?: Listener[];
  exchange_types: { name: string; description: string }[];
  is_op_policy_updating_enabled: boolean;
  default_queue_type?: string;
}

export type Deaths = Record<string, Record<string, number>>; // reason → outcome → number

export interface DeadLetterSource {
  vhost: string;
  name: string;
  reason: string;
  deaths: number;
  dropped: number;
  outcomes: Record<string, number>;
  rate: number;
  dead_letter_exchange: string | null;
  dead_letter_routing_key: string | null;
  problem: string | null;
  targets: string[];
  target_messages: number[]; // per target
}

export interface DeadLetterSummary {
  since: number;
  deaths: Deaths;
  deaths_details: Record<string, Details>;
  accounts: { entered: number; ended: number; present: number };
  targets: { queues: number; messages: number; unattended: number; oldest: number | null };
  problems: { exchange_missing: number; no_route: number };
  sources: number; // queues in which messages died
  top: DeadLetterSource[];
}

export interface DeadLetterQueue {
  vhost: string;
  name: string;
  type: string;
  messages: number;
  messages_ready: number;
  message_bytes: number;
  consumers: number;
  oldest: number | null;
  sources: string[];
  source_count: number;
  deaths: Record<string, number>; // dead-lettered deaths of its sources, by reason
  rests: boolean; // false: the queue has its own dead-letter exchange
}

export interface DeadLetterExchange {
  vhost: string;
  name: string;
  exists: boolean;
  sources: string[];
  source_count: number;
  died: number;
}

export interface DeathPath {
  dead_letter_exchange: string | null;
  dead_letter_routing_key: string | null;
  exchange_type: string | null;
  problem: string | null; // exchange_missing, no_route
  targets: string[];
}

export interface QueueDeaths extends DeathPath {
  deaths: Deaths;
  deaths_details: Record<string, Details>;
  fed_by: { name: string; deaths: Record<string, number> }[];
  oldest: number | null;
}

export interface Queue {
  name: string;
  vhost: string;
  type: string;
  node?: string;
  state: string;
  durable: boolean;
  auto_delete: boolean;
  exclusive: boolean;
  arguments: Table;
  policy: string | null;
  operator_policy: string | null;
  effective_policy_definition: Table;
  messages: number;
  messages_ready: number;
  messages_unacknowledged: number;
  messages_persistent?: number;
  messages_ram?: number;
  messages_paged_out?: number;
  messages_delayed?: number;
  messages_parked: number;
  message_bytes_parked: number;
  messages_dlx?: number;
  message_bytes: number;
  message_bytes_ready?: number;
  message_bytes_unacknowledged?: number;
  message_bytes_persistent?: number;
  message_bytes_ram?: number;
  memory: number;
  consumers: number;
  consumer_capacity?: number;
  deaths: Record<string, number>;
  head_message_timestamp?: number | null;
  idle_since?: string;
  message_stats?: MessageStats;
  consumer_details?: Consumer[];
  owner_pid_details?: { name: string };
  single_active_consumer_tag?: string | null;
  exclusive_consumer_tag?: string | null;
  delivery_limit?: number;
  leader?: string;
  messages_details?: Details;
  messages_ready_details?: Details;
  messages_unacknowledged_details?: Details;
}

export interface Parked {
  level: number;
  sequence: number;
  unit: 'message' | 'page';
  messages: number;
  message_bytes: number;
  reason: string;
}

export interface Consumer {
  consumer_tag: string;
  queue: { name: string; vhost: string };
  channel_details: { name?: string; connection_name?: string; peer_host?: string; peer_port?: number; user?: string };
  ack_required: boolean;
  exclusive: boolean;
  active: boolean;
  activity_status: string;
  prefetch_count: number;
  consumer_timeout?: number;
  arguments: Table;
}

export interface Exchange {
  name: string;
  vhost: string;
  type: string;
  durable: boolean;
  auto_delete: boolean;
  internal: boolean;
  arguments: Table;
  policy?: string | null;
  message_stats?: MessageStats;
}

export interface Binding {
  source: string;
  vhost: string;
  destination: string;
  destination_type: 'queue' | 'exchange';
  routing_key: string;
  arguments: Table;
  properties_key: string;
}

export interface Connection {
  name: string;
  vhost: string;
  user: string;
  node: string;
  protocol: string;
  state: string;
  ssl: boolean;
  ssl_protocol?: string;
  ssl_cipher?: string;
  peer_cert_subject?: string;
  channels: number;
  channel_max: number;
  frame_max: number;
  timeout: number;
  auth_mechanism: string;
  connected_at: number;
  client_properties: Table;
  user_provided_name?: string;
  container_id?: string;
  host: string;
  port: number;
  peer_host: string;
  peer_port: number;
  recv_oct: number;
  send_oct: number;
  recv_oct_details?: Details;
  send_oct_details?: Details;
  recv_cnt: number;
  send_cnt: number;
}

export interface Channel {
  name: string;
  number: number;
  vhost: string;
  user: string;
  state: string;
  confirm: boolean;
  transactional: boolean;
  consumer_count: number;
  prefetch_count: number;
  global_prefetch_count: number;
  messages_unacknowledged: number;
  messages_unconfirmed: number;
  messages_uncommitted: number;
  acks_uncommitted: number;
  connection_details: { name: string };
  idle_since?: string;
  message_stats?: MessageStats;
  consumer_details?: Consumer[];
}

export interface Policy {
  vhost: string;
  name: string;
  pattern: string;
  'apply-to': string;
  definition: Table;
  priority: number;
}

export interface Node {
  name: string;
  running: boolean;
  uptime: number;
  os_pid: string;
  processors: number;
  mem_used: number;
  mem_limit: number;
  mem_alarm: boolean;
  disk_free: number;
  disk_free_limit: number;
  disk_free_alarm: boolean;
  fd_used: number;
  fd_total: number;
  sockets_used: number;
  sockets_total: number;
  proc_used: number;
  proc_total: number;
  db_dir: string;
  config_files: string[];
  log_files: string[];
  rates_mode: string;
  [name: string]: unknown;
}
