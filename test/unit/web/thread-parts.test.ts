import type { FilesItem, Item, MessageItem } from '../../../services/web/history/database.ts';
import { lastText } from '../../../services/web/view/item-words.ts';
import { markedParts } from '../../../services/web/view/parts/marked-parts.ts';
import { endsBurst } from '../../../services/web/view/thread/bursts.ts';
import { sameObjects } from '../../../services/web/view/thread/same-objects.ts';

const NOON = new Date(2026, 10, 26, 12).getTime();
const MINUTE_MS = 60_000;

const message = (change: Partial<MessageItem> = {}): MessageItem => ({
  ...{ id: 'm', ref: 'm', thread: 'phone', at: NOON, isMine: false },
  ...{ kind: 'message', text: 'hello', state: 'delivered', error: null, ...change },
});

const files = (names: readonly string[], type: string | null, change: Partial<FilesItem> = {}): FilesItem => ({
  ...{ id: 'f', ref: 'f', thread: 'phone', at: NOON, isMine: false, kind: 'files' },
  files: names.map((name, index) => ({ index, name, size: 1_000_000, type })),
  ...{ fileCount: names.length, totalBytes: names.length * 1_000_000, state: 'done', error: null, kept: 'here' },
  ...change,
});

describe('the last words of a thread', () => {
  test.each<[string, Item | undefined, string]>([
    ['nothing', undefined, 'Nothing yet'],
    ['a message over several lines', message({ text: ' one\n\n two ' }), 'one two'],
    ['what was written here', message({ isMine: true }), 'You: \u2068hello\u2069'],
    [
      'pictures that are offered',
      files(['a', 'b', 'c'], 'image/png', { state: 'offered' }),
      'Sends \u20683 photos\u2069 · 3 MB',
    ],
    ['pictures and others', files(['a', 'b'], null), '2 files'],
    ['one file that was sent', files(['report.pdf'], null, { isMine: true }), 'You: \u2068report.pdf\u2069'],
    [
      'what would turn the letters after it',
      message({ isMine: true, text: '\u202egpj.exe' }),
      'You: \u2068\ufffdgpj.exe\u2069',
    ],
  ])('%s', (_, item, words) => expect(lastText(item)).toBe(words));
});

describe('one time under a burst', () => {
  test.each<[string, Item | undefined, boolean]>([
    ['nothing follows', undefined, true],
    ['the same side goes on within three minutes', message({ at: NOON + 2 * MINUTE_MS }), false],
    ['the same side goes on later', message({ at: NOON + 4 * MINUTE_MS }), true],
    ['the other side answers', message({ isMine: true }), true],
    ['files of the same side follow', files(['a'], null), false],
  ])('%s', (_, next, isEnd) => expect(endsBurst(message(), next)).toBe(isEnd));

  test('a message that was not delivered says so under itself', () => {
    const [waits, delivered] = [message({ isMine: true, state: 'sending' }), message({ isMine: true })];
    expect(endsBurst(waits, delivered)).toBe(true);
    expect(endsBurst(delivered, delivered)).toBe(false);
  });
});

describe('what was looked for is marked', () => {
  const found = (text: string, words: string) =>
    markedParts(text, words)
      .filter(({ isFound }) => isFound)
      .map(({ text: part }) => part);

  test('wherever it stands, in the letters that stand there', () => {
    expect(found('An apple and another', 'AN')).toEqual(['An', 'an', 'an']);
    expect(found('1+1 (a|b) \\d', '(a|b)')).toEqual(['(a|b)']);
    expect(found('nothing here', 'apple')).toEqual([]);
  });

  test('far in a long text, which is shown from shortly before it', () => {
    const parts = markedParts(`${'x '.repeat(3_000)}needle and more`, 'needle');
    expect(parts.map(({ text }) => text).join('')).toMatch(/^… (x )+needle and more$/);
    expect(parts.map(({ text }) => text).join('').length).toBeLessThan(100);
  });
});

test('what is read again and has not changed stays the same object', () => {
  const before = [message({ id: 'a' }), message({ id: 'b', isMine: true, state: 'sent' }), files(['a'], null)];
  const again: Item[] = structuredClone(before);
  Object.assign(again[1] as Item, { state: 'delivered' });
  const preview = new Blob(['x']);
  Object.assign(again[2] as Item, { previews: [preview] });
  const kept = sameObjects([...again, message({ id: 'c' })], before);
  expect(kept.map((item, i) => item === before[i])).toEqual([true, false, false, false]);
  expect(kept.map(({ id }) => id)).toEqual(['a', 'b', 'f', 'c']);
});
