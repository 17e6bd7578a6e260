// Resources: data of the broker that a page shows, refreshed while the page is visible.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { api, ApiError } from './api';
import { createStore } from './store';
import { refreshSeconds } from './session';

export interface Resource<T> {
  data?: T;
  error?: ApiError;
  at: number; // when the data arrived
  answers: string; // the path that the data belong to
  loading: boolean; // there is no response for this path yet
  reload: () => void;
}

/** The time since when the broker does not respond; 0 while it does. */
export const trouble = createStore<{ since: number; text: string; shown: number }>({ since: 0, text: '', shown: 0 });
const retries = new Set<() => void>();
export const retryAll = () => retries.forEach((retry) => retry());

const slowest = 60_000;
let lastGood = Date.now();

function noteGood(): void {
  lastGood = Date.now();
  if (trouble.get().since) trouble.set({ since: 0, text: '', shown: 0 });
}

function noteBad(error: ApiError): void {
  if (error.status !== 0 && error.status < 500) return;
  trouble.set({ since: trouble.get().since || Date.now(), text: error.reason, shown: lastGood });
}

const base = (path: string | null) => path?.split('?')[0] ?? null;

/** `every` is the minimum interval in seconds; 0 sends one request. A null path sends none. */
export function useResource<T>(path: string | null, every?: number): Resource<T> {
  const [state, setState] = useState<{ path: string | null; data?: T; error?: ApiError; at: number; answers: string }>({ path: null, at: 0, answers: '' });
  const chosen = refreshSeconds.use();
  const asked = useRef(0);
  const reload = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (path === null) return;
    const seconds = chosen === 0 ? 0 : every === undefined ? chosen : every === 0 ? 0 : Math.max(every, chosen);
    let timer = 0;
    let failures = 0;
    let abort = new AbortController();
    let ended = false;

    const later = () => {
      clearTimeout(timer);
      if (ended || (seconds === 0 && failures === 0)) return;
      const wait = Math.min(slowest, (seconds || 5) * 1000 * 2 ** failures);
      timer = window.setTimeout(look, wait);
    };
    const look = async () => {
      clearTimeout(timer);
      if (document.hidden && asked.current > 0) return; // a hidden tab sends no requests
      abort.abort();
      abort = new AbortController();
      asked.current = Date.now();
      try {
        const data = await api.get<T>(path, { signal: abort.signal });
        failures = 0;
        noteGood();
        if (!ended) setState({ path, data, at: Date.now(), answers: path });
      } catch (error) {
        if (!(error instanceof ApiError)) return;
        noteBad(error);
        if (error.status === 0 || error.status >= 500) failures = Math.min(failures + 1, 10);
        // While the broker does not respond, old data stay visible. Data that no longer exist are removed.
        const keeps = error.status === 0 || error.status >= 500;
        if (!ended) setState((before) => ({ ...before, path, data: keeps && base(before.path) === base(path) ? before.data : undefined, error }));
      }
      later();
    };
    const shown = () => {
      if (!document.hidden && (seconds > 0 || failures > 0) && Date.now() - asked.current >= seconds * 1000) void look();
    };
    reload.current = () => {
      failures = 0;
      void look();
    };
    asked.current = 0;
    void look();
    document.addEventListener('visibilitychange', shown);
    const retry = () => reload.current();
    retries.add(retry);
    return () => {
      ended = true;
      clearTimeout(timer);
      abort.abort();
      document.removeEventListener('visibilitychange', shown);
      retries.delete(retry);
    };
  }, [path, every, chosen]);

  // When another page of the list is opened, the old rows stay until the new ones arrive.
  const same = path !== null && base(state.path) === base(path);
  const again = useCallback(() => reload.current(), []);
  return {
    data: same ? state.data : undefined,
    error: state.path === path ? state.error : undefined,
    at: state.at,
    answers: state.answers,
    loading: path !== null && state.path !== path,
    reload: again,
  };
}
