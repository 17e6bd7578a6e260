// Export and import of definitions: users, virtual hosts, queues, exchanges, bindings and policies as one JSON file.
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { api, at } from '../api';
import { Icon } from '../icons';
import { bytes, plural } from '../format';
import { chosenVhost } from '../session';
import { retryAll } from '../resource';
import { Card } from '../parts/card';
import { ask } from '../parts/dialog';
import { say, sayFailure } from '../parts/toast';
import { saveFile } from '../parts/table';

const kinds = ['vhosts', 'users', 'permissions', 'topic_permissions', 'policies', 'parameters', 'global_parameters', 'exchanges', 'queues', 'bindings'];

export function DefinitionsCard(): JSX.Element {
  const file = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState('');
  const vhost = chosenVhost.use();
  const path = vhost === '' ? '/definitions' : at('definitions', vhost);
  const where = vhost === '' ? 'the whole broker' : `virtual host ${vhost}`;
  const download = async () => {
    setBusy('Reading the definitions…');
    try {
      const all = await api.get<object>(path);
      saveFile(`revenant-definitions-${new Date().toISOString().slice(0, 10)}.json`, 'application/json', JSON.stringify(all, null, 2));
    } catch (error) {
      sayFailure('Not exported', error);
    }
    setBusy('');
  };
  const chosen = async () => {
    const one = file.current?.files?.[0];
    if (!one) return;
    let content: Record<string, unknown>;
    try {
      content = JSON.parse(await one.text());
    } catch {
      sayFailure('Not imported', `${one.name} is not a JSON file`);
      return;
    } finally {
      if (file.current) file.current.value = '';
    }
    const parts = kinds.filter((kind) => Array.isArray(content[kind]) && (content[kind] as unknown[]).length > 0)
      .map((kind) => plural((content[kind] as unknown[]).length, kind.replaceAll('_', ' ').replace(/ies$/, 'y').replace(/s$/, ''), kind.replaceAll('_', ' ')));
    ask({
      title: `Import ${one.name}?`,
      body: <p>{bytes(one.size)} for {where}: {parts.join(', ') || 'nothing that can be imported'}. What has the same name and can be changed is replaced; nothing is deleted.</p>,
      button: 'Import definitions',
      act: async () => {
        setBusy('Importing…');
        try {
          await api.post(path, content);
          say(`${one.name} was imported`);
          retryAll();
        } finally {
          setBusy('');
        }
      },
    });
  };
  return (
    <Card title="Definitions" note={vhost === '' ? 'all virtual hosts' : `vhost ${vhost}`}>
      <div class="card-body form">
        <p class="muted">{vhost === '' ? 'Users, virtual hosts, queues, exchanges, bindings and policies as one JSON file.' : 'Queues, exchanges, bindings and policies of this virtual host as one JSON file. Choose all virtual hosts at the top to include users and permissions.'}</p>
        <div class="row">
          <button class="btn" onClick={download} disabled={busy !== ''}><Icon name="download" />Export</button>
          <button class="btn" onClick={() => file.current?.click()} disabled={busy !== ''}><Icon name="upload" />Import…</button>
          <input ref={file} type="file" accept=".json,application/json" hidden aria-label="File with definitions" onChange={chosen} />
          <span class="muted" role="status">{busy}</span>
        </div>
      </div>
    </Card>
  );
}
