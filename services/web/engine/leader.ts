import { BatonClientError } from '../../../shared/client/index.ts';
import { makeFileCommands } from '../files/file-commands.ts';
import type { Parts } from './parts.ts';
import { type Shared, shared } from './shared-state.ts';

interface Leading extends Parts {
  tell: (part: Partial<Shared>) => void;
  end: (reason: string) => Promise<void>;
}

/** What could not be acknowledged is tried again so much later: its sender sees it as not delivered until then. */
const ACKNOWLEDGE_AGAIN_MS = 5_000;
/** A message may be reported as taken before its sender has stored that it was sent. */
const LOOK_AGAIN_MS = [0, 500, 3_000];

const later = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Acknowledges what this history has and the service does not know of: an acknowledgement was lost, and the stream was not. */
function makeAcknowledging({ client, history }: Parts) {
  let timer: ReturnType<typeof setTimeout> | null = null;

  async function acknowledge(): Promise<void> {
    const waiting = await client.messages.list();
    const known = await Promise.all(waiting.map(({ message_id }) => history.byRef(message_id)));
    const ids = known.flatMap((item) => (item === undefined ? [] : [item.ref]));
    if (ids.length > 0) await client.messages.acknowledge(ids);
  }

  return function soon(): void {
    timer ??= setTimeout(() => {
      timer = null;
      acknowledge().catch((error: unknown) => {
        if (error instanceof BatonClientError && error.action === 'retry') soon();
      });
    }, ACKNOWLEDGE_AGAIN_MS);
  };
}

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
  // What goes wrong in the background is tried again by the client, but for acknowledgements. People see the connection's state.
  const acknowledgeSoon = makeAcknowledging(parts);
  client.on('problem', acknowledgeSoon);
  client.messages.receive(async (message) => {
    await history.receive(message);
  });
  client.start();
  client
    .untilOnline()
    .then(async () => {
      if (shared.value.me === null) tell({ me: await client.me() });
      await files.goOn();
    })
    .catch(() => {});
}
