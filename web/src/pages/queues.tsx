// All queues: features, depth, rates, and a form for a new queue.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api, at } from '../api';
import { Icon } from '../icons';
import { count, plural, visible, bytes } from '../format';
import { changeQuery, place, queueLink } from '../router';
import { retryAll, useResource } from '../resource';
import { chosenVhost, may } from '../session';
import { PageHead } from '../parts/card';
import { ask, Dialog } from '../parts/dialog';
import { Check, Pairs, pairsToObject, SelectField, TextField, type Pair } from '../parts/form';
import { Badge, Name, Num, PolicyBadge, Rate, StateDot, Time } from '../parts/marks';
import { State } from '../parts/states';
import { PagedTable, type Column } from '../parts/table';
import { say } from '../parts/toast';
import { statRate, type DeadLetterQueue, type Policy, type Queue, type Table } from '../types';

interface Feature {
  letters: string;
  title: string;
  argument?: string;
  policy?: string;
  deadLetter?: boolean;
}
export const features: Feature[] = [
  { letters: 'DLX', title: 'dead-letter exchange', argument: 'x-dead-letter-exchange', policy: 'dead-letter-exchange', deadLetter: true },
  { letters: 'DLK', title: 'dead-letter routing key', argument: 'x-dead-letter-routing-key', policy: 'dead-letter-routing-key', deadLetter: true },
  { letters: 'TTL', title: 'message TTL', argument: 'x-message-ttl', policy: 'message-ttl' },
  { letters: 'Exp', title: 'the queue itself expires when unused', argument: 'x-expires', policy: 'expires' },
  { letters: 'Lim', title: 'length limit', argument: 'x-max-length', policy: 'max-length' },
  { letters: 'Lim B', title: 'limit in bytes', argument: 'x-max-length-bytes', policy: 'max-length-bytes' },
  { letters: 'Ovfl', title: 'overflow behaviour', argument: 'x-overflow', policy: 'overflow' },
  { letters: 'DLim', title: 'delivery limit', argument: 'x-delivery-limit', policy: 'delivery-limit' },
  { letters: 'Pri', title: 'priorities', argument: 'x-max-priority' },
  { letters: 'SAC', title: 'single active consumer', argument: 'x-single-active-consumer' },
];

export function Features({ queue, operatorKeys }: { queue: Queue; operatorKeys?: Table }): JSX.Element {
  const known = (feature: Feature): JSX.Element | null => {
    const asked = feature.argument ? queue.arguments[feature.argument] : undefined;
    const policed = feature.policy ? queue.effective_policy_definition?.[feature.policy] : undefined;
    if (asked === undefined && policed === undefined) return null;
    const byOperator = policed !== undefined && operatorKeys !== undefined && feature.policy! in operatorKeys;
    const source = byOperator ? 'operator policy' : asked !== undefined ? 'argument' : 'policy';
    const value = asked ?? policed;
    const kind = `${feature.deadLetter ? 'badge-dl' : ''} ${byOperator ? 'badge-oppol' : asked !== undefined ? '' : 'badge-policy'}`;
    return <Badge key={feature.letters} kind={kind} title={`${feature.title}: ${visible(String(value))}, by ${source}`}>{feature.letters}</Badge>;
  };
  return (
    <span class="badges">
      {queue.durable && <Badge title="durable">D</Badge>}
      {queue.auto_delete && <Badge title="deleted when the last consumer leaves">AD</Badge>}
      {queue.exclusive && <Badge title="exclusive to one connection">Excl</Badge>}
      {features.map(known)}
      {queue.policy && <PolicyBadge vhost={queue.vhost} name={queue.policy} />}
      {queue.operator_policy && <PolicyBadge vhost={queue.vhost} name={queue.operator_policy} operator />}
    </span>
  );
}

/** A queue without consumers and without traffic is idle. */
export function shownState(queue: Queue): string {
  if (queue.state !== 'running') return queue.state;
  return queue.idle_since && statRate(queue.message_stats, 'publish') === 0 && queue.consumers === 0 ? 'idle' : 'running';
}

export const died = (queue: Queue) => Object.values(queue.deaths ?? {}).reduce((sum, one) => sum + one, 0);

type Operators = Map<string, Table>; // definitions by virtual host and name
const keyOf = (one: { vhost: string; name: string }) => `${one.vhost} ${one.name}`;

const deadLetters = (queue: Queue, rests: Rests) => (rests.has(keyOf(queue)) ? queue.messages : 0);
type Rests = Set<string>; // target queues of dead letters, by virtual host and name

