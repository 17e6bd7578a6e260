// Confirmation dialogs, which name the object and the consequences.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../icons';
import { createStore } from '../store';
import { ApiError } from '../api';
import { visible } from '../format';

export function Dialog({ title, close, children, foot }: {
  title: string; close: () => void; children: ComponentChildren; foot?: ComponentChildren;
}): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    dialog.querySelector<HTMLElement>('[data-first]')?.focus();
    return () => {
      if (dialog.open) dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onCancel={(event) => { event.preventDefault(); close(); }}
      onClick={(event) => { if (event.target === element.current) close(); }}>
      <div class="dialog-head">
        <h2 id="dialog-title">{visible(title)}</h2>
        <button type="button" class="btn btn-quiet btn-icon" aria-label="Close" onClick={close}><Icon name="close" /></button>
      </div>
      <div class="dialog-body">{children}</div>
      {foot && <div class="dialog-foot">{foot}</div>}
    </dialog>
  );
}

export interface Question {
  title: string;
  body: ComponentChildren; // the consequences
  typed?: string; // must be typed to enable the button
  typedLabel?: string;
  button: string;
  act: () => Promise<unknown>;
}

const question = createStore<Question | null>(null);
export const ask = (one: Question) => question.set(one);

/** Renders all confirmation dialogs. */
export function Confirmation(): JSX.Element | null {
  const asked = question.use();
  return asked && <Asked key={asked.title} asked={asked} />;
}

function Asked({ asked }: { asked: Question }): JSX.Element {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState('');
  const close = () => question.set(null);
  const ready = asked.typed === undefined || typed.trim() === asked.typed;
  const act = async (event: Event) => {
    event.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    try {
      await asked.act();
      close();
    } catch (error) {
      setWrong(error instanceof ApiError ? error.reason : String(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title={asked.title} close={close} foot={<>
      <button type="button" class="btn" onClick={close} data-first={asked.typed === undefined ? '' : undefined}>Cancel</button>
      <button type="submit" form="confirmation" class="btn btn-dead-solid" disabled={!ready || busy}>{visible(asked.button)}</button>
    </>}>
      <form id="confirmation" class="form" onSubmit={act}>
        {asked.body}
        {asked.typed !== undefined && (
          <div class="field">
            <label for="typed">{asked.typedLabel ?? 'To confirm, type'} <code>{visible(asked.typed)}</code></label>
            <input id="typed" class="input mono" value={typed} autocomplete="off" data-first=""
              onInput={(event) => setTyped(event.currentTarget.value)} />
          </div>
        )}
        {wrong && <p class="is-dead" role="alert">{visible(wrong)}</p>}
      </form>
    </Dialog>
  );
}
