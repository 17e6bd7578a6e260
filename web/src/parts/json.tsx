// A JSON value as a tree of text nodes.
import type { JSX } from 'preact';
import { visible } from '../format';

export function JsonTree({ value }: { value: unknown }): JSX.Element {
  return <div class="json"><Value value={value} depth={0} /></div>;
}

function Value({ value, depth }: { value: unknown; depth: number }): JSX.Element {
  if (value === null) return <span class="b">null</span>;
  if (typeof value === 'string') return <span class="s">"{visible(value)}"</span>;
  if (typeof value === 'number') return <span class="n">{String(value)}</span>;
  if (typeof value === 'boolean') return <span class="b">{String(value)}</span>;
  const list = Array.isArray(value);
  const entries = Object.entries(value as object);
  const note = list ? `[] ${entries.length}` : `{} ${entries.length} ${entries.length === 1 ? 'key' : 'keys'}`;
  if (entries.length === 0) return <span class="note">{list ? '[]' : '{}'}</span>;
  return (
    <details open={depth < 2 && entries.length <= 50}>
      <summary class="note">{note}</summary>
      <ul>{entries.slice(0, 500).map(([key, one]) => <li key={key}>{!list && <><span class="k">{visible(key)}</span>: </>}<Value value={one} depth={depth + 1} /></li>)}
        {entries.length > 500 && <li class="note">and {entries.length - 500} more</li>}</ul>
    </details>
  );
}
