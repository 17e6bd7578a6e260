// Users, their tags, permissions and topic permissions.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, at } from '../api';
import { Icon } from '../icons';
import { count, plural, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { go, link } from '../router';
import { may, session } from '../session';
import { Card, KeyValues } from '../parts/card';
import { ask } from '../parts/dialog';
import { SelectField, TextField } from '../parts/form';
import { Name } from '../parts/marks';
import { Failed, Loading, Shown, State } from '../parts/states';
import { ListTable, type Column } from '../parts/table';
import { say, sayFailure } from '../parts/toast';
import { AdminHead } from './admin_head';
import { useVhostNames } from './queues';

interface User {
  name: string;
  tags: string[];
  password_hash: string;
  hashing_algorithm: string;
  limits: Record<string, number>;
}
interface Permissions {
  user: string;
  vhost: string;
  configure: string;
  write: string;
  read: string;
}
interface TopicPermissions {
  user: string;
  vhost: string;
  exchange: string;
  write: string;
  read: string;
}

const tagHints: [string, string][] = [['administrator', 'Administrator'], ['monitoring', 'Monitoring'], ['policymaker', 'Policymaker'], ['management', 'Management'], ['', 'None: AMQP only']];

function deleteUsers(names: string[], after?: () => void, leave?: () => void): void {
  ask({
    title: names.length === 1 ? `Delete user ${names[0]}?` : `Delete ${names.length} users?`,
    body: <p class="loss"><strong>{plural(names.length, 'user')} with all permissions</strong> will be deleted permanently{names.length > 1 ? `: ${names.map(visible).join(', ')}` : ''}. Their connections stay open until they close.</p>,
    typed: names.length === 1 ? names[0]! : String(names.length),
    button: `Delete ${plural(names.length, 'user')}`,
    act: async () => {
      await api.post('/users/bulk-delete', { users: names });
      say(names.length === 1 ? `User ${names[0]} deleted` : `${names.length} users deleted`);
      if (leave) return leave();
      retryAll();
      after?.();
    },
  });
}

function UserForm({ known }: { known?: User }): JSX.Element {
  const [name, setName] = useState(known?.name ?? '');
  const [password, setPassword] = useState('');
  const [again, setAgain] = useState('');
  const [tags, setTags] = useState((known?.tags ?? ['management']).join(', '));
  const [login, setLogin] = useState('password');
  const [wrong, setWrong] = useState('');
  const save = async (event: Event) => {
    event.preventDefault();
    setWrong('');
    if (login === 'password' && password !== again) return setWrong('The passwords differ.');
    const body: Record<string, unknown> = { tags: tags.split(',').map((one) => one.trim()).filter(Boolean).join(',') };
    if (login === 'none') body.password_hash = '';
    else if (password !== '') body.password = password;
    else if (known) {
      body.password_hash = known.password_hash;
      body.hashing_algorithm = known.hashing_algorithm;
    } else return setWrong('A password is missing.');
    try {
      await api.put(at('users', name), body);
      say(known ? `User ${name} changed` : `User ${name} added; it has no permissions yet`);
      setPassword('');
      setAgain('');
      if (!known) {
        setName('');
        go(['users', name]);
      }
      retryAll();
    } catch (error) {
      setWrong((error as Error).message);
    }
  };
  return (
    <Card title={known ? 'Change the user' : 'Add a user'}>
      <form class="card-body form" onSubmit={save}>
        {known ? <input type="text" autocomplete="username" value={known.name} hidden readOnly /> : <TextField label="Name" value={name} set={setName} required autocomplete="username" />}
        <SelectField label="Logs in" value={login} set={setLogin} options={[['password', 'with a password'], ['none', 'not with a password (certificate, or not at all)']]} />
        {login === 'password' && <>
          <TextField label={known ? 'New password' : 'Password'} value={password} set={setPassword} type="password" autocomplete="new-password" hint={known ? 'empty: the password stays' : undefined} />
          <TextField label="Password again" value={again} set={setAgain} type="password" autocomplete="new-password" />
        </>}
        <TextField label="Tags" value={tags} set={setTags} mono hint={<span class="row">{tagHints.map(([tag, title]) => <button type="button" class="link" key={title} onClick={() => setTags(tag)}>{title}</button>)}</span>} />
        {wrong && <p class="is-dead" role="alert">{visible(wrong)}</p>}
        <div class="form-actions"><button class="btn btn-primary" type="submit">{known ? 'Save user' : 'Add user'}</button></div>
      </form>
    </Card>
  );
}

interface Row extends User {
  vhosts: string[];
}
const columns: Column<Row>[] = [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => <Name text={one.name} href={link(['users', one.name])} sub={one.tags.join(', ') || 'none, AMQP only'} /> },
  { id: 'tags', title: 'Tags', w: 1, value: (one) => one.tags.join(' '), cell: (one) => <span class="badges">{one.tags.map((tag) => <span class={tag === 'administrator' ? 'chip chip-info' : 'chip'} key={tag}>{visible(tag)}</span>)}{one.tags.length === 0 && <span class="zero">none, AMQP only</span>}</span> },
  { id: 'vhosts', title: 'Can access', value: (one) => one.vhosts.join(' '), cell: (one) => (one.vhosts.length === 0 ? <span class="chip chip-warn">no virtual host</span> : one.vhosts.slice(0, 4).map(visible).join(', ') + (one.vhosts.length > 4 ? ` and ${one.vhosts.length - 4} more` : '')) },
  { id: 'password', title: 'Password', w: 2, value: (one) => one.password_hash !== '', cell: (one) => (one.password_hash === '' ? <span class="zero">none</span> : 'yes') },
  { id: 'limits', title: 'Limits', w: 3, off: true, value: (one) => JSON.stringify(one.limits), cell: (one) => Object.entries(one.limits ?? {}).map(([key, value]) => `${key} ${value}`).join(', ') || <span class="zero">none</span> },
];