const columnsWith = (operators: Operators, rests: Rests): Column<Queue>[] => [
  { id: 'name', title: 'Name', sort: 'name', value: (queue) => queue.name, cell: (queue) => <Name text={queue.name} href={queueLink(queue.vhost, queue.name)} sub={`${queue.type}, ${plural(queue.consumers, 'consumer')}${died(queue) ? `, ${count(died(queue))} died` : ''}${queue.messages_parked ? `, ${count(queue.messages_parked)} parked` : ''}`} /> },
  { id: 'vhost', title: 'Virtual host', sort: 'vhost', w: 2, off: true, value: (queue) => queue.vhost, cell: (queue) => visible(queue.vhost) },
  { id: 'type', title: 'Type', sort: 'type', w: 3, value: (queue) => queue.type, cell: (queue) => queue.type },
  { id: 'features', title: 'Features', w: 1, value: (queue) => [queue.durable ? 'D' : '', ...features.filter((one) => (one.argument && one.argument in queue.arguments) || (one.policy && one.policy in (queue.effective_policy_definition ?? {}))).map((one) => one.letters)].join(' ').trim(), cell: (queue) => <Features queue={queue} operatorKeys={queue.operator_policy ? operators.get(keyOf({ vhost: queue.vhost, name: queue.operator_policy })) : undefined} /> },
  { id: 'policy', title: 'Policy', sort: 'policy', w: 3, off: true, value: (queue) => queue.policy ?? '', cell: (queue) => (queue.policy ? <PolicyBadge vhost={queue.vhost} name={queue.policy} /> : <span class="zero">–</span>) },
  { id: 'state', title: 'State', sort: 'state', w: 2, value: shownState, cell: (queue) => <StateDot state={shownState(queue)} /> },
  { id: 'ready', title: 'Ready', sort: 'messages_ready', num: true, group: 'Messages', value: (queue) => queue.messages_ready, cell: (queue) => <Num value={queue.messages_ready} /> },
  { id: 'unacked', title: 'Unacked', sort: 'messages_unacknowledged', num: true, w: 2, group: 'Messages', value: (queue) => queue.messages_unacknowledged, cell: (queue) => <Num value={queue.messages_unacknowledged} /> },
  { id: 'parked', title: 'Parked', sort: 'messages_parked', num: true, w: 1, off: true, calls: (queue) => queue.messages_parked > 0, group: 'Messages', value: (queue) => queue.messages_parked, cell: (queue) => <Num value={queue.messages_parked} dead /> },
  { id: 'total', title: 'Total', sort: 'messages', num: true, w: 1, group: 'Messages', value: (queue) => queue.messages, cell: (queue) => <Num value={queue.messages} strong /> },
  { id: 'dead', title: 'Dead letters', num: true, group: 'Messages', value: (queue) => deadLetters(queue, rests), cell: (queue) => <Num value={deadLetters(queue, rests)} dead /> },
  { id: 'bytes', title: 'Bytes', sort: 'message_bytes', num: true, w: 3, off: true, group: 'Messages', value: (queue) => queue.message_bytes, cell: (queue) => bytes(queue.message_bytes) },
  { id: 'died', title: 'Died', num: true, w: 1, value: died, cell: (queue) => <Num value={died(queue)} dead /> },
  { id: 'rejected', title: 'Rejected', sort: 'deaths.rejected', num: true, w: 3, off: true, group: 'Died', value: (queue) => queue.deaths?.rejected, cell: (queue) => <Num value={queue.deaths?.rejected} /> },
  { id: 'expired', title: 'Expired', sort: 'deaths.expired', num: true, w: 3, off: true, group: 'Died', value: (queue) => queue.deaths?.expired, cell: (queue) => <Num value={queue.deaths?.expired} /> },
  { id: 'maxlen', title: 'Maxlen', sort: 'deaths.maxlen', num: true, w: 3, off: true, group: 'Died', value: (queue) => queue.deaths?.maxlen, cell: (queue) => <Num value={queue.deaths?.maxlen} /> },
  { id: 'limit', title: 'Delivery limit', sort: 'deaths.delivery_limit', num: true, w: 3, off: true, group: 'Died', value: (queue) => queue.deaths?.delivery_limit, cell: (queue) => <Num value={queue.deaths?.delivery_limit} /> },
  { id: 'incoming', title: 'Incoming', sort: 'message_stats.publish_details.rate', num: true, w: 2, group: 'Rates', value: (queue) => statRate(queue.message_stats, 'publish'), cell: (queue) => <Rate value={statRate(queue.message_stats, 'publish')} /> },
  { id: 'deliver', title: 'Deliver, get', sort: 'message_stats.deliver_get_details.rate', num: true, w: 2, group: 'Rates', value: (queue) => statRate(queue.message_stats, 'deliver_get'), cell: (queue) => <Rate value={statRate(queue.message_stats, 'deliver_get')} /> },
  { id: 'ack', title: 'Ack', sort: 'message_stats.ack_details.rate', num: true, w: 3, group: 'Rates', value: (queue) => statRate(queue.message_stats, 'ack'), cell: (queue) => <Rate value={statRate(queue.message_stats, 'ack')} /> },
  { id: 'consumers', title: 'Consumers', sort: 'consumers', num: true, w: 2, value: (queue) => queue.consumers, cell: (queue) => <Num value={queue.consumers} /> },
  { id: 'memory', title: 'Memory', sort: 'memory', num: true, w: 3, off: true, value: (queue) => queue.memory, cell: (queue) => bytes(queue.memory) },
  { id: 'idle', title: 'Idle since', w: 3, off: true, value: (queue) => queue.idle_since ?? '', cell: (queue) => <Time ms={queue.idle_since ? Date.parse(queue.idle_since) : null} /> },
];

