import type { ClientEvents } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Emitter } from '../emitter.ts';
import type { ClipboardChange } from '../wire.ts';

/** Reports each change of the clipboard once, including a change that was missed while there was no stream. */
export interface ClipboardNews {
  /** Takes a change from an event; null: cleared. */
  onChange(change: ClipboardChange | null): void;
  /** Takes the clipboard as a new stream found it, where that stream does not bring the events that were missed. */
  onReady(found: { updated_at: number } | null): void;
}

export function makeClipboardNews(
  caller: Caller,
  emitter: Emitter<ClientEvents>,
  onProblem: (error: unknown) => void,
): ClipboardNews {
  let toldAt: number | null = null;

  function onChange(change: ClipboardChange | null): void {
    toldAt = change?.updated_at ?? null;
    emitter.emit('clipboard', change);
  }

  async function refetch(): Promise<void> {
    const { content, updated_at, expires_at, ...source } = (await caller.call('getClipboard')).body;
    if (updated_at === null || expires_at === null || updated_at === toldAt) return;
    const { source_device_id, source_device_name } = source;
    const bytes = new TextEncoder().encode(content).length;
    onChange({ source_device_id, source_device_name: source_device_name ?? '', updated_at, expires_at, bytes });
  }

  return {
    onChange,
    onReady(found) {
      if (found !== null && found.updated_at !== toldAt) refetch().catch(onProblem);
      else if (found === null && toldAt !== null) onChange(null);
    },
  };
}