export function UsersPage(): JSX.Element {
  const users = useResource<User[]>('/users');
  const permissions = useResource<Permissions[]>(may.administrate() ? '/permissions' : null);
  const rows = users.data?.map((user): Row => ({ ...user, vhosts: (permissions.data ?? []).filter((one) => one.user === user.name).map((one) => one.vhost) }));
  return (
    <>
      <AdminHead title="Users" at="users" marks={users.data && <span class="count">{count(users.data.length)}</span>} />
      <div class={may.administrate() ? 'cols cols-main' : 'stack'}>
        <ListTable<Row> label="Users" noun={['user', 'users']} store="users" columns={columns} of={{ ...users, data: rows }} rowKey={(one) => one.name} rowLink={(one) => link(['users', one.name])} firstSort="name"
          bulk={(chosen, clear) => <button class="btn btn-sm btn-dead" onClick={() => deleteUsers(chosen.map((one) => one.name), clear)}><Icon name="trash" />Delete {plural(chosen.length, 'user')}…</button>}
          empty={<State icon="user" title="No users" />} />
        {may.administrate() && <UserForm />}
      </div>
    </>
  );
}

function PermissionForm({ user }: { user: string }): JSX.Element {
  const names = useVhostNames();
  const [vhost, setVhost] = useState('/');
  const [values, setValues] = useState({ configure: '.*', write: '.*', read: '.*' });
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put(at('permissions', vhost, user), values);
      say(`${user} has permissions in ${vhost}`);
      retryAll();
    } catch (error) {
      sayFailure('Permissions not set', error);
    }
  };
  return (
    <form class="card-foot form" onSubmit={save} aria-label="Set permissions">
      <div class="form-2">
        <SelectField label="Virtual host" value={vhost} set={setVhost} options={names.map((name) => [name, visible(name)])} />
        <TextField label="Configure" value={values.configure} set={(configure) => setValues({ ...values, configure })} mono hint="pattern; empty: nothing" />
        <TextField label="Write" value={values.write} set={(write) => setValues({ ...values, write })} mono />
        <TextField label="Read" value={values.read} set={(read) => setValues({ ...values, read })} mono />
      </div>
      <div class="form-actions"><button class="btn" type="submit">Set permissions</button></div>
    </form>
  );
}

function TopicForm({ user }: { user: string }): JSX.Element {
  const names = useVhostNames();
  const [vhost, setVhost] = useState('/');
  const [exchange, setExchange] = useState('amq.topic');
  const [write, setWrite] = useState('.*');
  const [read, setRead] = useState('.*');
  const save = async (event: Event) => {
    event.preventDefault();
    try {
      await api.put(at('topic-permissions', vhost, user), { exchange, write, read });
      say(`Topic permissions of ${user} set`);
      retryAll();
    } catch (error) {
      sayFailure('Topic permissions not set', error);
    }
  };
  return (
    <form class="card-foot form" onSubmit={save} aria-label="Set topic permissions">
      <div class="form-2">
        <SelectField label="Virtual host" value={vhost} set={setVhost} options={names.map((name) => [name, visible(name)])} />
        <TextField label="Exchange" value={exchange} set={setExchange} mono required />
        <TextField label="Write" value={write} set={setWrite} mono hint="pattern on the routing key" />
        <TextField label="Read" value={read} set={setRead} mono />
      </div>
      <div class="form-actions"><button class="btn" type="submit">Set topic permissions</button></div>
    </form>
  );
}

