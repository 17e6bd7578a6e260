// The frame around every page: navigation, banners, footer.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from './icons';
import { clock, count, plural, visible } from './format';
import { place } from './router';
import { retryAll, trouble, useResource } from './resource';
import { chooseRefresh, chooseVhost, chosenVhost, logOut, may, refreshSeconds, session, switchTheme } from './session';
import { Keys, showHelp } from './keys';
import { Confirmation } from './parts/dialog';
import { Toasts } from './parts/toast';
import { Pop } from './parts/pop';
import type { DeadLetterSummary, Overview } from './types';

const pages: [string, string, string[]][] = [
  ['Overview', '#/', ['']], ['Connections', '#/connections', ['connections']], ['Channels', '#/channels', ['channels']],
  ['Exchanges', '#/exchanges', ['exchanges']], ['Queues', '#/queues', ['queues', 'streams']],
  ['Dead letters', '#/dead-letters', ['dead-letters']], ['Topology', '#/topology', ['topology']],
  ['Admin', '#/users', ['users', 'vhosts', 'policies', 'limits', 'cluster-name', 'nodes', 'feature-flags', 'deprecated-features', 'definitions']],
];

export const Brand = () => (
  <><svg viewBox="0 0 26 26" aria-hidden="true"><rect class="brand-tile" width="26" height="26" rx="6" /><path class="brand-line" d="M11 5.5 6.5 10l4.500 4.500M6.5 10h8.500a5 5 0 0 1 0 10H9" /></svg><span>Revenant</span></>
);

function VhostChoice(): JSX.Element {
  const chosen = chosenVhost.use();
  const known = useResource<{ name: string }[]>('/vhosts?columns=name&disable_stats=true', 60);
  const names = known.data?.map((one) => one.name) ?? [];
  // A deleted virtual host can no longer be selected.
  useEffect(() => { if (known.data && chosen !== '' && !names.includes(chosen)) chooseVhost(''); }, [known.data, chosen]);
  if (chosen !== '' && !names.includes(chosen)) names.unshift(chosen);
  return (
    <select class="select auto" aria-label="Virtual host" value={'=' + chosen} onChange={(event) => chooseVhost(event.currentTarget.value.slice(1))}>
      <option value="=">All virtual hosts</option>
      {names.map((name) => <option key={name} value={'=' + name}>vhost: {visible(name)}</option>)}
    </select>
  );
}

function Live(): JSX.Element {
  const seconds = refreshSeconds.use();
  const bad = trouble.use().since > 0;
  const text = seconds === 0 ? 'Not refreshed' : `Live, every ${seconds} s`;
  return (
    <div class="live">
      <Pop quiet icon="refresh" label={`Refresh: ${text}`} text={<span class={`dot ${bad ? 'dot-down' : seconds ? 'dot-ok' : 'dot-idle'}`}><span class="live-text">{text}</span></span>}>
        {(close) => (
          <>
            <h3>Refresh</h3>
            {[1, 5, 10, 30, 0].map((one) => (
              <button class="menu-item" key={one} aria-pressed={one === seconds} onClick={() => { chooseRefresh(one); close(); }}>
                <span class="menu-mark">{one === seconds && <Icon name="check" />}</span>{one === 0 ? 'Do not refresh' : `Every ${one} s`}
              </button>
            ))}
            <button class="menu-item" onClick={() => { retryAll(); close(); }}><span class="menu-mark"><Icon name="refresh" /></span>Now</button>
          </>
        )}
      </Pop>
    </div>
  );
}

