import { setImmediate as turn } from 'node:timers/promises';
import type { FileAnswer, FileRequest } from '../../../services/web/files/file-worker.ts';

/* The worker of files, on a disk that refuses: what it opens stays locked for every page until it is closed. */

const refusal = () => new DOMException('open elsewhere', 'NoModificationAllowedError');

/** What the file does; each test says what differs. */
const disk = { bytes: 0, isReadable: true, isFull: false, refusals: 0, open: 0 };
beforeEach(() => Object.assign(disk, { bytes: 0, isReadable: true, isFull: false, refusals: 0, open: 0 }));

const handle = {
  getSize: () => disk.bytes,
  read: (into: Uint8Array) => (disk.isReadable ? into.length : 0),
  flush() {
    if (disk.isFull) throw new DOMException('no space', 'InvalidStateError');
  },
  close: () => void (disk.open -= 1),
};
const file = {
  async createSyncAccessHandle() {
    disk.refusals -= 1;
    if (disk.refusals >= 0) throw refusal();
    disk.open += 1;
    return handle;
  },
};
const folder = { getDirectoryHandle: async () => folder, getFileHandle: async () => file };
Object.defineProperty(globalThis, 'navigator', {
  value: { storage: { getDirectory: async () => folder } },
  configurable: true,
});

const answers = new Map<number, FileAnswer>();
let listener: (event: { data: FileRequest }) => void = () => {};
Object.assign(globalThis, {
  self: {
    postMessage: (answer: FileAnswer) => void answers.set(answer.turn, answer),
    addEventListener(_: string, given: typeof listener) {
      listener = given;
    },
  },
});
await import('../../../services/web/files/file-worker.ts');

let turns = 0;
async function ask(act: 'open' | 'close'): Promise<FileAnswer> {
  turns += 1;
  const own = turns;
  listener({ data: { turn: own, act, file: 1, path: ['account', 'transfer', '0'], isDigested: true } });
  for (;;) {
    const answer = answers.get(own);
    if (answer !== undefined) return answer;
    await turn();
  }
}

test('a file that the page before still holds for a moment is opened when that page lets go of it', async () => {
  disk.refusals = 3;
  expect(await ask('open')).toMatchObject({ value: 0 });
  expect(await ask('close')).toMatchObject({ value: null });
  expect(disk.open).toBe(0);
});

test('a file whose last bytes cannot be stored is closed all the same', async () => {
  expect(await ask('open')).toMatchObject({ value: 0 });
  disk.isFull = true;
  expect(await ask('close')).toMatchObject({ error: expect.stringContaining('no space') as string });
  expect(disk.open).toBe(0);
});

test('a file whose stored bytes cannot be read is not left open', async () => {
  disk.bytes = 5;
  disk.isReadable = false;
  expect(await ask('open')).toMatchObject({ error: 'What is stored cannot be read' });
  expect(disk.open).toBe(0);
});
