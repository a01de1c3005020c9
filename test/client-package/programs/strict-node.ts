import { BatonClientError, makeBatonClient, memorySession, type IncomingTransfer, type SessionStore } from '@baton/client';
import { fileSource, folderSink, sha256 } from '@baton/client/node';

const session: SessionStore = memorySession();
const baton = makeBatonClient({ baseUrl: 'http://localhost:8080', session, sha256 });
const off: () => void = baton.on('incoming', (offer: IncomingTransfer) => {
  offer.accept(folderSink('in')).done.then(({ state }) => state.toLowerCase(), (error: unknown) => {
    if (error instanceof BatonClientError && error.action === 'retry') return error.retryAfterMs?.toFixed();
    return undefined;
  });
});
export async function send(path: string, signal: AbortSignal): Promise<number> {
  const sending = await baton.transfers.send('Phone', [await fileSource(path)], { signal, offlineMs: null });
  off();
  // @ts-expect-error: there is no such call
  baton.transfers.download;
  // @ts-expect-error: to one device
  await baton.clipboard.set(5);
  return (await sending.done).total_bytes;
}
