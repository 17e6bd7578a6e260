// Toasts: results that the page does not show otherwise. Errors stay until they are dismissed.
import type { JSX } from 'preact';
import { Icon } from '../icons';
import { createStore } from '../store';
import { ApiError } from '../api';
import { visible } from '../format';

interface Note {
  id: number;
  text: string;
  failed: boolean;
}

const notes = createStore<Note[]>([]);
let next = 1;

function add(text: string, failed: boolean): void {
  const id = next++;
  notes.set([...notes.get().slice(-4), { id, text: visible(text), failed }]);
  if (!failed) setTimeout(() => dismiss(id), 5000);
}

const dismiss = (id: number) => notes.set(notes.get().filter((note) => note.id !== id));

export const say = (text: string) => add(text, false);
export function sayFailure(what: string, error: unknown): void {
  const reason = error instanceof ApiError ? error.reason.replace(/^Validation failed\s+/, '').trim() : String(error);
  add(`${what}: ${reason}`, true);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notes.use().map((note) => (
        <div key={note.id} class={note.failed ? 'toast toast-dead' : 'toast'} role={note.failed ? 'alert' : undefined}>
          <Icon name={note.failed ? 'warning' : 'check'} />
          <span>{note.text}</span>
          <button class="btn btn-quiet btn-icon btn-sm" aria-label="Dismiss" onClick={() => dismiss(note.id)}><Icon name="close" /></button>
        </div>
      ))}
    </div>
  );
}
