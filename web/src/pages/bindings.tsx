// Bindings of a queue or an exchange, and a form for a new binding.
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, at } from '../api';
import { plural, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { may } from '../session';
import { Card, Fields } from '../parts/card';
import { ask } from '../parts/dialog';
import { Pairs, pairsToObject, type Pair } from '../parts/form';
import { Badge, ExchangeName, exchangeTitle, QueueName } from '../parts/marks';
import { Shown } from '../parts/states';
import { say, sayFailure } from '../parts/toast';
import type { Binding } from '../types';

const bindingPath = (binding: Binding) =>
  at('bindings', binding.vhost, 'e', binding.source === '' ? 'amq.default' : binding.source, binding.destination_type === 'queue' ? 'q' : 'e', binding.destination) + '/' + encodeURIComponent(binding.properties_key);

function unbind(binding: Binding): void {
  ask({
    title: `Unbind ${binding.destination} from ${exchangeTitle(binding.source)}?`,
    body: <p>Messages with key <code>{visible(binding.routing_key)}</code> no longer go from {exchangeTitle(binding.source)} to {visible(binding.destination)}. Messages that are there stay.</p>,
    button: 'Unbind',
    act: async () => {
      await api.remove(bindingPath(binding));
      say('Unbound');
      retryAll();
    },
  });
}

function BindingTable({ list, head, other, mayUnbind, empty }: {
  list: Binding[]; head: 'From' | 'To'; other: (binding: Binding) => ComponentChildren; mayUnbind: (binding: Binding) => boolean; empty: string;
}): JSX.Element {
  const [all, setAll] = useState(false);
  const shown = all ? list : list.slice(0, 100);
  if (list.length === 0) return <div class="card-body"><p class="muted">{empty}</p></div>;
  return (
    <>
      <div class="table-wrap" role="region" tabIndex={0} aria-label="Bindings"><table>
        <thead><tr><th scope="col">{head}</th><th scope="col">Routing key</th><th scope="col" class="w-2">Arguments</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
        <tbody>{shown.map((binding) => (
          <tr key={bindingPath(binding)}><th scope="row">{other(binding)}</th><td><code>{visible(binding.routing_key)}</code></td><td class="w-2"><Fields of={binding.arguments} /></td>
            <td class="num">{binding.source !== '' && mayUnbind(binding) && <button class="btn btn-quiet btn-sm" onClick={() => unbind(binding)}>Unbind<span class="sr"> {binding.routing_key}</span></button>}</td></tr>
        ))}</tbody>
      </table></div>
      {list.length > shown.length && <div class="card-foot"><button class="link" onClick={() => setAll(true)}>Show all {plural(list.length, 'binding')}</button></div>}
    </>
  );
}

function AddBinding({ vhost, fixed, label, path }: { vhost: string; fixed: string; label: string; path: (other: string, kind: string) => string }): JSX.Element {
  const [other, setOther] = useState('');
  const [kind, setKind] = useState('q');
  const [key, setKey] = useState('');
  const [pairs, setPairs] = useState<Pair[]>([]);
  const toExchange = label === 'queue or exchange';
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await api.post(path(other, kind), { routing_key: key, arguments: pairsToObject(pairs) });
      say(`${fixed} and ${other} are bound`);
      setOther('');
      setKey('');
      setPairs([]);
      retryAll();
    } catch (error) {
      sayFailure('Not bound', error);
    }
  };
  return (
    <form class="card-foot form" onSubmit={submit} aria-label={`Bind ${vhost}`}>
      <div class="inline-form">
        {toExchange && <select class="select" aria-label="Bind to" value={kind} onChange={(event) => setKind(event.currentTarget.value)}><option value="q">to queue</option><option value="e">to exchange</option></select>}
        <input class="input mono" aria-label={toExchange ? 'Destination' : 'Exchange'} placeholder={toExchange ? 'name' : 'exchange'} required value={other} spellcheck={false} onInput={(event) => setOther(event.currentTarget.value)} />
        <input class="input mono" aria-label="Routing key" placeholder="routing key" value={key} spellcheck={false} onInput={(event) => setKey(event.currentTarget.value)} />
        <button class="btn" type="submit">Bind</button>
      </div>
      {pairs.length > 0 ? <Pairs label="Arguments" pairs={pairs} set={setPairs} /> : <div><button type="button" class="link" onClick={() => setPairs([{ name: '', value: '', type: 'String' }])}>With arguments</button></div>}
    </form>
  );
}

export function QueueBindings({ vhost, name, id }: { vhost: string; name: string; id?: string }): JSX.Element {
  const bindings = useResource<Binding[]>(at('queues', vhost, name, 'bindings'));
  return (
    <Card title="Bindings" note={bindings.data?.length} id={id}>
      <Shown of={bindings} rows={2}>{(list) => (
        <BindingTable list={list} head="From" empty="It is bound to no exchange." other={(binding) => <ExchangeName vhost={vhost} name={binding.source} />}
          mayUnbind={(binding) => may.write(vhost, name) && may.read(vhost, binding.source)} />
      )}</Shown>
      {may.write(vhost, name) && <AddBinding vhost={vhost} fixed={name} label="exchange" path={(exchange) => at('bindings', vhost, 'e', exchange, 'q', name)} />}
    </Card>
  );
}

export function ExchangeBindings({ vhost, name }: { vhost: string; name: string }): JSX.Element {
  const encoded = name === '' ? 'amq.default' : name;
  const outgoing = useResource<Binding[]>(at('exchanges', vhost, encoded, 'bindings', 'source'));
  const incoming = useResource<Binding[]>(name === '' ? null : at('exchanges', vhost, encoded, 'bindings', 'destination'));
  return (
    <>
      <Card title="Bindings from this exchange" note={outgoing.data?.length} id="bindings">
        <Shown of={outgoing} rows={2}>{(list) => (
          <BindingTable list={list} head="To" empty="Nothing is bound to it: messages that come here go nowhere." mayUnbind={(binding) => may.read(vhost, name) && may.write(vhost, binding.destination)}
            other={(binding) => binding.destination_type === 'queue' ? <QueueName vhost={vhost} name={binding.destination} /> : <><ExchangeName vhost={vhost} name={binding.destination} /> <Badge title="an exchange, not a queue">exchange</Badge></>} />
        )}</Shown>
        {name !== '' && may.read(vhost, name) && <AddBinding vhost={vhost} fixed={name} label="queue or exchange" path={(other, kind) => at('bindings', vhost, 'e', name, kind, other)} />}
      </Card>
      {incoming.data && incoming.data.length > 0 && (
        <Card title="Bindings to this exchange" note={incoming.data.length}>
          <BindingTable list={incoming.data} head="From" empty="" mayUnbind={(binding) => may.write(vhost, name) && may.read(vhost, binding.source)} other={(binding) => <ExchangeName vhost={vhost} name={binding.source} />} />
        </Card>
      )}
    </>
  );
}
