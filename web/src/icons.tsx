// Icons on a 16 px grid with 1.5 px strokes.
import type { JSX } from 'preact';

const drawings = {
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>',
  columns: '<rect x="2" y="3" width="12" height="10" rx="1.5"/><path d="M6 3v10M10 3v10"/>',
  download: '<path d="M8 2.5v7.5m-3-3 3 3 3-3M3 13h10"/>',
  upload: '<path d="M8 10V2.5m-3 3 3-3 3 3M3 13h10"/>',
  right: '<path d="m6 3.5 4.5 4.5L6 12.5"/>',
  left: '<path d="M10 3.5 5.5 8l4.5 4.5"/>',
  down: '<path d="m3.5 6 4.5 4.5L12.5 6"/>',
  close: '<path d="m4 4 8 8m0-8-8 8"/>',
  check: '<path d="m3 8.5 3.5 3.5L13 4.5"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  minus: '<path d="M3 8h10"/>',
  arrow: '<path d="M2.5 8h11m-4-4 4 4-4 4"/>',
  warning: '<path d="M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.3v3.7M8 5v.1"/>',
  rejected: '<circle cx="8" cy="8" r="6"/><path d="m5.7 5.7 4.6 4.6m0-4.6-4.6 4.6"/>',
  expired: '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.3 1.8"/>',
  maxlen: '<path d="M3 13.5h10M3 10.5h10M3 7.5h10M8 5V1.5m-2 2 2-2 2 2"/>',
  delivery_limit: '<path d="M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3"/><path d="M8 6v2.6M8 10.6v.1"/>',
  return: '<path d="M6 3 2.5 6.5 6 10"/><path d="M2.5 6.5H10a3.5 3.5 0 0 1 0 7H6.5"/>',
  mute: '<path d="M4 11h8l-1-1.7V7a3 3 0 0 0-6 0v2.3zM7 13.3h2M2.5 2.5l11 11"/>',
  letter: '<rect x="2" y="3.5" width="12" height="9" rx="1.2"/><path d="m2.5 4.5 5.5 4.3 5.5-4.3"/>',
  pause: '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
  play: '<path d="M5 3.2 12.5 8 5 12.8z"/>',
  stop: '<rect x="4" y="4" width="8" height="8" rx="1"/>',
  trash: '<path d="M3 4.5h10M6 4.5V3h4v1.5M4.3 4.5l.6 8.5h6.2l.6-8.5"/>',
  eye: '<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.8"/>',
  hidden: '<path d="M2 2l12 12M6.3 4A7 7 0 0 1 8 3.8c4 0 6.5 4.2 6.5 4.2a11 11 0 0 1-1.9 2.3M4 5.4A11 11 0 0 0 1.5 8S4 12.2 8 12.200a6 6 0 0 0 2.2-.4"/>',
  copy: '<rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M10.5 5.500V3.700c0-.7-.5-1.2-1.2-1.200H3.700c-.7 0-1.2.5-1.2 1.200v5.600c0 .7.5 1.2 1.2 1.200h1.8"/>',
  filter: '<path d="M2 3.500h12L9.5 8.700v4.300l-3-1.500V8.700z"/>',
  link: '<path d="M6.7 9.300a2.6 2.6 0 0 0 3.7 0l2.3-2.300a2.6 2.6 0 0 0-3.7-3.700L8 4.300M9.3 6.700a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.700l1-1"/>',
  lock: '<rect x="3.5" y="7" width="9" height="6.5" rx="1.2"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
  argument: '<path d="M6 2.500c-2 0-1.5 2-1.5 3.500S3.5 8 2.5 8c1 0 2 .5 2 2s-.5 3.5 1.5 3.500M10 2.500c2 0 1.5 2 1.5 3.500s1 2 2 2c-1 0-2 .5-2 2s.5 3.5-1.5 3.5"/>',
  policy: '<path d="M4 2h5l3.5 3.500V14H4zM9 2v3.500h3.500M6.3 8.500h4M6.3 11h4"/>',
  default: '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2 2.3"/>',
  sun: '<circle cx="8" cy="8" r="2.8"/><path d="M8 1.500v1.600M8 12.900v1.600M1.5 8h1.600M12.9 8h1.600M3.4 3.400l1.1 1.100M11.5 11.500l1.1 1.100M3.4 12.600l1.1-1.100M11.5 4.500l1.1-1.1"/>',
  menu: '<path d="M2.5 4.500h11M2.5 8h11M2.5 11.500h11"/>',
  user: '<circle cx="8" cy="5.5" r="2.7"/><path d="M2.8 13.500c.5-2.7 2.6-4 5.2-4s4.7 1.3 5.2 4"/>',
  refresh: '<path d="M13 8a5 5 0 1 1-1.6-3.700M13 2v3h-3"/>',
  shield: '<path d="M8 1.8 13 3.600v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.600v-4z"/>',
  more: '<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.5"/>',
  graph: '<circle cx="3.5" cy="8" r="2"/><circle cx="12.5" cy="3.8" r="2"/><circle cx="12.5" cy="12.2" r="2"/><path d="m5.3 7.2 5.4-2.500M5.3 8.800l5.4 2.5"/>',
  table: '<rect x="2" y="3" width="12" height="10" rx="1.2"/><path d="M2 6.500h12M2 9.700h12M7 6.500V13"/>',
  publish: '<path d="M14 2 7.5 8.500M14 2 9.8 14l-2.3-5.500L2 6.200z"/>',
  consumer: '<path d="M2.5 8h7m-3-3 3 3-3 3M10 2.500h2.300c.7 0 1.2.5 1.2 1.200v8.600c0 .7-.5 1.2-1.2 1.200H10"/>',
  queue: '<rect x="2" y="3" width="12" height="3" rx=".8"/><rect x="2" y="6.5" width="12" height="3" rx=".8"/><rect x="2" y="10" width="12" height="3" rx=".8"/>',
  fit: '<path d="M2.5 6V2.500H6M10 2.500h3.500V6M13.5 10v3.500H10M6 13.500H2.500V10"/>',
  key: '<circle cx="5" cy="11" r="2.7"/><path d="m7 9 6-6M10.5 5.500l2 2"/>',
};

export type IconName = keyof typeof drawings;

export function Icon({ name, small }: { name: IconName; small?: boolean }): JSX.Element {
  return (
    <svg class={small ? 'icon icon-sm' : 'icon'} viewBox="0 0 16 16" aria-hidden="true" focusable="false"
      dangerouslySetInnerHTML={{ __html: drawings[name] }} />
  );
}
