// Policies and operator policies, with a live list of the queues and exchanges that a pattern matches.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api, ApiError, at } from '../api';
import { Icon } from '../icons';
import { count, plural, visible } from '../format';
import { retryAll, useResource, type Resource } from '../resource';
import { exchangeLink, go, jump, link, policyLink, queueLink } from '../router';
import { chosenVhost, may } from '../session';
import { Card } from '../parts/card';
import { ask } from '../parts/dialog';
import { pairOf, Pairs, pairsToObject, SelectField, TextField, type Pair } from '../parts/form';
import { Badge, Name, Num } from '../parts/marks';
import { Callout, Failed, Loading, State } from '../parts/states';
import { ListTable, type Column } from '../parts/table';
import { say } from '../parts/toast';
import type { Overview, Policy, Table } from '../types';
import { AdminHead } from './admin_head';
import { VhostField } from './queues';

const applyTo: [string, string][] = [['queues', 'Queues'], ['classic_queues', 'Classic queues'], ['quorum_queues', 'Quorum queues'], ['exchanges', 'Exchanges'], ['all', 'Queues and exchanges']];
const keys: [string, Pair['type']][] = [
  ['dead-letter-exchange', 'String'], ['dead-letter-routing-key', 'String'], ['message-ttl', 'Number'], ['max-length', 'Number'], ['max-length-bytes', 'Number'],
  ['overflow', 'String'], ['expires', 'Number'], ['delivery-limit', 'Number'], ['dead-letter-strategy', 'String'], ['alternate-exchange', 'String'],
];
const operatorKeys: [string, Pair['type']][] = [['max-length', 'Number'], ['max-length-bytes', 'Number'], ['message-ttl', 'Number'], ['expires', 'Number'], ['delivery-limit', 'Number'], ['overflow', 'String']];

function Definition({ of }: { of: Table }): JSX.Element {
  return <span class="definition">{Object.entries(of).map(([key, value]) => <span key={key} class="nowrap"><span class="muted">{visible(key)}</span> <code>{visible(typeof value === 'string' ? value : JSON.stringify(value))}</code> </span>)}</span>;
}

// The number of queues and exchanges that each policy applies to; undefined if there are more than 500 of either.
type Uses = Map<string, number>;
interface Governed {
  total_count: number;
  items: { vhost: string; policy: string | null; operator_policy?: string | null }[];
}
const mostGoverned = 500;

function useUses(vhost: string): { policies: Uses; operators: Uses } | undefined {
  const all = (kind: string) => `${vhost === '' ? `/${kind}` : at(kind, vhost)}?page=1&page_size=${mostGoverned}&columns=vhost,policy,operator_policy&disable_stats=true`;
  const queues = useResource<Governed>(all('queues'), 30).data;
  const exchanges = useResource<Governed>(all('exchanges'), 30).data;
  return useMemo(() => {
    if (!queues || !exchanges || Math.max(queues.total_count, exchanges.total_count) > mostGoverned) return undefined;
    const uses = { policies: new Map<string, number>(), operators: new Map<string, number>() };
    const add = (to: Uses, of: string, name: string | null | undefined) => name && to.set(`${of} ${name}`, (to.get(`${of} ${name}`) ?? 0) + 1);
    for (const one of [...queues.items, ...exchanges.items]) {
      add(uses.policies, one.vhost, one.policy);
      add(uses.operators, one.vhost, one.operator_policy);
    }
    return uses;
  }, [queues, exchanges]);
}
const usesOf = (one: Policy, uses: Uses | undefined) => uses && (uses.get(`${one.vhost} ${one.name}`) ?? 0);

