// Form fields, and rows of names and typed values.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../icons';

export function Field({ label, hint, error, children }: {
  label: string; hint?: ComponentChildren; error?: string; children: (id: string) => ComponentChildren;
}): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {error ? <span class="error" role="alert"><Icon name="warning" small />{error}</span> : hint ? <span class="hint">{hint}</span> : null}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  set: (value: string) => void;
  hint?: ComponentChildren;
  error?: string;
  invalid?: boolean; // the error text is shown elsewhere
  mono?: boolean;
  type?: string;
  required?: boolean;
  first?: boolean;
  placeholder?: string;
  list?: string;
  autocomplete?: string;
}

export function TextField({ label, value, set, hint, error, invalid, mono, type = 'text', required, first, placeholder, list, autocomplete = 'off' }: TextProps): JSX.Element {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id) => (
        <input id={id} class={mono ? 'input mono' : 'input'} type={type} value={value} required={required} placeholder={placeholder}
          list={list} autocomplete={autocomplete} spellcheck={false} aria-invalid={error || invalid ? 'true' : undefined} data-first={first ? '' : undefined}
          onInput={(event) => set(event.currentTarget.value)} />
      )}
    </Field>
  );
}

export function SelectField({ label, value, set, options, hint }: {
  label: string; value: string; set: (value: string) => void; options: [string, string][]; hint?: ComponentChildren;
}): JSX.Element {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <select id={id} class="select" value={value} onChange={(event) => set(event.currentTarget.value)}>
          {options.map(([key, title]) => <option key={key} value={key}>{title}</option>)}
        </select>
      )}
    </Field>
  );
}

export function Check({ label, value, set }: { label: ComponentChildren; value: boolean; set: (value: boolean) => void }): JSX.Element {
  return (
    <label class="check"><input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} /><span>{label}</span></label>
  );
}

export interface Pair {
  name: string;
  value: string;
  type: 'String' | 'Number' | 'Boolean' | 'List';
}

export const emptyPair: Pair = { name: '', value: '', type: 'String' };

/** Omits pairs without a name. The error names a value that does not match its type. */
export function pairsToObject(pairs: Pair[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const { name, value, type } of pairs) {
    if (name.trim() === '') continue;
    if (type === 'Number') {
      const number = Number(value);
      if (value.trim() === '' || Number.isNaN(number)) throw new Error(`${name}: "${value}" is not a number`);
      result[name] = number;
    } else if (type === 'Boolean') {
      if (value !== 'true' && value !== 'false') throw new Error(`${name}: "${value}" is neither true nor false`);
      result[name] = value === 'true';
    } else if (type === 'List') {
      result[name] = value.split(',').map((one) => one.trim()).filter((one) => one !== '');
    } else {
      result[name] = value;
    }
  }
  return result;
}

export function pairOf(name: string, value: unknown): Pair {
  if (typeof value === 'number') return { name, value: String(value), type: 'Number' };
  if (typeof value === 'boolean') return { name, value: String(value), type: 'Boolean' };
  if (Array.isArray(value)) return { name, value: value.join(', '), type: 'List' };
  return { name, value: typeof value === 'string' ? value : JSON.stringify(value), type: 'String' };
}

export function Pairs({ label, pairs, set, suggestions, add = 'Argument' }: {
  label: string; pairs: Pair[]; set: (pairs: Pair[]) => void; suggestions?: [string, Pair['type']][]; add?: string;
}): JSX.Element {
  const change = (index: number, part: Partial<Pair>) => set(pairs.map((pair, at) => (at === index ? { ...pair, ...part } : pair)));
  const unused = (suggestions ?? []).filter(([name]) => !pairs.some((pair) => pair.name === name));
  const put = (name: string, type: Pair['type']) => {
    const next = pairs.filter((pair) => pair.name !== '' || pair.value !== '');
    set([...next, { name, value: type === 'Boolean' ? 'true' : '', type }]);
  };
  return (
    <fieldset class="form">
      <legend class="label">{label}</legend>
      {pairs.map((pair, index) => (
        <div class="kv-row" key={index}>
          <input class="input mono" aria-label="Name" placeholder="name" value={pair.name} spellcheck={false} onInput={(event) => change(index, { name: event.currentTarget.value })} />
          <input class="input mono" aria-label={`Value of ${pair.name || 'the field'}`} placeholder="value" value={pair.value} spellcheck={false} onInput={(event) => change(index, { value: event.currentTarget.value })} />
          <select class="select" aria-label={`Type of ${pair.name || 'the field'}`} value={pair.type} onChange={(event) => change(index, { type: event.currentTarget.value as Pair['type'] })}>
            {['String', 'Number', 'Boolean', 'List'].map((type) => <option key={type}>{type}</option>)}
          </select>
          <button type="button" class="btn btn-quiet btn-icon" aria-label={`Remove ${pair.name || 'the field'}`} onClick={() => set(pairs.filter((_, at) => at !== index))}><Icon name="close" /></button>
        </div>
      ))}
      <div class="row">
        <button type="button" class="btn btn-sm" onClick={() => set([...pairs, emptyPair])}><Icon name="plus" />{add}</button>
        {unused.map(([name, type]) => <button type="button" key={name} class="btn btn-sm" onClick={() => put(name, type)}>{name}</button>)}
      </div>
    </fieldset>
  );
}
