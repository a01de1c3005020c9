import type { ClientEvents } from '../api.ts';
import type { Caller } from '../http/caller.ts';
import type { Emitter } from '../emitter.ts';
import { makeRepeated, type RepeatedParts } from '../time/repeated.ts';
import type { ClipboardChange } from '../wire.ts';

/** Reports each change of the clipboard once, including a change that was missed while there was no stream. */
export interface ClipboardNews {
  /** Takes a change from an event; null: cleared. */
  onChange(change: ClipboardChange | null): void;
  /** Takes the clipboard as a new stream found it, if that stream does not bring the events that were missed. */
  onReady(found: { updated_at: number } | null): void;
}

export function makeClipboardNews(
  caller: Caller,
  emitter: Emitter<ClientEvents>,
  repeated: RepeatedParts,
): ClipboardNews {
  let toldAt: number | null = null;
  /** How often the stream has told what the clipboard is. */
  let heard = 0;

  function onChange(change: ClipboardChange | null): void {
    heard += 1;
    toldAt = change?.updated_at ?? null;
    emitter.emit('clipboard', change);
  }

  const refetch = makeRepeated(repeated, async () => {
    const before = heard;
    const { content, updated_at, expires_at, source_device_id, source_device_name } = (
      await caller.call('getClipboard')
    ).body;
    // If the stream told a change meanwhile, it is newer than this response.
    if (heard !== before || updated_at === null || expires_at === null || updated_at === toldAt) return;
    const source = { source_device_id, source_device_name: source_device_name ?? '' };
    onChange({ ...source, updated_at, expires_at, bytes: new Blob([content]).size });
  });

  return {
    onChange,
    onReady(found) {
      heard += 1;
      if (found !== null && found.updated_at !== toldAt) refetch();
      else if (found === null && toldAt !== null) onChange(null);
    },
  };
}
