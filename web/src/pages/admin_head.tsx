// The header of all admin pages; a user sees the links to what the user may see.
import type { ComponentChildren, JSX } from 'preact';
import { may } from '../session';
import { PageHead, type Crumb } from '../parts/card';

const pages: [string, string, () => boolean][] = [
  ['users', 'Users', () => may.administrate()], ['vhosts', 'Virtual hosts', () => true], ['policies', 'Policies', () => true], ['limits', 'Limits', () => true],
  ['cluster-name', 'Cluster', () => true], ['nodes', 'Nodes', () => may.monitor()], ['feature-flags', 'Feature flags', () => true],
  ['deprecated-features', 'Deprecated features', () => true], ['definitions', 'Definitions', () => may.administrate()],
];

export function AdminHead({ title, at, crumb, actions, marks }: { title: string; at: string; crumb?: Crumb; actions?: ComponentChildren; marks?: ComponentChildren }): JSX.Element {
  return (
    <>
      <PageHead title={title} crumbs={[{ title: 'Admin' }, ...(crumb ? [crumb] : []), { title }]} actions={actions} marks={marks} />
      <nav class="subnav" aria-label="Admin">
        {pages.filter(([, , allowed]) => allowed()).map(([id, name]) => <a key={id} href={`#/${id}`} aria-current={id === at ? 'page' : undefined}>{name}</a>)}
      </nav>
      <div class="subnav-gap" />
    </>
  );
}
