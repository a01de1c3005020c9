import type { FileAnswer, FileRequest } from '../../../services/web/files/file-worker.ts';
import type { TransferFile } from '../../../shared/client/index.ts';

/** The worker of files, on a disk that is full. Its digest is that of nothing. */
class FullDisk {
  #listener: (event: { data: FileAnswer }) => void = () => {};

  addEventListener(name: string, listener: (event: { data: FileAnswer }) => void): void {
    if (name === 'message') this.#listener = listener;
  }

  postMessage(request: FileRequest): void {
    const { turn, act } = request;
    const answer: FileAnswer =
      act === 'write'
        ? { turn, error: 'The disk is full' }
        : { turn, value: act === 'open' ? 0 : act === 'digest' ? 'e3b0' : null };
    setImmediate(() => this.#listener({ data: answer }));
  }
}
Object.assign(globalThis, { window: {}, Worker: FullDisk });
const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};
jest.unstable_mockModule('virtual:worker-address', () => ({ workerAddress: '/assets/worker.js' }), { virtual: true });
const { clearKept, openKept } = await import('../../../services/web/files/kept-files.ts');

const photo: TransferFile = { index: 0, name: 'photo.jpg', size: 5, type: 'image/jpeg', sha256: 'a1b2' };

test('a file whose last bytes find no space is reported as not stored, and not as other bytes than were sent', async () => {
  const sink = await openKept('user-1', 'transfer-1', photo);
  await sink.write(new Uint8Array(photo.size));
  await expect(sink.digest?.()).rejects.toThrow('The disk is full');
  await sink.abort?.(null, false);
});

test('signing out removes the files of the account, although one is written until its transfer has stopped', async () => {
  const removed: string[] = [];
  let tries = 0;
  const removeEntry = async (name: string) => {
    tries += 1;
    if (tries < 3) throw new DOMException('open for writing', 'NoModificationAllowedError');
    removed.push(name);
  };
  const storage = { getDirectory: async () => ({ removeEntry }) };
  Object.defineProperty(globalThis, 'navigator', { value: { storage }, configurable: true });
  await clearKept('user-1');
  expect(removed).toEqual(['account-user-1']);
});
