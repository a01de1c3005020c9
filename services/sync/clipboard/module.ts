import type { Db } from '../redis/db.ts';
import { makeClipboard } from './clipboard.ts';
import { makeClipboardHandlers } from './routes.ts';
import { makeClipboardStore } from './store.ts';

interface ClipboardModuleParts {
  db: Db;
  ttlMs: number;
  scheduleDue: (account: string, delayMs: number) => Promise<void>;
  onWritten: () => void;
}

export function makeClipboardModule({ db, ttlMs, scheduleDue, onWritten }: ClipboardModuleParts) {
  const clipboard = makeClipboard({
    store: makeClipboardStore({ ...db, ttlMs, scheduleDue }),
    onWritten,
  });
  return { expire: clipboard.expire, handlers: makeClipboardHandlers(clipboard) };
}
