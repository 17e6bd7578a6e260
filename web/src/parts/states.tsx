// States of a list or page without data: loading, empty, error, no permission.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from '../api';
import { Icon, type IconName } from '../icons';
import { session } from '../session';
import { visible } from '../format';
import type { Resource } from '../resource';

/** A skeleton, shown if the response takes longer than 200 ms. */
export function Loading({ rows = 5 }: { rows?: number }): JSX.Element {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  const widths = ['sk-60', 'sk-80', 'sk-40', 'sk-60', 'sk-25'];
  return (
    <div class="loading" role="status" aria-label="Loading">
      {late && Array.from({ length: rows }, (_, row) => <span key={row} class={`skeleton ${widths[row % widths.length]}`} />)}
    </div>
  );
}

interface StateProps {
  icon: IconName;
  title: string;
  tone?: 'dead' | 'ok';
  children?: ComponentChildren;
}

export function State({ icon, title, tone, children }: StateProps): JSX.Element {
  return (
    <div class={tone ? `state state-${tone}` : 'state'}>
      <Icon name={icon} />
      <h3>{title}</h3>
      {children}
    </div>
  );
}

const missingRights: Record<string, string> = {
  'Not administrator user': 'It needs the tag administrator.',
  'Not monitor user': 'It needs the tag monitoring or administrator.',
  'User not authorised to access virtual host': 'It needs permissions in this virtual host.',
  'User not authorised to access object': 'It needs the tag policymaker and permissions in this virtual host.',
  'Not management user': 'It needs one of the tags management, policymaker, monitoring and administrator.',
};

export function Failed({ error, retry }: { error: ApiError; retry?: () => void }): JSX.Element {
  if (error.notPermitted) {
    return (
      <State icon="lock" title="Not permitted">
        <p>{session.get()?.name} may not see this. {missingRights[error.reason] ?? visible(error.reason)}</p>
      </State>
    );
  }
  return (
    <State icon="warning" tone="dead" title={error.missing ? 'Not found' : 'This could not be loaded'}>
      <p>{error.missing ? 'It does not exist, or not any more.' : `The broker says: ${visible(error.reason)}`}</p>
      {retry && <button class="btn" onClick={retry}><Icon name="refresh" />Try again</button>}
    </State>
  );
}

/** Shows the data of a resource, or its state. */
export function Shown<T>({ of, rows, children }: {
  of: Resource<T>; rows?: number; children: (data: T) => ComponentChildren;
}): JSX.Element {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  if (of.error) return <Failed error={of.error} retry={of.reload} />;
  return <Loading rows={rows} />;
}

export function Callout({ tone, icon, title, children, actions }: {
  tone: 'dead' | 'warn' | 'info' | 'ok'; icon?: IconName; title: ComponentChildren; children?: ComponentChildren;
  actions?: ComponentChildren;
}): JSX.Element {
  const own: IconName = tone === 'ok' ? 'check' : tone === 'info' ? 'info' : 'warning';
  return (
    <div class={`callout callout-${tone}`}>
      <Icon name={icon ?? own} />
      <div><strong>{title}</strong> {children}</div>
      {actions && <div class="row">{actions}</div>}
    </div>
  );
}