const fields = 'name,vhost,type,state,durable,auto_delete,exclusive,arguments,policy,operator_policy,effective_policy_definition,messages,messages_ready,messages_unacknowledged,messages_parked,message_bytes,memory,consumers,deaths,idle_since,message_stats.publish_details.rate,message_stats.deliver_get_details.rate,message_stats.ack_details.rate';

export function purgeQueue(vhost: string, name: string, ready: number, parked: number, after?: () => void): void {
  const messages = ready + parked;
  ask({
    title: `Purge ${name}?`,
    body: <><p class="loss"><strong>{plural(ready, 'ready message')}{parked > 0 && ` and ${plural(parked, 'parked message')}`}</strong> will be deleted permanently. They are not dead-lettered.</p><p>Unacknowledged messages, bindings and consumers stay.</p></>,
    typed: messages > 1 ? String(messages) : undefined,
    typedLabel: 'To confirm, type the number of messages:',
    button: `Purge ${plural(messages, 'message')}`,
    act: async () => {
      await api.remove(at('queues', vhost, name, 'contents'));
      say(`${name}: ${plural(messages, 'message')} purged`);
      retryAll();
      after?.();
    },
  });
}

export function deleteQueues(queues: { vhost: string; name: string; messages: number; consumers: number }[], after?: () => void, leave?: () => void): void {
  const messages = queues.reduce((sum, queue) => sum + queue.messages, 0);
  const consumers = queues.reduce((sum, queue) => sum + queue.consumers, 0);
  const what = queues.length === 1 ? queues[0]!.name : `${queues.length} queues`;
  ask({
    title: `Delete ${what}?`,
    body: (
      <>
        <p class="loss"><strong>{plural(queues.length, 'queue')} with {plural(messages, 'message')}</strong> will be deleted permanently. The messages are not dead-lettered.</p>
        {consumers > 0 && <p>{plural(consumers, 'consumer')} will be cancelled.</p>}
        {queues.length > 1 && <p class="muted">{queues.slice(0, 10).map((queue) => visible(queue.name)).join(', ')}{queues.length > 10 ? ` and ${queues.length - 10} more` : ''}</p>}
      </>
    ),
    typed: queues.length === 1 ? queues[0]!.name : String(queues.length),
    typedLabel: queues.length === 1 ? 'To confirm, type the name:' : 'To confirm, type the number of queues:',
    button: `Delete ${queues.length === 1 ? 'queue' : plural(queues.length, 'queue')}`,
    act: async () => {
      for (const queue of queues) await api.remove(at('queues', queue.vhost, queue.name));
      say(`${what} deleted`);
      if (leave) return leave();
      retryAll();
      after?.();
    },
  });
}

const suggestions: [string, Pair['type']][] = [
  ['x-dead-letter-exchange', 'String'], ['x-dead-letter-routing-key', 'String'], ['x-message-ttl', 'Number'], ['x-max-length', 'Number'],
  ['x-max-length-bytes', 'Number'], ['x-overflow', 'String'], ['x-expires', 'Number'], ['x-delivery-limit', 'Number'], ['x-max-priority', 'Number'],
  ['x-single-active-consumer', 'Boolean'], ['x-dead-letter-strategy', 'String'],
];

export function useVhostNames(): string[] {
  return (useResource<{ name: string }[]>('/vhosts?columns=name&disable_stats=true', 0).data ?? []).map((one) => one.name);
}

export function VhostField({ value, set }: { value: string; set: (value: string) => void }): JSX.Element | null {
  const names = useVhostNames().filter((name) => may.enter(name));
  if (names.length === 1 && names[0] === value) return null;
  return <SelectField label="Virtual host" value={value} set={set} options={names.map((name) => [name, visible(name)])} />;
}

