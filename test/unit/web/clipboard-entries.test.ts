import type { ClipboardEntry } from '../../../shared/client/index.ts';
import { filledEntry, isEmptyEntry, isSealedEntry } from '../../../services/web/view/clipboard/entries.ts';

const entry = (change: Partial<ClipboardEntry> = {}): ClipboardEntry => ({
  ...{ content: '', content_type: 'text/plain', source_device_id: 'phone', source_device_name: 'Phone' },
  ...{ updated_at: Date.now(), expires_at: Date.now() + 300_000 },
  ...change,
});

describe('the clipboard of the account', () => {
  test('is not empty where it is sealed and this browser has no key', () => {
    const [empty, plain, sealed] = [entry(), entry({ content: 'text' }), entry({ sealed: 'AQAAAAE' })];
    expect([empty, plain, sealed].map(isEmptyEntry)).toEqual([true, false, false]);
    expect([empty, plain, sealed].map(isSealedEntry)).toEqual([false, false, true]);
    expect([empty, plain, sealed].map(filledEntry)).toEqual([null, plain, sealed]);
    expect(filledEntry({ ...sealed, expires_at: Date.now() - 60_000 })).toBeNull();
  });
});
