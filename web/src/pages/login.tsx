import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api';
import { logIn, loginNote } from '../session';
import { Brand } from '../shell';
import { TextField } from '../parts/form';
import { Callout } from '../parts/states';

export function Login(): JSX.Element {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const note = loginNote.use();
  useEffect(() => document.querySelector<HTMLElement>('.login [data-first]')?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setWrong('');
    try {
      await logIn(name, password);
    } catch (error) {
      const status = error instanceof ApiError ? error.status : -1;
      setWrong(status === 401 ? 'Wrong name or password.'
        : status === 429 ? 'Too many wrong passwords from here. Try again in a minute.' : `${(error as Error).message}.`);
      setBusy(false);
    }
  };
  return (
    <main class="login" id="main">
      <div>
        <div class="login-card">
          <form class="form" onSubmit={submit}>
            <h1 class="brand"><Brand /></h1>
            {note && !wrong && <Callout tone="info" title="">{note}</Callout>}
            {wrong && <div role="alert"><Callout tone="dead" title="Login failed.">{wrong}</Callout></div>}
            <TextField label="User name" value={name} set={setName} required first autocomplete="username" />
            <TextField label="Password" value={password} set={setPassword} type="password" autocomplete="current-password" invalid={wrong !== ''} hint="Needs the tag management, policymaker, monitoring or administrator." />
            <button class="btn btn-primary" type="submit" disabled={busy}>Log in</button>
          </form>
        </div>
        <p class="login-foot">The login ends with this tab.</p>
      </div>
    </main>
  );
}
