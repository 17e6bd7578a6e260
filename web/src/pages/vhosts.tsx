// Virtual hosts and limits.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, at } from '../api';
import { count, plural, rate, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { go, link } from '../router';
import { may } from '../session';
import { Card, KeyValues, Tile } from '../parts/card';
import { ask } from '../parts/dialog';
import { SelectField, TextField } from '../parts/form';
import { Name, Num, Rate } from '../parts/marks';
import { Failed, Loading, Shown, State } from '../parts/states';
import { ListTable, type Column } from '../parts/table';
import { say, sayFailure } from '../parts/toast';
import { statRate, type MessageStats } from '../types';
import { AdminHead } from './admin_head';
import { PermissionTable, TopicTable } from './users';
import { useVhostNames } from './queues';

interface Vhost {
  name: string;
  description: string;
  tags: string[];
  default_queue_type: string;
  compat?: string;
  messages?: number;
  messages_ready?: number;
  messages_unacknowledged?: number;
  protected_from_deletion?: boolean;
  message_stats?: MessageStats;
  cluster_state: Record<string, string>;
}

const columns: Column<Vhost>[] = [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => <Name text={one.name} href={may.administrate() ? link(['vhosts', one.name]) : link(['queues'], { vhost: one.name })} sub={one.description} /> },
  { id: 'description', title: 'Description', w: 2, value: (one) => one.description, cell: (one) => (one.description ? <span class="cell-text">{visible(one.description)}</span> : <span class="zero">–</span>) },
  { id: 'tags', title: 'Tags', w: 3, value: (one) => one.tags.join(' '), cell: (one) => one.tags.map(visible).join(', ') || <span class="zero">–</span> },
  { id: 'type', title: 'Default queue type', w: 3, value: (one) => one.default_queue_type, cell: (one) => one.default_queue_type },
  { id: 'ready', title: 'Ready', num: true, group: 'Messages', value: (one) => one.messages_ready ?? 0, cell: (one) => <Num value={one.messages_ready} /> },
  { id: 'unacked', title: 'Unacked', num: true, w: 1, group: 'Messages', value: (one) => one.messages_unacknowledged ?? 0, cell: (one) => <Num value={one.messages_unacknowledged} /> },
  { id: 'total', title: 'Total', num: true, w: 1, group: 'Messages', value: (one) => one.messages ?? 0, cell: (one) => <Num value={one.messages} strong /> },
  { id: 'publish', title: 'Publish', num: true, w: 2, group: 'Rates', value: (one) => statRate(one.message_stats, 'publish'), cell: (one) => <Rate value={statRate(one.message_stats, 'publish')} /> },
  { id: 'deliver', title: 'Deliver, get', num: true, w: 2, group: 'Rates', value: (one) => statRate(one.message_stats, 'deliver_get'), cell: (one) => <Rate value={statRate(one.message_stats, 'deliver_get')} /> },
];

function VhostForm({ known }: { known?: Vhost }): JSX.Element {
  const [name, setName] = useState('');
  const [description, setDescription] = useState(known?.description ?? '');
  const [tags, setTags] = useState(known?.tags.join(', ') ?? '');
  const [type, setType] = useState(known?.default_queue_type ?? 'classic');
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put(at('vhosts', known?.name ?? name), { description, tags: tags.split(',').map((one) => one.trim()).filter(Boolean).join(','), default_queue_type: type });
      say(known ? 'Saved' : `Virtual host ${name} is there, and you have all permissions in it`);
      setName('');
      retryAll();
    } catch (error) {
      sayFailure('Not saved', error);
    }
  };
  return (
    <Card title={known ? 'Change the virtual host' : 'Add a virtual host'}>
      <form class="card-body form" onSubmit={save}>
        {!known && <TextField label="Name" value={name} set={setName} required />}
        <TextField label="Description" value={description} set={setDescription} />
        <TextField label="Tags" value={tags} set={setTags} hint="separated by commas" />
        <SelectField label="Default queue type" value={type} set={setType} options={[['classic', 'Classic'], ['quorum', 'Quorum']]} />
        <div class="form-actions"><button class="btn btn-primary" type="submit">{known ? 'Save' : 'Add virtual host'}</button></div>
      </form>
    </Card>
  );
}

