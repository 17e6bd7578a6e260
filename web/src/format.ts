// Human-readable numbers, sizes, times and names.

const grouped = new Intl.NumberFormat('en-US');

export const unknown = '–';

/** 12,932; above ten million: 12.9 M. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return unknown;
  if (Math.abs(value) < 10_000_000) return grouped.format(Math.round(value));
  const [size, unit] = Math.abs(value) >= 1e9 ? [1e9, 'G'] : [1e6, 'M'];
  return `${(value / size).toFixed(1)} ${unit}`;
}

export const exact = (value: number): string => grouped.format(value);

/** "1 queue", "2 queues". */
export function plural(value: number, one: string, many: string = one + 's'): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function rate(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return unknown;
  if (value === 0) return '0';
  if (value < 0.05) return '<0.1/s';
  return (value >= 1000 ? grouped.format(Math.round(value)) : value.toFixed(1)) + '/s';
}

export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return unknown;
  if (value < 1024) return `${exact(value)} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let size = value / 1024;
  let at = 0;
  for (; size >= 1024 && at < units.length - 1; at++) size /= 1024;
  return `${size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[at]}`;
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return unknown;
  const value = (part / whole) * 100;
  return (value > 99 && value < 100 ? value.toFixed(1) : Math.round(value).toString()) + '%';
}

const two = (value: number) => String(value).padStart(2, '0');
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 03:12:38 (today), 14 Nov (this year), 14 Nov 2025 (earlier). */
export function time(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return unknown;
  const at = new Date(ms);
  const now = new Date();
  if (at.toDateString() === now.toDateString()) return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const day = `${at.getDate()} ${months[at.getMonth()]}`;
  return at.getFullYear() === now.getFullYear() ? day : `${day} ${at.getFullYear()}`;
}

export const clock = (ms: number, withSeconds = false): string => {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}` + (withSeconds ? `:${two(at.getSeconds())}` : '');
};

export const fullTime = (ms: number): string => new Date(ms).toString();

/** 30.0 s, 18 min, 12 d 4 h. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return unknown;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1).replace(/\.0$/, '')} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min` + (seconds % 60 >= 1 && minutes < 5 ? ` ${Math.floor(seconds % 60)} s` : '');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h` + (minutes % 60 ? ` ${minutes % 60} min` : '');
  return `${Math.floor(hours / 24)} d` + (hours % 24 ? ` ${hours % 24} h` : '');
}

export const ago = (ms: number): string => `${duration(Math.max(0, Date.now() - ms)).replace(/\.\d s$/, ' s')} ago`;

const control: Record<number, string> = { 9: 'TAB', 10: 'LF', 13: 'CR', 27: 'ESC', 0: 'NUL' };

// Invisible, reordering and control characters are replaced by their names.
const invisible = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text: string): string {
  return text.replace(invisible, (one) => {
    const code = one.charCodeAt(0);
    return `⟨${control[code] ?? 'U+' + code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  });
}

/** Like visible(), but keeps line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map((line) => visible(line.replace(/\t/g, '  ').replace(/\r$/, ''))).join('\n');
}

export function asText(value: unknown): string {
  if (value === null || value === undefined) return unknown;
  if (typeof value === 'string') return visible(value);
  if (typeof value === 'object') return visible(JSON.stringify(value));
  return String(value);
}
