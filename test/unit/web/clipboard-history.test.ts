import { makeHistory, makeTurns } from '../../../services/web/history/history.ts';
import {
  clipboardHistory,
  keepClipboardHistory,
  noteClipboard,
} from '../../../services/web/history/clipboard-history.ts';
import { memoryDatabase } from '../../../services/web/history/memory-database.ts';

const entry = (content: string, at: number) => ({
  ...{ content, content_type: 'text/plain' as const, source_device_id: 'phone', source_device_name: 'Phone' },
  ...{ updated_at: at, expires_at: at + 300_000 },
});

describe('what has passed through the clipboard', () => {
  const history = makeHistory(memoryDatabase(), () => {}, makeTurns());
  const texts = async () => (await clipboardHistory(history)).passed.map(({ text }) => text);

  test('is kept by nobody who has not chosen it, and is gone when that is chosen no more', async () => {
    await noteClipboard(history, entry('a secret', 1));
    expect(await texts()).toEqual([]);
    await keepClipboardHistory(history, true);
    await noteClipboard(history, entry('one', 2));
    expect(await texts()).toEqual(['one']);
    await keepClipboardHistory(history, false);
    expect(await texts()).toEqual([]);
  });

  test('is kept once each, newest first, and not without end', async () => {
    await keepClipboardHistory(history, true);
    for (let at = 1; at <= 40; at += 1) await noteClipboard(history, entry(`text ${at}`, at));
    await noteClipboard(history, entry('text 40', 40));
    await noteClipboard(history, entry('text 38', 41));
    await noteClipboard(history, entry('', 42));
    await noteClipboard(history, null);
    expect(await texts()).toHaveLength(30);
    expect((await texts()).slice(0, 4)).toEqual(['text 38', 'text 40', 'text 39', 'text 37']);
  });
});
