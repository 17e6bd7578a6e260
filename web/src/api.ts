// Requests to the HTTP API. The login token is stored only in sessionStorage.

export class ApiError extends Error {
  constructor(readonly status: number, readonly kind: string, readonly reason: string) {
    super(reason);
  }
  get notPermitted() {
    return this.status === 401 && this.kind === 'not_authorised';
  }
  get missing() {
    return this.status === 404;
  }
}

const key = 'revenant.token';

export const token = {
  get: (): string | null => {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set: (value: string | null) => {
    try {
      if (value === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, value);
    } catch {
      // no storage: the login ends with the page
    }
    kept = value;
  },
};
let kept: string | null = token.get();

/** Called when the broker rejects the token. */
let lost: () => void = () => undefined;
export const onTokenLost = (listener: () => void) => void (lost = listener);

export interface Options {
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

async function failure(response: Response): Promise<ApiError> {
  let kind = '';
  let reason = '';
  try {
    const body = await response.json();
    kind = String(body.error ?? '');
    reason = typeof body.reason === 'string' ? body.reason : JSON.stringify(body.reason ?? '');
  } catch {
    // not JSON
  }
  return new ApiError(response.status, kind, reason || kind || `the broker answered with status ${response.status}`);
}

async function send(method: string, path: string, body?: BodyInit, options: Options = {}): Promise<Response> {
  const headers: Record<string, string> = { ...options.headers };
  if (kept) headers.authorization = 'Basic ' + kept;
  let response: Response;
  try {
    response = await fetch('api' + path, { method, headers, body, signal: options.signal, cache: 'no-store', credentials: 'omit' });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiError(0, 'unreachable', 'the broker cannot be reached');
  }
  if (response.ok) return response;
  const refused = await failure(response);
  if (refused.status === 401 && !refused.notPermitted && path !== '/login') lost();
  throw refused;
}

const json = { 'content-type': 'application/json' };

export const api = {
  async get<T>(path: string, options?: Options): Promise<T> {
    return (await send('GET', path, undefined, options)).json() as Promise<T>;
  },
  async put(path: string, body: unknown = {}): Promise<void> {
    await send('PUT', path, JSON.stringify(body), { headers: json });
  },
  async post<T>(path: string, body: unknown = {}): Promise<T> {
    const text = await (await send('POST', path, JSON.stringify(body), { headers: json })).text();
    return (text === '' ? undefined : JSON.parse(text)) as T;
  },
  async remove(path: string, headers: Record<string, string> = {}): Promise<void> {
    await send('DELETE', path, undefined, { headers });
  },
  async login(username: string, password: string): Promise<{ token: { value: string }; user: WhoAmI }> {
    const form = new URLSearchParams({ username, password });
    const response = await send('POST', '/login', form.toString(), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return response.json();
  },
};

export interface WhoAmI {
  name: string;
  tags: string[];
  login_session_timeout?: number; // minutes
}

/** A path of the API with escaped segments. */
export const at = (...parts: string[]): string => '/' + parts.map(encodeURIComponent).join('/');