export function VhostsPage(): JSX.Element {
  const vhosts = useResource<Vhost[]>('/vhosts');
  return (
    <>
      <AdminHead title="Virtual hosts" at="vhosts" marks={vhosts.data && <span class="count">{count(vhosts.data.length)}</span>} />
      <div class={may.administrate() ? 'cols cols-main' : 'stack'}>
        <ListTable<Vhost> label="Virtual hosts" noun={['virtual host', 'virtual hosts']} store="vhosts" columns={columns} of={vhosts} rowKey={(one) => one.name} rowLink={(one) => (may.administrate() ? link(['vhosts', one.name]) : link(['queues'], { vhost: one.name }))} firstSort="name" empty={<State icon="graph" title="No virtual hosts"><p>You have permissions in none.</p></State>} />
        {may.administrate() && <VhostForm />}
      </div>
    </>
  );
}

export function VhostPage({ path }: { path: string[] }): JSX.Element {
  const name = path[1]!;
  const vhost = useResource<Vhost>(at('vhosts', name));
  const permissions = useResource<Parameters<typeof PermissionTable>[0]['list']>(at('vhosts', name, 'permissions'));
  const topics = useResource<Parameters<typeof TopicTable>[0]['list']>(at('vhosts', name, 'topic-permissions'));
  const queues = useResource<{ total_count: number }>(`${at('queues', name)}?page=1&page_size=1&columns=name&disable_stats=true`, 30);
  const remove = () => ask({
    title: `Delete virtual host ${name}?`,
    body: <><p class="loss"><strong>{plural(queues.data?.total_count ?? 0, 'queue')} with {plural(vhost.data?.messages ?? 0, 'message')}</strong>, all exchanges, bindings, policies and permissions of it will be deleted permanently.</p><p>Its connections are closed.</p></>,
    typed: name, typedLabel: 'To confirm, type the name:', button: 'Delete virtual host',
    act: async () => {
      await api.remove(at('vhosts', name));
      say(`Virtual host ${name} deleted`);
      go(['vhosts']);
    },
  });
  const protect = async (on: boolean) => {
    try {
      await (on ? api.post(at('vhosts', name, 'deletion', 'protection')) : api.remove(at('vhosts', name, 'deletion', 'protection')));
      vhost.reload();
    } catch (error) {
      sayFailure('Not changed', error);
    }
  };
  const one = vhost.data;
  return (
    <>
      <AdminHead title={name} at="vhosts" crumb={{ title: 'Virtual hosts', href: '#/vhosts' }} marks={<span class="chip">virtual host</span>} actions={one && <>
        <button class="btn" onClick={() => void protect(!one.protected_from_deletion)}>{one.protected_from_deletion ? 'Allow deletion' : 'Protect from deletion'}</button>
        {!one.protected_from_deletion && <button class="btn btn-dead" onClick={remove}>Delete…</button>}
      </>} />
      {one ? (
        <div class="stack">
          <div class="tiles">
            <Tile label="Queues" value={count(queues.data?.total_count)} href={link(['queues'], { vhost: name })} /><Tile label="Ready" value={count(one.messages_ready)} /><Tile label="Unacked" value={count(one.messages_unacknowledged)} />
            <Tile label="Publish" value={rate(statRate(one.message_stats, 'publish')).replace('/s', '')} unit="/s" /><Tile label="Deliver" value={rate(statRate(one.message_stats, 'deliver_get')).replace('/s', '')} unit="/s" />
          </div>
          <div class="cols cols-main">
            <div class="stack">
              <Card title="Permissions"><Shown of={permissions} rows={2}>{(list) => <PermissionTable list={list} by="user" />}</Shown></Card>
              <Card title="Topic permissions"><Shown of={topics} rows={2}>{(list) => <TopicTable list={list} by="user" />}</Shown></Card>
            </div>
            <div class="stack">
              <Card title="Details"><div class="card-body"><KeyValues tight rows={[['Description', visible(one.description) || <span class="faint">none</span>], ['Tags', one.tags.map(visible).join(', ') || <span class="faint">none</span>], ['Default queue type', one.default_queue_type], ['Behaves like', `RabbitMQ ${one.compat ?? ''}`], ['Protected from deletion', one.protected_from_deletion ? 'yes' : 'no'], ['State', Object.values(one.cluster_state ?? {}).join(', ')]]} /></div></Card>
              <VhostForm known={one} />
            </div>
          </div>
        </div>
      ) : <section class="card">{vhost.error ? <Failed error={vhost.error} retry={vhost.reload} /> : <Loading />}</section>}
    </>
  );
}

