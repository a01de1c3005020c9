import { BatonClientError, type Message } from '../../../shared/client/index.ts';
import { watchPreparing } from '../../../shared/client/transfers/preparing.ts';
import { invitedRequest } from '../../../shared/client/session/invites.ts';
import { readyWorker } from '../files/ask-worker.ts';
import { makeFileCommands } from '../files/file-commands.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { startKeys } from '../sealing/following.ts';
import { keepPush } from '../push/keeping.ts';
import { tellOfMessage } from '../push/telling.ts';
import { keyState } from '../sealing/key-state.ts';
import { forgetSigningOut, noteSigningOut } from '../session/signing-out.ts';
import type { Parts } from './parts.ts';
import { repeated } from './repeated.ts';
import { forgetRunning, requested, type Shared, shared } from './shared-state.ts';
import { watchStays } from './stays.ts';

interface Leading extends Parts {
  outbox: Outbox;
  tell: (part: Partial<Shared>) => void;
  end: (reason: string) => Promise<void>;
}

/** Makes the error that keeps a message in the mailbox. The message is handed over again with the next stream. */
const staysThere = (): BatonClientError => new BatonClientError('unkeyed', 'This browser has no key for the message');

/** Stores a message. False: it stays in the mailbox. */
async function received({ history, keys }: Parts, message: Message): Promise<boolean> {
  const sealing = await keys.ifKeyed();
  if (sealing !== null && message.sealed !== undefined) return sealing.receive(message);
  return history.receive(message, sealing === null ? undefined : 'open');
}

/** The work of the leading tab. */
export interface Leader {
  /** Opens the stream, and resumes the files that another tab has moved. */
  begin(): void;
  /** Closes the stream, and stops what runs here, because another tab leads. It may begin again. */
  stepBack(): Promise<void>;
}

/** Makes this tab hold the stream: it writes events into the history, and tells all tabs the shared state. */
export function makeLeader({ tell, end, outbox, ...parts }: Leading): Leader {
  const { client, entry, queue, tabs } = parts;
  const files = makeFileCommands(parts);
  // A tab of the previous version lets the leading tab send its files.
  tabs.command('send', outbox.files);
  client.on('state', (connection) => {
    // The service did not get the request to sign out, or refused it.
    if (connection === 'online') forgetSigningOut(entry);
    tell({ connection, ...(connection === 'online' && { isDegraded: false }) });
  });
  client.on('presence', (presence) => tell({ presence, isKnown: true }));
  client.on('devices', (devices) => tell({ devices, listed: 'now', isKnown: true }));
  client.on('clipboard', (clipboard) => tell({ clipboard }));
  client.on('delivered', ({ message_ids }) => void queue.delivered(message_ids).catch(() => {}));
  client.on('incoming', (offer) => void files.onOffer(offer).catch(() => {}));
  client.on('transfer', (transfer) => void files.onTransfer(transfer).catch(() => {}));
  client.on('signed-out', (reason) => void end(reason));
  client.on('event', ({ name, data }) => {
    const request = name === 'signin:requested' ? invitedRequest(data) : null;
    if (request !== null) {
      requested.value = request;
      tabs.post({ type: 'requested', request });
    }
    if (name === 'session:revoked' && data.reason !== 'expired') noteSigningOut(entry);
    if (name === 'degraded') tell({ isDegraded: true });
    if (name === 'restored') tell({ isDegraded: false });
  });
  startKeys(parts, tell);
  keepPush(parts);
  watchStays(client, tell);
  watchPreparing(client, (preparing) => tell({ preparing }));
  client.messages.receive(async (message) => {
    if (!(await received(parts, message))) throw staysThere();
    void tellOfMessage(parts, message).catch(() => {});
    // Until then the mailbox has the only copy that outlasts this page.
    await parts.history.untilKept();
  });
  const goOn = repeated(async () => {
    if (shared.value.me === null) tell({ me: await client.me() });
    await files.goOn();
  });
  // After a long sleep the service no longer has the events of the ends that this page missed.
  client.on('state', (state) => state === 'online' && goOn());
  // Files that are sealed wait for keys.
  keyState.subscribe(() => client.state === 'online' && goOn());
  return {
    begin() {
      // The transfers of an earlier leader ended with its page, or go on here.
      forgetRunning();
      void outbox.findOrphans().catch(() => {});
      client.untilOnline().then(readyWorker, () => {});
      client.start();
    },
    async stepBack() {
      forgetRunning();
      await client.close();
    },
  };
}
