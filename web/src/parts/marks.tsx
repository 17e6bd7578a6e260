// Badges and marks: features, states, reasons, sources, names.
import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from '../icons';
import { exchangeLink, policyLink, queueLink } from '../router';
import { count, exact, fullTime, time, unknown, visible, rate } from '../format';

export const reasons = ['rejected', 'expired', 'maxlen', 'delivery_limit'] as const;
export type Reason = (typeof reasons)[number];
export const reasonColour: Record<Reason, number> = { rejected: 5, expired: 4, maxlen: 6, delivery_limit: 2 };

export function ReasonMark({ reason }: { reason: string }): JSX.Element {
  const known = (reasons as readonly string[]).includes(reason);
  return (
    <span class={`reason reason-${known ? reason : 'other'}`}>
      <Icon name={known ? (reason as IconName) : 'info'} />{visible(reason)}
    </span>
  );
}

export function Badge({ children, title, kind = '', href }: {
  children: ComponentChildren; title: string; kind?: string; href?: string;
}): JSX.Element {
  return href ? <a class={`badge ${kind}`} title={title} href={href}>{children}</a>
    : <span class={`badge ${kind}`} title={title}>{children}</span>;
}

const dots: Record<string, string> = {
  running: 'dot-ok', up: 'dot-ok', single_active: 'dot-ok', enabled: 'dot-ok', attached: 'dot-ok', idle: 'dot-idle', waiting: 'dot-idle', flow: 'dot-flow',
  blocked: 'dot-flow', blocking: 'dot-flow', down: 'dot-down', stopped: 'dot-down', closed: 'dot-down', crashed: 'dot-down',
};

export function StateDot({ state }: { state: string | undefined }): JSX.Element {
  return <span class={`dot ${dots[state ?? ''] ?? 'dot-idle'}`}>{state ? visible(state) : unknown}</span>;
}

export function Name({ text, href, sub }: { text: string; href?: string; sub?: ComponentChildren }): JSX.Element {
  const shown = visible(text);
  return (
    <>
      {href ? <a class="cell-main" href={href} title={shown}>{shown}</a> : <span class="cell-main" title={shown}>{shown}</span>}
      {sub && <span class="cell-sub only-phone">{sub}</span>}
    </>
  );
}

export const QueueName = ({ vhost, name }: { vhost: string; name: string }) => <a href={queueLink(vhost, name)}>{visible(name)}</a>;
export const exchangeTitle = (name: string) => (name === '' ? '(default exchange)' : visible(name));
export const ExchangeName = ({ vhost, name }: { vhost: string; name: string }) => (
  <a href={exchangeLink(vhost, name)}>{exchangeTitle(name)}</a>
);
export const PolicyBadge = ({ vhost, name, operator }: { vhost: string; name: string; operator?: boolean }) => (
  <Badge kind={operator ? 'badge-oppol' : 'badge-policy'} href={policyLink(vhost, name)} title={`${operator ? 'operator policy' : 'policy'} ${visible(name)}`}>
    {operator && <Icon name="lock" />}{visible(name)}
  </Badge>
);

/** A number in a cell: 0 is muted, an unknown number is a dash. */
export function Num({ value, strong, dead }: { value: number | null | undefined; strong?: boolean; dead?: boolean }): JSX.Element {
  if (value === null || value === undefined) return <span class="zero">{unknown}</span>;
  if (value === 0) return <span class="zero">0</span>;
  return <span class={dead ? 'is-dead strong' : strong ? 'strong' : undefined} title={value >= 10_000_000 ? exact(value) : undefined}>{count(value)}</span>;
}

export function Rate({ value }: { value: number | null | undefined }): JSX.Element {
  return <span class={value ? undefined : 'zero'}>{rate(value ?? 0)}</span>;
}

export function Time({ ms }: { ms: number | null | undefined }): JSX.Element {
  return ms ? <time dateTime={new Date(ms).toISOString()} title={fullTime(ms)}>{time(ms)}</time> : <span class="zero">{unknown}</span>;
}

export type Source = 'argument' | 'policy' | 'operator' | 'default';
export function SourceMark({ of, children }: { of: Source; children?: ComponentChildren }): JSX.Element {
  const icons: Record<Source, IconName> = { argument: 'argument', policy: 'policy', operator: 'lock', default: 'default' };
  return <span class={`source source-${of}`}><Icon name={icons[of]} /><span>{children ?? of}</span></span>;
}

/** RabbitMQ's API writes AMQP 1.0 as "AMQP 1-0". */
export const protocolTitle = (name: string) => (name === 'AMQP 1-0' ? 'AMQP 1.0' : visible(name));

export const Yes = ({ of }: { of: boolean | undefined }) => (of ? <span>yes</span> : <span class="zero">no</span>);
