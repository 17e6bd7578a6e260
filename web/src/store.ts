// A value that components subscribe to: they are rendered again when it changes.
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(value: T): void;
  use(): T;
}

export function createStore<T>(first: T): Store<T> {
  let value = first;
  const followers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const follower of [...followers]) follower(next);
    },
    use() {
      const [shown, show] = useState(value);
      useEffect(() => {
        const follower = (next: T) => show(() => next);
        followers.add(follower);
        follower(value);
        return () => void followers.delete(follower);
      }, []);
      return shown;
    },
  };
}

// Settings in localStorage. Without storage they end with the page.
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem('revenant.' + key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem('revenant.' + key);
    else localStorage.setItem('revenant.' + key, value);
  } catch {
    // no storage
  }
}
