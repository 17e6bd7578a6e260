// The logged-in user, its permissions, and the settings of the top bar.
import { api, onTokenLost, token, type WhoAmI } from './api';
import { createStore, remember, remembered } from './store';
import { place } from './router';

export interface Session {
  name: string;
  tags: string[];
  permissions: Permission[];
  idleMinutes: number;
}
export interface Permission {
  vhost: string;
  configure: string;
  write: string;
  read: string;
}

export const session = createStore<Session | null>(null);
export const loginNote = createStore<string>('');

const defaultIdleMinutes = 8 * 60;

async function begin(user: WhoAmI): Promise<void> {
  const permissions = await api.get<Permission[]>('/whoami/permissions').catch(() => []);
  loginNote.set('');
  session.set({
    name: user.name, tags: user.tags, permissions,
    idleMinutes: user.login_session_timeout ?? defaultIdleMinutes,
  });
}

export async function logIn(name: string, password: string): Promise<void> {
  const answer = await api.login(name, password);
  token.set(answer.token.value);
  await begin(answer.user);
}

/** Restores the session after a page reload. */
export async function resume(): Promise<void> {
  if (token.get() === null) return;
  try {
    await begin(await api.get<WhoAmI>('/whoami'));
  } catch {
    token.set(null);
  }
}

export function logOut(note = ''): void {
  token.set(null);
  loginNote.set(note);
  session.set(null);
}
onTokenLost(() => {
  if (session.get()) logOut('The broker no longer accepts this login. Log in again to continue here.');
});

// The token is dropped when the page is idle for longer than the broker allows.
let touched = Date.now();
for (const event of ['pointerdown', 'keydown', 'wheel']) {
  window.addEventListener(event, () => void (touched = Date.now()), { passive: true });
}
setInterval(() => {
  const now = session.get();
  if (now && Date.now() - touched > now.idleMinutes * 60_000) logOut('Logged out: the page was not used for a long time.');
}, 15_000);

const has = (tag: string) => session.get()?.tags.includes(tag) ?? false;
export const may = {
  administrate: () => has('administrator'),
  monitor: () => has('administrator') || has('monitoring'),
  makePolicies: (vhost?: string) =>
    has('administrator') || (has('policymaker') && (vhost === undefined || permission(vhost) !== undefined)),
  /** Has access to the virtual host, which declaring and deleting over HTTP requires. */
  enter: (vhost: string) => has('administrator') || permission(vhost) !== undefined,
  configure: (vhost: string, name: string) => allowed(vhost, name, 'configure'),
  write: (vhost: string, name: string) => allowed(vhost, name, 'write'),
  read: (vhost: string, name: string) => allowed(vhost, name, 'read'),
  /** Has configure permission for some names. */
  declare: (vhost: string) => (permission(vhost)?.configure ?? '') !== '' && may.enter(vhost),
};

function permission(vhost: string): Permission | undefined {
  return session.get()?.permissions.find((one) => one.vhost === vhost);
}

function allowed(vhost: string, name: string, kind: 'configure' | 'write' | 'read'): boolean {
  const pattern = permission(vhost)?.[kind];
  if (pattern === undefined || pattern === '') return false;
  try {
    return new RegExp(pattern, 'u').test(name === '' ? 'amq.default' : name);
  } catch {
    return true; // only the broker can evaluate the pattern, so it decides
  }
}

// ---- Settings of the top bar ----------------------------------------------------------------------------------------

/** '' means all virtual hosts. A link can select one with ?vhost=. */
export const chosenVhost = createStore<string>(remembered('vhost') ?? '');
export function chooseVhost(name: string): void {
  remember('vhost', name === '' ? null : name);
  chosenVhost.set(name);
}
const followLink = () => {
  const asked = place.get().query.get('vhost');
  if (asked !== null) chosenVhost.set(asked);
};
followLink();
window.addEventListener('hashchange', followLink);

/** The refresh interval in seconds; 0 disables automatic refresh. */
export const refreshSeconds = createStore<number>(Number(remembered('refresh') ?? 5));
export function chooseRefresh(seconds: number): void {
  remember('refresh', String(seconds));
  refreshSeconds.set(seconds);
}

export const theme = createStore<string | null>(remembered('theme'));
export function isDark(): boolean {
  return theme.get() ? theme.get() === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}
function applyTheme(): void {
  const chosen = theme.get();
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}
export function switchTheme(): void {
  theme.set(isDark() ? 'light' : 'dark');
  remember('theme', theme.get());
  applyTheme();
}
applyTheme();