export function PermissionTable({ list, by }: { list: Permissions[]; by: 'vhost' | 'user' }): JSX.Element {
  const clear = (one: Permissions) => ask({
    title: `Clear permissions of ${one.user} in ${one.vhost}?`,
    body: <p>{visible(one.user)} can no longer open connections to {visible(one.vhost)}. Open connections stay until they close.</p>,
    button: 'Clear permissions',
    act: async () => {
      await api.remove(at('permissions', one.vhost, one.user));
      retryAll();
    },
  });
  const pattern = (text: string) => (text === '' ? <span class="zero">nothing</span> : <code>{visible(text)}</code>);
  if (list.length === 0) return <div class="card-body"><p class="muted">No permissions.</p></div>;
  return (
    <div class="table-wrap" role="region" tabIndex={0} aria-label="Permissions"><table>
      <thead><tr><th scope="col">{by === 'vhost' ? 'Virtual host' : 'User'}</th><th scope="col">Configure</th><th scope="col">Write</th><th scope="col">Read</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
      <tbody>{list.map((one) => (
        <tr key={one.vhost + ' ' + one.user}><th scope="row"><a href={by === 'vhost' ? link(['vhosts', one.vhost]) : link(['users', one.user])}>{visible(by === 'vhost' ? one.vhost : one.user)}</a></th><td>{pattern(one.configure)}</td><td>{pattern(one.write)}</td><td>{pattern(one.read)}</td>
          <td class="num">{may.administrate() && <button class="btn btn-quiet btn-sm" onClick={() => clear(one)}>Clear…</button>}</td></tr>
      ))}</tbody>
    </table></div>
  );
}

export function TopicTable({ list, by }: { list: TopicPermissions[]; by: 'vhost' | 'user' }): JSX.Element {
  const clear = async (one: TopicPermissions) => {
    try {
      await api.remove(at('topic-permissions', one.vhost, one.user, one.exchange));
      say('Topic permissions cleared');
      retryAll();
    } catch (error) {
      sayFailure('Not cleared', error);
    }
  };
  if (list.length === 0) return <div class="card-body"><p class="muted">No topic permissions: routing keys are not restricted.</p></div>;
  return (
    <div class="table-wrap" role="region" tabIndex={0} aria-label="Topic permissions"><table>
      <thead><tr><th scope="col">{by === 'vhost' ? 'Virtual host' : 'User'}</th><th scope="col">Exchange</th><th scope="col">Write</th><th scope="col">Read</th><th scope="col"><span class="sr">Action</span></th></tr></thead>
      <tbody>{list.map((one) => <tr key={one.vhost + one.user + one.exchange}><th scope="row">{visible(by === 'vhost' ? one.vhost : one.user)}</th><td>{visible(one.exchange)}</td><td><code>{visible(one.write)}</code></td><td><code>{visible(one.read)}</code></td>
        <td class="num">{may.administrate() && <button class="btn btn-quiet btn-sm" onClick={() => void clear(one)}>Clear</button>}</td></tr>)}</tbody>
    </table></div>
  );
}

export function UserPage({ path }: { path: string[] }): JSX.Element {
  const name = path[1]!;
  const user = useResource<User>(at('users', name));
  const permissions = useResource<Permissions[]>(at('users', name, 'permissions'));
  const topics = useResource<TopicPermissions[]>(at('users', name, 'topic-permissions'));
  const self = session.get()?.name === name;
  return (
    <>
      <AdminHead title={name} at="users" crumb={{ title: 'Users', href: '#/users' }} actions={user.data && !self && <button class="btn btn-dead" onClick={() => deleteUsers([name], undefined, () => go(['users']))}>Delete…</button>} />
      {user.data ? (
        <div class="cols cols-main">
          <div class="stack">
            <Card title="Permissions"><Shown of={permissions} rows={2}>{(list) => <PermissionTable list={list} by="vhost" />}</Shown><PermissionForm user={name} /></Card>
            <Card title="Topic permissions"><Shown of={topics} rows={2}>{(list) => <TopicTable list={list} by="vhost" />}</Shown><TopicForm user={name} /></Card>
          </div>
          <div class="stack">
            <Card title="Details"><div class="card-body"><KeyValues tight rows={[['Tags', user.data.tags.map(visible).join(', ') || <span class="faint">none</span>], ['Password', user.data.password_hash === '' ? 'none' : `yes, ${user.data.hashing_algorithm.replace('rabbit_password_hashing_', '')}`], ['Limits', Object.entries(user.data.limits ?? {}).map(([key, value]) => `${key} ${value}`).join(', ') || <span class="faint">none</span>]]} /></div></Card>
            <UserForm key={user.data.tags.join()} known={user.data} />
          </div>
        </div>
      ) : <section class="card">{user.error ? <Failed error={user.error} retry={user.reload} /> : <Loading />}</section>}
    </>
  );
}