function AddQueue({ close }: { close: () => void }): JSX.Element {
  const [vhost, setVhost] = useState(chosenVhost.get() || '/');
  const [name, setName] = useState('');
  const [type, setType] = useState('classic');
  const [durable, setDurable] = useState(true);
  const [autoDelete, setAutoDelete] = useState(false);
  const [pairs, setPairs] = useState<Pair[]>([{ name: 'x-dead-letter-exchange', value: '', type: 'String' }, { name: 'x-dead-letter-routing-key', value: '', type: 'String' }]);
  const [wrong, setWrong] = useState('');
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      const filled = pairs.filter((pair) => pair.value !== '' || (pair.type === 'String' && !pair.name.startsWith('x-dead-letter')));
      const given = pairsToObject(filled);
      await api.put(at('queues', vhost, name), { durable, auto_delete: autoDelete, arguments: { 'x-queue-type': type, ...given } });
      say(`Queue ${name} is there`);
      retryAll();
      close();
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <Dialog title="Add a queue" close={close} foot={<>
      <button type="button" class="btn" onClick={close}>Cancel</button>
      <button type="submit" class="btn btn-primary" form="add-queue">Add queue</button>
    </>}>
      <form id="add-queue" class="form" onSubmit={submit}>
        <VhostField value={vhost} set={setVhost} />
        <TextField label="Name" value={name} set={setName} required first />
        <SelectField label="Type" value={type} set={setType} options={[['classic', 'Classic'], ['quorum', 'Quorum']]} hint={type === 'quorum' ? 'Durable; counts deliveries; can dead-letter at least once.' : undefined} />
        <div class="row row-lg">
          <Check label="Durable" value={durable || type === 'quorum'} set={setDurable} />
          <Check label="Delete with the last consumer" value={autoDelete} set={setAutoDelete} />
        </div>
        <Pairs label="Arguments" pairs={pairs} set={setPairs} suggestions={suggestions} />
        {wrong && <p class="is-dead" role="alert">{visible(wrong)}</p>}
      </form>
    </Dialog>
  );
}

export function QueuesPage(): JSX.Element {
  const vhost = chosenVhost.use();
  const [adding, setAdding] = useState(false);
  const [total, setTotal] = useState<number>();
  const only = place.use().query.get('only') === 'dead-letters';
  const names = useVhostNames();
  const policies = useResource<Policy[]>(vhost === '' ? '/operator-policies' : at('operator-policies', vhost), 60).data;
  const targets = useResource<{ items: DeadLetterQueue[] }>(`/dead-letters/queues?page=1&page_size=500&sort=messages&sort_reverse=true&columns=vhost,name,rests${vhost ? `&vhost=${encodeURIComponent(vhost)}` : ''}`, 60).data?.items;
  const columns = useMemo(() => columnsWith(new Map((policies ?? []).map((one) => [keyOf(one), one.definition])), new Set((targets ?? []).filter((one) => one.rests).map(keyOf))), [policies, targets]);
  const mayAdd = vhost === '' ? names.some((name) => may.declare(name)) : may.declare(vhost);
  return (
    <>
      <PageHead title="Queues" marks={total !== undefined && <span class="count">{count(total)}</span>}
        sub="Outlined features come from the queue’s arguments, blue ones from a policy, violet ones from an operator policy. A dashed edge marks dead-lettering."
        actions={mayAdd && <button class="btn btn-primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a queue</button>} />
      <PagedTable<Queue> label="Queues" noun={['queue', 'queues']} store="queues" columns={columns} fields={fields}
        path={(vhost === '' ? '/queues' : at('queues', vhost)) + (only ? '?only=dead-letters' : '')} rowKey={(queue) => `${queue.vhost} ${queue.name}`} rowLink={(queue) => queueLink(queue.vhost, queue.name)}
        firstSort="name" onPage={(page) => setTotal(page?.total_count)}
        segments={<div class="seg" role="group" aria-label="Which queues">{([[false, 'All'], [true, 'With dead letters']] as const).map(([dead, title]) => <button key={title} aria-pressed={only === dead} onClick={() => changeQuery({ only: dead ? 'dead-letters' : null, page: null })}>{title}</button>)}</div>}
        bulk={mayAdd ? (rows, clear) => {
          const own = rows.filter((queue) => may.configure(queue.vhost, queue.name));
          return own.length > 0 && <button class="btn btn-sm btn-dead" onClick={() => deleteQueues(own, clear)}><Icon name="trash" />Delete {plural(own.length, 'queue')}…</button>;
        } : undefined}
        empty={only ? <State icon="check" tone="ok" title="No dead letters"><p>Every queue that dead letters go to is empty.</p></State> : <State icon="queue" title="No queues yet"><p>Applications declare queues when they connect{mayAdd ? ', or add one here' : ''}.</p>{mayAdd && <button class="btn btn-primary" onClick={() => setAdding(true)}><Icon name="plus" />Add a queue</button>}</State>} />
      {adding && <AddQueue close={() => setAdding(false)} />}
    </>
  );
}
