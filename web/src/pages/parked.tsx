// The parked messages of a queue: their number, the position of the damage, and how to discard them.
import type { JSX } from 'preact';
import { api, at } from '../api';
import { Icon } from '../icons';
import { bytes, count, plural, visible } from '../format';
import { retryAll, useResource } from '../resource';
import { may } from '../session';
import { Card } from '../parts/card';
import { ask } from '../parts/dialog';
import { Num } from '../parts/marks';
import { Callout, Shown } from '../parts/states';
import { say } from '../parts/toast';
import type { Parked, Queue } from '../types';

const shownMost = 1000; // the broker's limit

export function ParkedCallout({ queue, jump }: { queue: Queue; jump: (event: Event) => void }): JSX.Element {
  const one = queue.messages_parked === 1;
  return (
    <Callout tone="dead" title={`${plural(queue.messages_parked, 'message')} cannot be read from the disk.`}
      actions={<a class="btn btn-sm" href="#parked" onClick={jump}>See the damage</a>}>
      {one ? 'It is' : 'They are'} parked: {one ? 'it keeps its place' : 'they keep their places'}, but {one ? 'is' : 'are'} not delivered and {one ? 'does' : 'do'} not expire. The queue continues with the others.
    </Callout>
  );
}

function discardParked(queue: Queue): void {
  const parked = queue.messages_parked;
  ask({
    title: `Discard parked messages of ${queue.name}?`,
    body: (
      <>
        <p class="loss"><strong>{plural(parked, 'parked message')}</strong> ({bytes(queue.message_bytes_parked)}) will be deleted permanently. {parked === 1 ? 'It is' : 'They are'} not dead-lettered.</p>
        <p>After a restart the broker reads {parked === 1 ? 'it' : 'them'} again: a file restored from a backup brings {parked === 1 ? 'it' : 'them'} back, unless {parked === 1 ? 'it is' : 'they are'} discarded. All other messages of the queue stay.</p>
      </>
    ),
    typed: parked > 1 ? String(parked) : undefined,
    typedLabel: 'To confirm, type the number of messages:',
    button: `Discard ${plural(parked, 'message')}`,
    act: async () => {
      await api.remove(at('queues', queue.vhost, queue.name, 'parked'));
      say(`${queue.name}: ${plural(parked, 'parked message')} discarded`);
      retryAll();
    },
  });
}

/** The parts of "journal damaged: file F, offset N: why; see …", if the text has this form. */
export function damageOf(reason: string): { file?: string; offset?: string; why: string } {
  const found = /^(?:journal damaged: )?file (.+), offset (\d+): (.+?)(?:; see docs\/\S+ for ways out)?$/.exec(reason);
  return found ? { file: found[1], offset: found[2], why: found[3]! } : { why: reason };
}

function Row({ one }: { one: Parked }): JSX.Element {
  const damage = damageOf(one.reason);
  return (
    <tr>
      <th scope="row">{one.unit === 'page' ? `page of ${plural(one.messages, 'message')}` : 'message'}<span class="cell-sub only-phone">{bytes(one.message_bytes)}</span></th>
      <td class="num w-2"><Num value={one.sequence} /></td>
      <td class="num w-1">{bytes(one.message_bytes)}</td>
      <td>{visible(damage.why)}{damage.file && <span class="cell-sub break"><code>{visible(damage.file)}</code>, offset {count(Number(damage.offset))}</span>}</td>
    </tr>
  );
}

export function ParkedCard({ queue }: { queue: Queue }): JSX.Element {
  const list = useResource<Parked[]>(at('queues', queue.vhost, queue.name, 'parked'));
  return (
    <Card title="Parked messages" note="cannot be read from the disk" id="parked" tools={may.read(queue.vhost, queue.name)
      && <button class="btn btn-sm btn-dead" onClick={() => discardParked(queue)}><Icon name="trash" />Discard {plural(queue.messages_parked, 'message')}…</button>}>
      <Shown of={list} rows={3}>{(rows) => (
        <div class="table-wrap" role="region" tabIndex={0} aria-label="Parked messages"><table class="table-top">
          <thead><tr><th scope="col">What</th><th scope="col" class="num w-2">Position</th><th scope="col" class="num w-1">Bytes</th><th scope="col">Damage</th></tr></thead>
          <tbody>{rows.map((one) => <Row key={`${one.level} ${one.sequence} ${one.unit}`} one={one} />)}</tbody>
        </table></div>
      )}</Shown>
      <div class="card-foot">
        {(list.data?.length ?? 0) >= shownMost && <span>The first {count(shownMost)} are listed.</span>}
        <span>A restart reads them again. Restore the file from a backup if there is one, before they are discarded.</span>
      </div>
    </Card>
  );
}