// ---- Limits -----------------------------------------------------------------------------------------------------------------

interface VhostLimit {
  vhost: string;
  value: Record<string, number>;
}
interface UserLimit {
  user: string;
  value: Record<string, number>;
}

function LimitCard({ title, kind, owners, names, list }: { title: string; kind: 'vhost-limits' | 'user-limits'; owners: string[]; names: string[]; list: { owner: string; value: Record<string, number> }[] }): JSX.Element {
  const [owner, setOwner] = useState('');
  const [name, setName] = useState(names[0]!);
  const [value, setValue] = useState('');
  const chosen = owner || owners[0] || '';
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put(at(kind, chosen, name), { value: Number(value) });
      say('Limit set');
      setValue('');
      retryAll();
    } catch (error) {
      sayFailure('Limit not set', error);
    }
  };
  const clear = async (of: string, what: string) => {
    try {
      await api.remove(at(kind, of, what));
      say('Limit cleared');
      retryAll();
    } catch (error) {
      sayFailure('Limit not cleared', error);
    }
  };
  const rows = list.flatMap((one) => Object.entries(one.value).map(([limit, number]) => ({ owner: one.owner, limit, number })));
  return (
    <Card title={title}>
      {rows.length === 0 ? <div class="card-body"><p class="muted">No limits are set.</p></div> : (
        <div class="table-wrap" role="region" tabIndex={0} aria-label={title}><table>
          <thead><tr><th scope="col">{kind === 'vhost-limits' ? 'Virtual host' : 'User'}</th><th scope="col">Limit</th><th scope="col" class="num">Value</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
          <tbody>{rows.map((one) => <tr key={one.owner + one.limit}><th scope="row">{visible(one.owner)}</th><td>{one.limit}</td><td class="num">{one.number < 0 ? 'none' : count(one.number)}</td><td class="num">{may.administrate() && <button class="btn btn-quiet btn-sm" onClick={() => void clear(one.owner, one.limit)}>Clear<span class="sr"> {one.limit} of {one.owner}</span></button>}</td></tr>)}</tbody>
        </table></div>
      )}
      {may.administrate() && (
        <form class="card-foot form" onSubmit={save} aria-label={`Set: ${title}`}>
          <div class="form-3">
            <SelectField label={kind === 'vhost-limits' ? 'Virtual host' : 'User'} value={chosen} set={setOwner} options={owners.map((one) => [one, visible(one)])} />
            <SelectField label="Limit" value={name} set={setName} options={names.map((one) => [one, one])} />
            <TextField label="Value" value={value} set={setValue} type="number" required hint="−1 removes the limit" />
          </div>
          <div class="form-actions"><button class="btn" type="submit">Set limit</button></div>
        </form>
      )}
    </Card>
  );
}

export function LimitsPage(): JSX.Element {
  const vhosts = useResource<VhostLimit[]>('/vhost-limits');
  const users = useResource<UserLimit[]>('/user-limits');
  const names = useVhostNames();
  const all = useResource<{ name: string }[]>(may.administrate() ? '/users?columns=name' : null, 0);
  return (
    <>
      <AdminHead title="Limits" at="limits" />
      <div class="cols">
        <Shown of={vhosts} rows={2}>{(list) => <LimitCard title="Limits of virtual hosts" kind="vhost-limits" names={['max-connections', 'max-queues']} owners={names} list={list.map((one) => ({ owner: one.vhost, value: one.value }))} />}</Shown>
        <Shown of={users} rows={2}>{(list) => <LimitCard title="Limits of users" kind="user-limits" names={['max-connections', 'max-channels']} owners={(all.data ?? []).map((one) => one.name)} list={list.map((one) => ({ owner: one.user, value: one.value }))} />}</Shown>
      </div>
    </>
  );
}