const columns = (operator: boolean, uses: Uses | undefined): Column<Policy>[] => [
  { id: 'name', title: 'Name', value: (one) => one.name, cell: (one) => (operator ? <><Badge kind="badge-oppol" title={`operator policy ${visible(one.name)}`} href={link(['policies', one.vhost, one.name], { operator: 'true' })}><Icon name="lock" />{visible(one.name)}</Badge><span class="cell-sub only-phone">{visible(one.pattern)}</span></>
    : <Name text={one.name} href={policyLink(one.vhost, one.name)} sub={one.pattern} />) },
  { id: 'vhost', title: 'Virtual host', w: 3, value: (one) => one.vhost, cell: (one) => visible(one.vhost) },
  { id: 'pattern', title: 'Pattern', w: 1, value: (one) => one.pattern, cell: (one) => <code class="cell-text">{visible(one.pattern)}</code> },
  { id: 'apply', title: 'Apply to', w: 2, value: (one) => one['apply-to'], cell: (one) => one['apply-to'] },
  { id: 'definition', title: 'Definition', w: 1, value: (one) => JSON.stringify(one.definition), cell: (one) => <Definition of={one.definition} /> },
  { id: 'priority', title: 'Priority', num: true, value: (one) => one.priority, cell: (one) => one.priority },
  { id: 'uses', title: 'Applies to', num: true, value: (one) => usesOf(one, uses), cell: (one) => (usesOf(one, uses) === 0 ? <Badge kind="badge-warn" title="no queue or exchange has this policy">0, idle</Badge> : <Num value={usesOf(one, uses)} />) },
  { id: 'clear', title: 'Action', action: true, num: true, value: () => '', cell: (one) => (operator ? may.administrate() : may.makePolicies(one.vhost)) && <button class="btn btn-quiet btn-sm" onClick={() => clear(one, operator)}>Clear…<span class="sr"> {one.name}</span></button> },
];

function clear(policy: Policy, operator: boolean): void {
  ask({
    title: `Clear ${operator ? 'operator policy' : 'policy'} ${policy.name}?`,
    body: <><p>Queues and exchanges that match <code>{visible(policy.pattern)}</code> lose it at once: <Definition of={policy.definition} /></p><p>{'dead-letter-exchange' in policy.definition ? 'Messages that die in them are dropped from then on, unless another policy or an argument names a dead-letter exchange.' : 'Another policy that matches takes its place.'}</p></>,
    button: operator ? 'Clear operator policy' : 'Clear policy',
    act: async () => {
      await api.remove(at(operator ? 'operator-policies' : 'policies', policy.vhost, policy.name));
      say(`${policy.name} cleared`);
      retryAll();
    },
  });
}

// ---- Matches of a pattern -------------------------------------------------------------------------------------------------

interface Matched {
  name: string;
  type: string;
  policy?: string | null;
}
interface Found {
  filtered_count: number;
  total_count: number;
  items: Matched[];
}

function useMatches(vhost: string, pattern: string, kind: 'queues' | 'exchanges' | null): Resource<Found> {
  const [settled, setSettled] = useState(pattern);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(pattern), 200);
    return () => clearTimeout(timer);
  }, [pattern]);
  const query = new URLSearchParams({ page: '1', page_size: '500', use_regex: 'true', name: settled, columns: 'name,type,policy', disable_stats: 'true' });
  return useResource<Found>(kind === null || settled === '' ? null : `${at(kind, vhost)}?${query.toString()}`, 0);
}

function MatchTable({ found, kind, vhost, draft, policies }: { found: Found; kind: 'queues' | 'exchanges'; vhost: string; draft: Draft; policies: Policy[] }): JSX.Element {
  const fits = (one: Matched) => kind === 'exchanges' || draft.applyTo === 'queues' || draft.applyTo === 'all' || draft.applyTo === `${one.type}_queues`;
  const list = found.items.filter(fits);
  const exact = found.filtered_count <= found.items.length;
  const rival = (one: Matched): Policy | undefined => policies.find((policy) => policy.name === one.policy && policy.name !== draft.name && policy.priority >= Number(draft.priority || 0));
  const noun = kind === 'queues' ? 'queue' : 'exchange';
  const own = Number(draft.priority || 0);
  const kept = list.filter((one) => (rival(one)?.priority ?? own) > own).length;
  return (
    <>
      <p><strong>{exact ? plural(list.length, noun) : `${count(found.filtered_count)} ${noun}s`}</strong> of {count(found.total_count)} {exact && list.length !== found.filtered_count ? `match and are ${draft.applyTo.replace('_queues', '')}` : 'match'}{kept > 0 ? `; ${plural(kept, 'keeps', 'keep')} another policy` : ''}.</p>
      {list.length > 0 && (
        <div class="table-wrap match-list" role="region" tabIndex={0} aria-label={`Matching ${kind}`}><table class="tight">
          <thead><tr><th scope="col">Name</th><th scope="col" class="w-1">Type</th><th scope="col">Policy now</th><th scope="col">Then</th></tr></thead>
          <tbody>{list.slice(0, 100).map((one) => {
            const other = rival(one);
            return <tr key={one.name}><th scope="row"><a href={kind === 'queues' ? queueLink(vhost, one.name) : exchangeLink(vhost, one.name)}>{visible(one.name) || '(default exchange)'}</a></th><td class="w-1">{one.type}</td><td>{one.policy ? visible(one.policy) : <span class="zero">none</span>}</td>
              <td>{other ? <span class="muted">{other.priority === own ? 'same priority: either' : `${visible(other.name)}, priority ${other.priority}`}</span> : <span class="chip chip-info">{visible(draft.name || 'this policy')}</span>}</td></tr>;
          })}</tbody>
        </table></div>
      )}
      {found.filtered_count > 100 && <p class="faint">The first 100 are shown.</p>}
    </>
  );
}

