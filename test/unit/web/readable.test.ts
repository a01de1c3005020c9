import { readText } from '../../../services/web/files/readable.ts';

/* The thread shows a text file. */

test.each([
  ['UTF-8', Buffer.from('Grüße\r\n'), 'Grüße\r\n'],
  ['UTF-8 with a mark', Buffer.from('\ufeffGrüße'), 'Grüße'],
  ['Latin-1', Buffer.from('Grüße', 'latin1'), null],
  ['UTF-16', Buffer.from('\ufeffGrüße', 'utf16le'), null],
  ['a text that was cut in a letter', Buffer.from('Grüße').subarray(0, 3), null],
])('of %s', async (_, bytes, text) => {
  expect(await readText(new Blob([new Uint8Array(bytes)]))).toBe(text);
});

test('a file that is gone has no text', async () => {
  const gone = { arrayBuffer: () => Promise.reject(new Error('NotReadableError')) };
  expect(await readText(gone as unknown as Blob)).toBeNull();
});
