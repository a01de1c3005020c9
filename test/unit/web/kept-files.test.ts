import type { FileAnswer, FileRequest } from '../../../services/web/files/file-worker.ts';
import type { FileSource, TransferFile } from '../../../shared/client/index.ts';

/** How often in a row the worker cannot be loaded. */
const network = { failures: 0 };

/** The worker of files, on a disk that is full. Its digest is that of nothing. */
class FullDisk {
  #listener: (event: { data: FileAnswer }) => void = () => {};
  #onError = (): void => {};

  addEventListener(name: string, listener: (event: { data: FileAnswer }) => void): void {
    if (name === 'message') this.#listener = listener;
    else this.#onError = listener as unknown as () => void;
  }

  terminate(): void {}

  postMessage(request: FileRequest): void {
    const { turn, act } = request;
    if (network.failures > 0) {
      network.failures -= 1;
      setImmediate(() => this.#onError());
      return;
    }
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
const { digested, digestFile } = await import('../../../services/web/files/digesting.ts');
const { readable } = await import('../../../services/web/files/file-pieces.ts');

const photo: TransferFile = { index: 0, name: 'photo.jpg', size: 5, type: 'image/jpeg', sha256: 'a1b2' };

test('a file whose last bytes find no space is reported as not stored, and not as other bytes than were sent', async () => {
  const sink = await openKept('user-1', 'transfer-1', photo);
  await sink.write(new Uint8Array(photo.size));
  await expect(sink.digest?.()).rejects.toThrow('The disk is full');
  await sink.abort?.(null, false);
});

test('a file is received as soon as the worker can be loaded, and its transfer does not fail meanwhile', async () => {
  network.failures = 1;
  expect(await openKept('user-1', 'transfer-1', photo)).toMatchObject({ offset: 0 });
});

test('receiving stops with its transfer, although the worker cannot be loaded', async () => {
  network.failures = 1;
  const stopping = new AbortController();
  const opening = openKept('user-1', 'transfer-1', photo, stopping.signal);
  await new Promise((resolve) => setTimeout(resolve, 50));
  stopping.abort(new Error('cancelled'));
  await expect(opening).rejects.toThrow('cancelled');
});

test('files that are sent can still be read, although the worker that reads them cannot be loaded now', async () => {
  network.failures = 2;
  const { signal } = new AbortController();
  const file = new File(['a'], 'a.txt');
  const source = { name: 'a.txt', size: 1, type: '', digest: () => digestFile(file, signal) } as unknown as FileSource;
  await expect(digested([source], signal)).rejects.toMatchObject({ code: 'network', action: 'retry' });
  const sealed = readable('a.txt', () => digestFile(file, signal));
  await expect(sealed).rejects.toMatchObject({ code: 'network', action: 'retry' });
  expect(await digestFile(file, signal)).toBeNull();
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
