// Publishing a message, and getting messages with their death history.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, at } from '../api';
import { Icon } from '../icons';
import { bytes, count, plural, time, visible, visibleLines } from '../format';
import { retryAll } from '../resource';
import { Card, KeyValues } from '../parts/card';
import { Field, Pairs, pairsToObject, SelectField, TextField, type Pair } from '../parts/form';
import { exchangeTitle, QueueName, ReasonMark } from '../parts/marks';
import { JsonTree } from '../parts/json';
import { say, sayFailure } from '../parts/toast';

const propertyNames: [string, Pair['type']][] = [
  ['content_type', 'String'], ['message_id', 'String'], ['correlation_id', 'String'], ['reply_to', 'String'], ['expiration', 'String'],
  ['priority', 'Number'], ['type', 'String'], ['app_id', 'String'], ['timestamp', 'Number'], ['user_id', 'String'], ['content_encoding', 'String'],
];

export function PublishCard({ vhost, exchange, queue, id }: { vhost: string; exchange: string; queue?: string; id?: string }): JSX.Element {
  const [key, setKey] = useState(queue ?? '');
  const [mode, setMode] = useState('2');
  const [properties, setProperties] = useState<Pair[]>([]);
  const [headers, setHeaders] = useState<Pair[]>([]);
  const [payload, setPayload] = useState('');
  const [encoding, setEncoding] = useState('string');
  const [busy, setBusy] = useState(false);
  const publish = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      const given = pairsToObject(headers);
      const all: Record<string, unknown> = { ...pairsToObject(properties), delivery_mode: Number(mode) };
      if (Object.keys(given).length > 0) all.headers = given;
      const answer = await api.post<{ routed: boolean }>(at('exchanges', vhost, exchange === '' ? 'amq.default' : exchange, 'publish'),
        { vhost, name: exchange, properties: all, routing_key: key, payload, payload_encoding: encoding });
      if (answer.routed) say('Published');
      else sayFailure('Published, but not routed', 'no queue took the message');
      retryAll();
    } catch (error) {
      sayFailure('Not published', error);
    }
    setBusy(false);
  };
  return (
    <Card title="Publish a message" id={id}>
      <form class="card-body form" onSubmit={publish}>
        <div class="form-2">
          {queue === undefined ? <TextField label="Routing key" value={key} set={setKey} mono /> : null}
          <SelectField label="Delivery mode" value={mode} set={setMode} options={[['2', '2, persistent'], ['1', '1, transient']]} />
          <SelectField label="Payload is" value={encoding} set={setEncoding} options={[['string', 'Text'], ['base64', 'Base64']]} />
        </div>
        <Pairs label="Headers" pairs={headers} set={setHeaders} add="Header" />
        <Pairs label="Properties" pairs={properties} set={setProperties} suggestions={propertyNames} add="Property" />
        <Field label="Payload">{(field) => <textarea id={field} class="textarea mono" value={payload} spellcheck={false} onInput={(event) => setPayload(event.currentTarget.value)} />}</Field>
        <div class="form-actions">
          <button class="btn btn-primary" type="submit" disabled={busy}><Icon name="publish" />Publish{queue !== undefined ? ` to ${visible(queue)}` : ''}</button>
          <span class="hint">{queue !== undefined ? 'By the default exchange, with the name of the queue as key.' : `To ${exchangeTitle(exchange)}.`}</span>
        </div>
      </form>
    </Card>
  );
}

interface Got {
  payload: string;
  payload_bytes: number;
  payload_encoding: 'string' | 'base64';
  redelivered: boolean;
  exchange: string;
  routing_key: string;
  message_count: number;
  properties: Record<string, unknown> & { headers?: Record<string, unknown> };
}
interface XDeath {
  queue: string;
  reason: string;
  count: number;
  exchange: string;
  'routing-keys'?: string[];
  time?: number;
}

const modes: [string, string, string][] = [
  ['ack_requeue_true', 'Nack, requeue', 'The messages go back to the queue and are marked as redelivered.'],
  ['ack_requeue_false', 'Ack: remove them', 'The messages leave the queue permanently.'],
  ['reject_requeue_true', 'Reject, requeue', 'The messages go back to the queue; their delivery counts grow.'],
  ['reject_requeue_false', 'Reject: dead-letter them', 'The messages die: to the dead-letter exchange, or nowhere.'],
];

