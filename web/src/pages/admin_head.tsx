// The header of all admin pages, with links to the pages that the user may see.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { may } from '../session';
import { PageHead, type Crumb } from '../parts/card';

const pages: [string, string, () => boolean][] = [
  ['users', 'Users', () => may.administrate()], ['vhosts', 'Virtual hosts', () => true], ['policies', 'Policies', () => true], ['limits', 'Limits', () => true],
  ['cluster-name', 'Cluster', () => true], ['nodes', 'Nodes', () => may.monitor()], ['feature-flags', 'Feature flags', () => true],
  ['deprecated-features', 'Deprecated features', () => true], ['definitions', 'Definitions', () => may.administrate()],
];

export function AdminHead({ title, at, crumb, actions, marks, sub }: { title: string; at: string; sub?: string; crumb?: Crumb; actions?: ComponentChildren; marks?: ComponentChildren }): JSX.Element {
  // On a phone the row is wider than the screen, so the current page is scrolled into view.
  const here = useRef<HTMLElement>(null);
  useEffect(() => {
    const row = here.current, link = row?.querySelector<HTMLElement>('[aria-current]');
    if (row && link) row.scrollLeft = link.offsetLeft - (row.clientWidth - link.offsetWidth) / 2;
  }, [at]);
  return (
    <>
      <PageHead title={title} crumbs={[{ title: 'Admin' }, ...(crumb ? [crumb] : []), { title }]} actions={actions} marks={marks} sub={sub} />
      <nav class="subnav" aria-label="Admin" ref={here}>
        {pages.filter(([, , allowed]) => allowed()).map(([id, name]) => <a key={id} href={`#/${id}`} aria-current={id === at ? 'page' : undefined}>{name}</a>)}
      </nav>
      <div class="subnav-gap" />
    </>
  );
}