// ---- Form -----------------------------------------------------------------------------------------------------------------------

interface Draft {
  vhost: string;
  name: string;
  pattern: string;
  applyTo: string;
  priority: string;
  definition: Pair[];
}

const draftOf = (policy: Policy): Draft => ({
  vhost: policy.vhost, name: policy.name, pattern: policy.pattern, applyTo: policy['apply-to'], priority: String(policy.priority),
  definition: Object.entries(policy.definition).map(([key, value]) => pairOf(key, value)),
});

function PolicyForm({ known, operator, policies }: { known?: Policy; operator: boolean; policies: Policy[] }): JSX.Element {
  const fresh = (): Draft => known ? draftOf(known) : { vhost: chosenVhost.get() || '/', name: '', pattern: '', applyTo: operator ? 'queues' : 'queues', priority: '0', definition: operator ? [{ name: 'max-length', value: '', type: 'Number' }] : [{ name: 'dead-letter-exchange', value: '', type: 'String' }] };
  const [draft, setDraft] = useState<Draft>(fresh);
  const [wrong, setWrong] = useState('');
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const queues = useMatches(draft.vhost, draft.pattern, draft.applyTo === 'exchanges' ? null : 'queues');
  const exchanges = useMatches(draft.vhost, draft.pattern, draft.applyTo === 'exchanges' || draft.applyTo === 'all' ? 'exchanges' : null);
  const bad = [queues.error, exchanges.error].find((error): error is ApiError => error !== undefined);
  const own = useMemo(() => policies.filter((one) => one.vhost === draft.vhost), [policies, draft.vhost]);
  const noun = operator ? 'operator policy' : 'policy';
  const save = async (event: Event) => {
    event.preventDefault();
    setWrong('');
    try {
      const definition = pairsToObject(draft.definition.filter((pair) => pair.value !== '' || pair.name === 'dead-letter-exchange'));
      await api.put(at(operator ? 'operator-policies' : 'policies', draft.vhost, draft.name), { pattern: draft.pattern, 'apply-to': draft.applyTo, priority: Number(draft.priority || 0), definition });
      say(`${noun[0]!.toUpperCase() + noun.slice(1)} ${draft.name} is set`);
      retryAll();
      if (!known) setDraft(fresh());
    } catch (error) {
      setWrong((error as Error).message.replace(/^Validation failed\s+/, ''));
    }
  };
  return (
    <div class="cols">
      <Card title={known ? `Change ${noun} ${visible(known.name)}` : `Add ${operator ? 'an operator' : 'a'} policy`} id={operator ? 'operator-form' : 'policy-form'}>
        <form class="card-body form" onSubmit={save}>
          {!known && <VhostField value={draft.vhost} set={(vhost) => set({ vhost })} />}
          <div class="form-2">
            <TextField label="Name" value={draft.name} set={(name) => set({ name })} required />
            <TextField label="Pattern" value={draft.pattern} set={(pattern) => set({ pattern })} required mono error={bad && draft.pattern !== '' ? visible(bad.reason) : undefined}
              hint={queues.data && draft.pattern !== '' && draft.applyTo !== 'exchanges' ? `matches ${plural(queues.data.filtered_count, 'queue')}` : 'regular expression on the name; .* matches all'} />
            <SelectField label="Apply to" value={draft.applyTo} set={(one) => set({ applyTo: one })} options={operator ? applyTo.slice(0, 3) : applyTo} />
            <TextField label="Priority" value={draft.priority} set={(priority) => set({ priority })} type="number" hint="the highest that matches applies" />
          </div>
          <Pairs label="Definition" pairs={draft.definition} set={(definition) => set({ definition })} suggestions={operator ? operatorKeys : keys} add="Key" />
          {wrong && <p class="is-dead" role="alert">{visible(wrong)}</p>}
          <div class="form-actions">
            <button class="btn btn-primary" type="submit">Save {noun}</button>
            {known ? <a class="btn" href="#/policies">Done</a> : null}
          </div>
        </form>
      </Card>
      <Card title="What it matches" note="nothing is changed yet">
        <div class="card-body stack">
          {draft.pattern === '' ? <p class="muted">Type a pattern to see the queues and exchanges it matches.</p> : bad ? <Callout tone="dead" title="The pattern cannot be used:">{visible(bad.reason)}</Callout> : (
            <>
              {draft.applyTo !== 'exchanges' && (queues.data ? <MatchTable found={queues.data} kind="queues" vhost={draft.vhost} draft={draft} policies={own} /> : <Loading rows={3} />)}
              {(draft.applyTo === 'exchanges' || draft.applyTo === 'all') && (exchanges.data ? <MatchTable found={exchanges.data} kind="exchanges" vhost={draft.vhost} draft={draft} policies={own} /> : <Loading rows={3} />)}
            </>
          )}
        </div>
      </Card>
    </div>
  );
}

