import { packFiles } from '../../../services/sync/transfers/file-list.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import type { NewFile } from '../../../shared/contract/modules/transfers.ts';

const manyFiles = (count: number, nameOf = (i: number) => `day ${i}/photo é${i}.jpg`): NewFile[] =>
  Array.from({ length: count }, (_, i) => ({ name: nameOf(i), size: i + 1 }));
/** The files as clients read them. */
const shown = (files: NewFile[]) => files.map((file, index) => ({ type: null, sha256: null, ...file, index }));
const listIn = (json: string) => JSON.parse(json) as Record<string, unknown>[];

/** Returns one file of a long list, by the ends before the list, as the script `transfer-file` does. */
function fileAt(long: string, index: number, count: number): unknown {
  const bytes = Buffer.from(long);
  const endOf = (i: number) => (i < 0 ? 0 : Number.parseInt(bytes.toString('utf8', 8 * i, 8 * i + 8), 16));
  return JSON.parse(bytes.toString('utf8', 8 * count + endOf(index - 1) + 1, 8 * count + endOf(index)));
}

describe('a list of up to 16 files', () => {
  test.each([1, 16])('is in the record whole: %i', (count) => {
    const files = manyFiles(count).map((file) => ({ ...file, type: 'image/jpeg', sha256: 'ab'.repeat(32) }));
    const packed = packFiles(files);
    expect(listIn(packed.inRecord)).toEqual(shown(files));
    expect(packed.long).toBe('');
  });

  test('is kept whole after the end where its JSON is short enough, to the byte', () => {
    const ofBytes = (bytes: number) => {
      const rest = manyFiles(16, () => 'é');
      const missing = bytes - Buffer.byteLength(packFiles(rest).inRecord);
      return packFiles(manyFiles(16, (i) => `é${i === 0 ? 'x'.repeat(missing) : ''}`));
    };
    const short = ofBytes(LIMITS.endedListBytes);
    expect(Buffer.byteLength(short.inRecord)).toBe(LIMITS.endedListBytes);
    expect(short.brief).toBe('');
    expect(listIn(ofBytes(LIMITS.endedListBytes + 1).brief)).toHaveLength(LIMITS.endedFiles);
  });

  test('is cut to its first files after the end where it is longer', () => {
    const files = manyFiles(16, (i) => `${i}`.padEnd(200, 'x'));
    const { inRecord, brief } = packFiles(files);
    expect(listIn(inRecord)).toEqual(shown(files));
    expect(listIn(brief)).toEqual(
      shown(files.slice(0, LIMITS.endedFiles)).map((file) => ({
        ...file,
        name: file.name.slice(0, LIMITS.endedNameBytes),
      })),
    );
  });
});

describe('a longer list', () => {
  test.each([17, LIMITS.filesPerTransfer])('is apart, and each of %i files is found by its place', (count) => {
    const files = manyFiles(count);
    const { inRecord, long, brief } = packFiles(files);
    expect(files.map((_, i) => fileAt(long, i, count))).toEqual(shown(files));
    expect(listIn(long.slice(8 * count))).toEqual(shown(files));
    expect(listIn(inRecord)).toEqual(shown(files.slice(0, LIMITS.endedFiles)));
    expect(brief).toBe('');
  });
});

describe('what is kept of a file after the end', () => {
  const keptOf = (file: Partial<NewFile>) =>
    listIn(packFiles([{ name: 'a', size: 1, ...file }, ...manyFiles(16)]).inRecord)[0];

  test.each([
    ['of 128 bytes is whole', 'x'.repeat(128), 'x'.repeat(128)],
    ['of 129 bytes is cut to 128', 'x'.repeat(129), 'x'.repeat(128)],
    ['of two-byte characters is cut to 128 bytes', 'é'.repeat(100), 'é'.repeat(64)],
    ['is cut before a character that passes the limit', `${'x'.repeat(126)}😀`, 'x'.repeat(126)],
  ])('a name %s', (_, name, kept) => {
    expect(keptOf({ name })).toMatchObject({ name: kept });
  });

  test.each([
    ['of 128 characters stays', 'x'.repeat(128), 'x'.repeat(128)],
    ['that is longer goes', 'x'.repeat(129), null],
    ['that is missing stays so', undefined, null],
  ])('a type %s', (_, type, kept) => {
    expect(keptOf(type === undefined ? {} : { type })).toMatchObject({ type: kept });
  });

  test('its size and digest stay', () => {
    expect(keptOf({ size: 7, sha256: 'ab'.repeat(32) })).toMatchObject({ index: 0, size: 7, sha256: 'ab'.repeat(32) });
  });
});

test.each([1, 16, 17, 300])('%i files count with the bytes of their list, and 200 for each', (count) => {
  const files = manyFiles(count);
  const { count: counted, totalBytes, quotaBytes } = packFiles(files);
  const list = Buffer.byteLength(JSON.stringify(shown(files)));
  expect({ counted, totalBytes, quotaBytes }).toEqual({
    counted: count,
    totalBytes: (count * (count + 1)) / 2,
    quotaBytes: list + count * LIMITS.fileBookkeepingBytes,
  });
});
