import { makeClipboard } from '../../../services/sync/clipboard/clipboard.ts';
import type { ClipboardStore } from '../../../services/sync/clipboard/store.ts';
import type { Caller } from '../../../services/sync/identity/caller.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { ClipboardEntry } from '../../../shared/contract/modules/clipboard.ts';

const { jest } = import.meta;

const CALLER: Caller = {
  ...{ userId: 'ann', account: 'ann', scope: 'full', name: 'Ann', roles: [], deviceId: 'phone' },
};
const STORED: ClipboardEntry = {
  ...{ content: 'kept', content_type: 'text/plain', source_device_id: 'phone', source_device_name: 'Phone' },
  ...{ updated_at: 1, expires_at: 2 },
};

/** Makes a clipboard over a store that holds this entry, and names every writer `Shown`. */
function setUp(entry: ClipboardEntry | null = null) {
  const set = jest.fn<ReturnType<ClipboardStore['set']>, Parameters<ClipboardStore['set']>>(() =>
    Promise.resolve({ name: 'Shown', updatedAtMs: 5, expiresAtMs: 7 }),
  );
  const clear = jest.fn(() => Promise.resolve(true));
  const expire = jest.fn(() => Promise.resolve(false));
  const onWritten = jest.fn();
  const clipboard = makeClipboard({ store: { find: () => Promise.resolve(entry), set, clear, expire }, onWritten });
  const plain = { content: 'copied', sealed: null, contentType: 'text/plain', deviceName: undefined };
  const write = (words: Partial<Parameters<typeof clipboard.set>[1]> = {}, caller = CALLER) =>
    clipboard.set(caller, { ...plain, ...words });
  /** Writes, and returns what reached the store. */
  async function written(...words: Parameters<typeof write>) {
    await write(...words);
    return set.mock.lastCall?.[1];
  }
  return { clipboard, set, clear, expire, onWritten, write, written };
}

test('a clipboard that is empty is read as such', async () => {
  expect(await setUp().clipboard.get(CALLER)).toEqual({
    ...{ content: '', content_type: null, source_device_id: null, source_device_name: null },
    ...{ updated_at: null, expires_at: null },
  });
});

test('what was put there is read', async () => {
  expect(await setUp(STORED).clipboard.get(CALLER)).toEqual(STORED);
});

test('a write is answered with who wrote it and how long it stays, and is counted', async () => {
  const { write, set, onWritten } = setUp();
  expect(await write()).toEqual({
    ...{ content: 'copied', content_type: 'text/plain', source_device_id: 'phone', source_device_name: 'Shown' },
    ...{ updated_at: 5, expires_at: 7 },
  });
  expect(set.mock.calls).toEqual([[CALLER, { content: 'copied', sealed: null, shownName: '' }]]);
  expect(onWritten).toHaveBeenCalledTimes(1);
});

test('a sealed text replaces the content', async () => {
  const { write, set } = setUp();
  expect(await write({ content: '', sealed: 'AAAA' })).toMatchObject({ content: '', sealed: 'AAAA' });
  expect(set.mock.lastCall?.[1]).toMatchObject({ content: '', sealed: 'AAAA' });
});

test('control characters are removed, except tabs and line ends', async () => {
  const { written, write } = setUp();
  expect(await written({ content: '\u0000a\tb\r\nc\u001b[31m\u000b' })).toMatchObject({ content: 'a\tb\r\nc[31m' });
  expect(await write({ content: 'x\u0007' })).toMatchObject({ content: 'x' });
});

describe('the name of the writer', () => {
  test.each([
    ['is its own where it sends none: a device is named by its row', undefined, 'phone', ''],
    ['is its own where it sends none: a session without a device has the name of the user', undefined, null, 'Ann'],
    ['is the one that it sends, without the spaces around it', ' Desk ', 'phone', 'Desk'],
    ['is the one that it sends, also without a device', 'Desk', null, 'Desk'],
  ])('%s', async (_, deviceName, deviceId, shownName) => {
    expect(await setUp().written({ deviceName }, { ...CALLER, deviceId })).toMatchObject({ shownName });
  });
});

const sealedOf = (bytes: number) => Buffer.alloc(bytes, 7).toString('base64url');

test.each([
  ['text of 65,536 bytes', { content: 'é'.repeat(LIMITS.clipboardBytes / 2) }],
  ['81,920 sealed bytes', { content: '', sealed: sealedOf(LIMITS.sealedClipboardBytes) }],
])('%s fit', async (_, words) => {
  expect(await setUp().written(words)).toMatchObject(words);
});

test.each([
  ['text of more than 65,536 bytes', { content: `${'é'.repeat(LIMITS.clipboardBytes / 2)}x` }, 'clipboard_too_large'],
  ['more than 81,920 sealed bytes', { sealed: sealedOf(LIMITS.sealedClipboardBytes + 1) }, 'clipboard_too_large'],
  ['a sealed text that is not base64url', { sealed: 'a+b/' }, 'invalid_request'],
  ['another type than plain text', { contentType: 'text/html' }, 'unsupported_media_type'],
  ['a name that is no device name', { deviceName: 'Küche' }, 'invalid_device_name'],
  ['an empty name', { deviceName: '' }, 'invalid_device_name'],
])('%s is refused, and nothing is written', async (_, words, code) => {
  const { write, set, onWritten } = setUp();
  await expect(write(words)).rejects.toMatchObject({ code });
  expect(set).not.toHaveBeenCalled();
  expect(onWritten).not.toHaveBeenCalled();
});

test('clearing empties it at once, and the sweeper only when its time is over', async () => {
  const { clipboard, clear, expire } = setUp(STORED);
  expect(await clipboard.clear(CALLER)).toBe(true);
  expect(clear.mock.calls).toEqual([['ann']]);
  expect(await clipboard.expire('ann')).toBe(false);
  expect(expire.mock.calls).toEqual([['ann']]);
});