export function PoliciesPage({ path }: { path: string[] }): JSX.Element {
  const vhost = chosenVhost.use();
  const policies = useResource<Policy[]>(vhost === '' ? '/policies' : at('policies', vhost));
  const operators = useResource<Policy[]>(vhost === '' ? '/operator-policies' : at('operator-policies', vhost));
  const overview = useResource<Overview>('/overview?columns=is_op_policy_updating_enabled', 0);
  const mayOperate = may.administrate() && overview.data?.is_op_policy_updating_enabled !== false;
  const named = path.length === 3;
  const uses = useUses(vhost);
  const asOperator = named && (location.hash.includes('operator=true') || !(policies.data ?? []).some((one) => one.vhost === path[1] && one.name === path[2]));
  const list = asOperator ? operators : policies;
  const known = named ? (list.data ?? []).find((one) => one.vhost === path[1] && one.name === path[2]) : undefined;
  const empty = (text: string) => <State icon="policy" title="No policies"><p>{text}</p></State>;
  if (named) {
    return (
      <>
        <AdminHead title={path[2]!} at="policies" crumb={{ title: 'Policies', href: '#/policies' }} />
        {!policies.data || !operators.data ? <section class="card">{list.error ? <Failed error={list.error} retry={list.reload} /> : <Loading />}</section>
          : !known ? <section class="card"><State icon="search" title="Not found"><p>There is no such policy in virtual host {visible(path[1]!)}, or not any more.</p><button class="btn" onClick={() => go(['policies'])}>All policies</button></State></section>
            : (asOperator ? mayOperate : may.makePolicies(known.vhost)) ? <PolicyForm key={known.vhost + known.name} known={known} operator={asOperator} policies={policies.data} />
              : <section class="card"><div class="card-body"><p><code>{visible(known.pattern)}</code>, {known['apply-to']}, priority {known.priority}</p><Definition of={known.definition} /></div></section>}
      </>
    );
  }
  return (
    <>
      <AdminHead title="Policies" at="policies" marks={policies.data && <span class="count">{count(policies.data.length)}</span>}
        actions={may.makePolicies() && <a class="btn btn-primary" href="#policy-form" onClick={jump('policy-form')}><Icon name="plus" />Add a policy</a>} />
      <div class="stack">
        <ListTable<Policy> label="Policies" noun={['policy', 'policies']} store="policies" columns={columns(false, uses?.policies)} of={policies} rowKey={(one) => `${one.vhost} ${one.name}`} rowLink={(one) => policyLink(one.vhost, one.name)} firstSort="name"
          matches={(one, filter) => `${one.name} ${one.pattern}`.toLowerCase().includes(filter)} filterHint="Filter by name or pattern" empty={empty('A policy gives queues a dead-letter exchange, a TTL or a limit by a pattern on their names, without redeclaring them.')} />
        <Card title="Operator policies" note="set by administrators; they can only make limits lower">
          <ListTable<Policy> bare label="Operator policies" noun={['operator policy', 'operator policies']} store="operator-policies" prefix="op." columns={columns(true, uses?.operators)} of={operators} rowKey={(one) => `${one.vhost} ${one.name}`} rowLink={(one) => link(['policies', one.vhost, one.name], { operator: 'true' })} firstSort="name"
            empty={empty('An operator policy limits length, TTL, expiry and deliveries, whatever applications and other policies ask for.')} plain />
        </Card>
        {may.makePolicies() && <PolicyForm operator={false} policies={policies.data ?? []} />}
        {mayOperate && <details class="card fold"><summary><Icon name="plus" />Add an operator policy</summary><PolicyForm operator policies={policies.data ?? []} /></details>}
      </div>
    </>
  );
}