function Banners(): JSX.Element {
  const bad = trouble.use();
  const nodes = useResource<{ name: string; mem_alarm: boolean; disk_free_alarm: boolean }[]>(
    may.monitor() ? '/nodes?columns=name,mem_alarm,disk_free_alarm&disable_stats=true' : null, 15);
  const totals = useResource<Pick<Overview, 'queue_totals'>>('/overview?columns=queue_totals.messages_parked&disable_stats=true', 15);
  const parked = Number(totals.data?.queue_totals.messages_parked ?? 0);
  return (
    <>
      {bad.since > 0 && (
        <div class="banner" role="status"><Icon name="warning" />
          <span>Showing data of {clock(bad.shown, true)}: {visible(bad.text)}.</span>
          <button class="btn btn-sm" onClick={retryAll}>Try again</button></div>
      )}
      {(nodes.data ?? []).filter((node) => node.mem_alarm || node.disk_free_alarm).map((node) => (
        <div class="banner banner-dead" role="alert" key={node.name}><Icon name="warning" />
          <span><strong>{node.mem_alarm ? 'Memory' : 'Disk'} alarm on {visible(node.name)}:</strong> publishers are blocked until {node.mem_alarm ? 'memory use is below its limit' : 'there is more free disk space'}.</span>
          <a class="btn btn-sm" href={`#/nodes/${encodeURIComponent(node.name)}`}>Open node</a></div>
      ))}
      {parked > 0 && (
        <div class="banner banner-dead" role="alert"><Icon name="warning" />
          <span><strong>{plural(parked, 'message')} cannot be read from the disk:</strong> {parked === 1 ? 'it is' : 'they are'} parked and not delivered.</span>
          <a class="btn btn-sm" href="#/queues?vhost=&sort=messages_parked&desc=true">Open queues</a></div>
      )}
    </>
  );
}

export function Shell({ children }: { children: ComponentChildren }): JSX.Element {
  const here = place.use().path[0] ?? '';
  const user = session.use()!;
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [place.use()]);
  const summary = useResource<DeadLetterSummary>('/dead-letters?columns=targets&disable_stats=true', 30);
  const overview = useResource<Overview>('/overview?columns=product_version,rabbitmq_version,cluster_name,node', 0);
  const present = summary.data?.targets.messages ?? 0;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to content</a>
      <header class="topbar">
        <a class="brand" href="#/" aria-label="Revenant, overview"><Brand /></a>
        <nav class={open ? 'mainnav open' : 'mainnav'} id="mainnav" aria-label="Main">
          {pages.map(([title, href, owned]) => (
            <a key={title} href={title === 'Admin' && !may.administrate() ? '#/policies' : href} aria-current={owned.includes(here) ? 'page' : undefined} onClick={() => setOpen(false)}>
              {title}{title === 'Dead letters' && present > 0 && <span class="count count-dead">{count(present)}</span>}
            </a>
          ))}
        </nav>
        <div class="topbar-tools">
          <Live />
          <VhostChoice />
          <button class="btn btn-quiet btn-icon" aria-label="Switch between light and dark" title="Light or dark" onClick={switchTheme}><Icon name="sun" /></button>
          <Pop quiet icon="user" label={`User ${user.name}`} text={<span class="user-name">{visible(user.name)}</span>}>
            {() => (
              <>
                <h3>{visible(user.name)}: {user.tags.join(', ') || 'no tags'}</h3>
                <button class="menu-item" onClick={showHelp}><span class="menu-mark" />Keys</button>
                <button class="menu-item" onClick={() => logOut()}><span class="menu-mark" />Log out</button>
              </>
            )}
          </Pop>
          <button class="btn btn-quiet btn-icon menu-button" aria-expanded={open} aria-controls="mainnav" aria-label="Menu" onClick={() => setOpen(!open)}><Icon name="menu" /></button>
        </div>
      </header>
      <Banners />
      <main id="main" tabIndex={-1}>{children}</main>
      <footer class="foot">
        <span>Revenant {overview.data?.product_version ?? ''}, RabbitMQ {overview.data?.rabbitmq_version ?? ''} compatible</span>
        <span>{visible(overview.data?.cluster_name ?? '')}</span>
        <button class="link" onClick={showHelp}><kbd>?</kbd> keys</button>
        <a href="licenses.txt">Licences</a>
      </footer>
      <Toasts />
      <Confirmation />
      <Keys />
    </>
  );
}
