import { readdir } from 'node:fs/promises';
import { sayUnsent } from '../../../services/cli/sending/unsent.ts';
import { makeUnfinishedSends } from '../../../services/cli/unfinished.ts';
import { type BatonClient, BatonClientError } from '../../../shared/client/index.ts';
import { makeFolder } from '../../relay/support/relayed.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const away = new BatonClientError('network', 'The service cannot be reached', { action: 'retry', outcome: 'unknown' });
const OFFER = {
  ...{ transfer_id: 'transfer-1', file_count: 1, total_bytes: 5, state: 'PENDING' },
  ...{ sender: { device_id: 'laptop' }, receiver: { device_id: 'phone', name: 'Phone' } },
};
const ASKED = { to: 'phone', paths: ['/photo.jpg'], spool: null };

/** A service that does not respond to the first request. */
function makeService() {
  const cancelled: string[] = [];
  let requests = 0;
  const respond = <T>(found: T): Promise<T> => {
    requests += 1;
    return requests === 1 ? Promise.reject(away) : Promise.resolve(found);
  };
  const transfers = {
    list: () => respond({ transfers: [OFFER], next_cursor: null }),
    get: () => respond({ ...OFFER, state: 'DONE' }),
    cancel: (id: string) => Promise.resolve(void cancelled.push(id)),
  };
  const session = () => Promise.resolve({ device: { device_id: 'laptop' } });
  return { cancelled, baton: { transfers, session } as unknown as BatonClient };
}

/** Looks twice at what was not sent: once while the service is away, and again. Returns what is told and kept. */
async function lookTwice({ baton }: ReturnType<typeof makeService>) {
  const sends = makeUnfinishedSends(folder.path, () => readdir(folder.path));
  const notes: string[] = [];
  const output = { note: (text: string) => notes.push(text), result: () => {} };
  const context = { output, signal: new AbortController().signal } as unknown as Parameters<
    typeof sayUnsent
  >[0]['context'];
  const look = () => sayUnsent({ context, baton, sends }, () => false);
  await expect(look()).rejects.toBe(away);
  await look();
  return { notes, kept: [...(await sends.list()), ...(await sends.listBegun())] };
}

test('an offer without a response is taken back as soon as the service can be asked, by the same program too', async () => {
  const service = makeService();
  const sends = makeUnfinishedSends(folder.path, () => readdir(folder.path));
  const offering = { key: 'photo-0', files: 1, bytes: 5, isLast: true };
  await sends.keepBegun({ id: 'begun-1', toName: 'Phone', ...ASKED, offering });
  expect(await lookTwice(service)).toMatchObject({ kept: [] });
  expect(service.cancelled).toEqual(['transfer-1']);
});

test('a send that ended meanwhile is reported as soon as the service can be asked, by the same program too', async () => {
  const sends = makeUnfinishedSends(folder.path, () => readdir(folder.path));
  await sends.add({ ...ASKED, key: 'photo-0', transferId: 'transfer-1', startedAt: Date.now() });
  expect(await lookTwice(makeService())).toEqual({ notes: ['Sent to Phone before: photo.jpg.'], kept: [] });
});
