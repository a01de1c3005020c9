import { makeFileCommands } from '../files/file-commands.ts';
import { mendPush } from '../push/push.ts';
import type { Parts } from './parts.ts';
import { type Shared, shared } from './shared-state.ts';

interface Leading extends Parts {
  tell: (part: Partial<Shared>) => void;
  end: (reason: string) => Promise<void>;
}

/** A message may be reported as taken before its sender has stored that it was sent. */
const LOOK_AGAIN_MS = [0, 500, 3_000];

const later = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** This tab holds the stream: what comes goes into the history, and what is known to all tabs. */
export function startLeading({ tell, end, ...parts }: Leading): void {
  const { client, history } = parts;
  const files = makeFileCommands(parts);

  async function onDelivered(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      for (const ms of LOOK_AGAIN_MS) {
        await later(ms);
        const item = await history.byRef(id);
        if (item === undefined) continue;
        await history.update(item.id, (one) => {
          if (one.kind === 'message') one.state = 'delivered';
        });
        break;
      }
    }
  }

  client.on('state', (connection) => tell({ connection, ...(connection === 'online' && { isDegraded: false }) }));
  client.on('presence', (presence) => tell({ presence, isKnown: true }));
  client.on('devices', (devices) => tell({ devices, isKnown: true }));
  client.on('clipboard', (clipboard) => tell({ clipboard }));
  client.on('delivered', ({ message_ids }) => void onDelivered(message_ids));
  client.on('incoming', (offer) => void files.onOffer(offer));
  client.on('transfer', (transfer) => void files.onTransfer(transfer));
  client.on('signed-out', (reason) => void end(reason));
  client.on('event', ({ name }) => {
    if (name === 'degraded') tell({ isDegraded: true });
    if (name === 'restored') tell({ isDegraded: false });
  });
  client.messages.receive(async (message) => {
    await history.receive(message);
  });
  client.start();
  client
    .untilOnline()
    .then(async () => {
      if (shared.value.me === null) tell({ me: await client.me() });
      void mendPush(parts);
      await files.goOn();
    })
    .catch(() => {});
}