export function GetCard({ vhost, queue, id, dead }: { vhost: string; queue: string; id?: string; dead: boolean }): JSX.Element {
  const [mode, setMode] = useState('ack_requeue_true');
  const [number, setNumber] = useState('1');
  const [encoding, setEncoding] = useState('auto');
  const [got, setGot] = useState<Got[]>();
  const [busy, setBusy] = useState(false);
  const get = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      setGot(await api.post<Got[]>(at('queues', vhost, queue, 'get'), { count: Math.max(1, Math.min(1000, Number(number) || 1)), ackmode: mode, encoding, truncate: 50000 }));
      if (mode !== 'ack_requeue_true') retryAll();
    } catch (error) {
      sayFailure('No messages', error);
    }
    setBusy(false);
  };
  const chosen = modes.find(([key]) => key === mode)!;
  return (
    <Card title="Get messages" id={id}>
      <div class="card-body">
        <form class="form" onSubmit={get}>
          <div class="form-3">
            <SelectField label="Ack mode" value={mode} set={setMode} options={modes.map(([key, title]) => [key, title])} />
            <TextField label="Messages" value={number} set={setNumber} type="number" />
            <SelectField label="Encoding" value={encoding} set={setEncoding} options={[['auto', 'Text if possible'], ['base64', 'Base64']]} />
          </div>
          <div class="form-actions">
            <button class={mode.endsWith('false') ? 'btn btn-dead' : 'btn btn-primary'} type="submit" disabled={busy}>{mode === 'ack_requeue_false' ? 'Get and remove' : mode === 'reject_requeue_false' ? 'Get and reject' : 'Get'}</button>
            <span class="hint">{chosen[2]}{mode === 'reject_requeue_false' && !dead ? ' This queue has no dead-letter exchange.' : ''}</span>
          </div>
        </form>
        {got && got.length === 0 && <p class="result muted" role="status">The queue has no ready messages.</p>}
        {got?.map((message, index) => <Message key={index} vhost={vhost} message={message} number={index + 1} />)}
      </div>
    </Card>
  );
}

function Message({ vhost, message, number }: { vhost: string; message: Got; number: number }): JSX.Element {
  const { headers = {}, ...properties } = message.properties;
  const { 'x-death': deaths, ...others } = headers;
  const list = Array.isArray(deaths) ? (deaths as XDeath[]) : [];
  return (
    <section class="result stack" aria-label={`Message ${number}`}>
      <h3>Message {number} <span class="faint">{count(message.message_count)} more after it</span></h3>
      <KeyValues tight rows={[
        ['Exchange, key', <code>{exchangeTitle(message.exchange)}, {visible(message.routing_key)}</code>],
        ['Redelivered', message.redelivered ? 'yes' : 'no'],
        ['Properties', Object.keys(properties).length === 0 ? <span class="faint">none</span> : <code>{Object.entries(properties).map(([name, value]) => `${name} ${visible(String(value))}`).join(', ')}</code>],
        ...(Object.keys(others).length > 0 ? [['Headers', <JsonTree value={others} />] as [string, JSX.Element]] : []),
      ]} />
      {list.length > 0 && (
        <div>
          <p class="label">x-death, newest first</p>
          <div class="table-wrap" role="region" tabIndex={0} aria-label="x-death"><table class="table-plain">
            <thead><tr><th scope="col">Died in</th><th scope="col">Reason</th><th scope="col" class="num">Times</th><th scope="col">Exchange</th><th scope="col">Keys</th><th scope="col" class="num">First</th></tr></thead>
            <tbody>{list.map((death, index) => (
              <tr key={index}><th scope="row"><QueueName vhost={vhost} name={death.queue} /></th><td><ReasonMark reason={death.reason} /></td><td class="num">{count(death.count)}</td>
                <td>{exchangeTitle(death.exchange ?? '')}</td><td><code>{(death['routing-keys'] ?? []).map(visible).join(', ')}</code></td><td class="num">{death.time ? time(death.time * 1000) : '–'}</td></tr>
            ))}</tbody>
          </table></div>
        </div>
      )}
      <Body message={message} />
    </section>
  );
}

function Body({ message }: { message: Got }): JSX.Element {
  const [asText, setAsText] = useState(false);
  let tree: unknown;
  if (message.payload_encoding === 'string' && /^\s*[[{]/.test(message.payload)) {
    try {
      tree = JSON.parse(message.payload);
    } catch {
      // not JSON: shown as text
    }
  }
  return (
    <div>
      <p class="label row">Body, {bytes(message.payload_bytes)}{message.payload_encoding === 'base64' ? ', Base64' : ''}
        {tree !== undefined && <button class="link" onClick={() => setAsText(!asText)}>{asText ? 'As a tree' : 'As text'}</button>}</p>
      {message.payload === '' ? <span class="faint">{plural(0, 'byte')}</span>
        : tree !== undefined && !asText ? <JsonTree value={tree} /> : <pre class="codeblock wrap">{visibleLines(message.payload)}</pre>}
    </div>
  );
}
