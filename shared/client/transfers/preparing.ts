import type { BatonClient, Off, Target } from '../api.ts';
import { newId } from '../new-id.ts';
import { type Clock, systemClock } from '../time/clock.ts';

/**
 * Files that another device reads before it offers them. There is no transfer yet, so signals without a transfer report
 * them: `offer` with `{preparing: {id, files, total_bytes, bytes}}` while the device reads, and `bye` with `{preparing:
 * {id}}` at the end.
 */
export interface Preparing {
  /** An id that the sender makes. */
  readonly id: string;
  readonly from: { readonly device_id: string; readonly name: string };
  readonly files: number;
  readonly totalBytes: number;
  /** The bytes read so far. */
  readonly bytes: number;
}

/** Files that are ready sooner are not announced. */
const FIRST_MS = 1_000;
const EVERY_MS = 5_000;
/** A sender that is silent for this long has stopped. */
const SILENT_MS = 20_000;
/** More than these are ignored. */
const MOST = 32;

/**
 * Tells a device about files that it will be offered, until `end` is called. `read` takes the number of bytes read so far. A
 * lost signal does no harm.
 */
export function tellPreparing(
  baton: Pick<BatonClient, 'sendSignal'>,
  to: Target,
  about: { files: number; totalBytes: number },
  clock: Clock = systemClock,
): { read: (bytes: number) => void; end: () => void } {
  const id = newId();
  let bytes = 0;
  let isTold = false;
  let stop = clock.after(FIRST_MS, tell);

  /** Signals leave one after the other, so that `bye` is the last. */
  let last: Promise<unknown> = Promise.resolve();
  const say = (kind: 'offer' | 'bye', preparing: object) => {
    last = last.then(() => baton.sendSignal(to, { kind, payload: { preparing } }, { retries: 0 })).catch(() => {});
  };
  function tell(): void {
    isTold = true;
    say('offer', { id, files: about.files, total_bytes: about.totalBytes, bytes });
    stop = clock.after(EVERY_MS, tell);
  }
  return {
    read(now) {
      bytes = now;
    },
    end() {
      stop();
      if (isTold) say('bye', { id });
      isTold = false;
    },
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Reads a signal about files in preparation; null: another signal. `files: 0`: the preparation is over. */
function readSignal(data: unknown): Preparing | null {
  if (!isRecord(data) || data.transfer_id !== null || !isRecord(data.payload)) return null;
  const { from_device_id, from_name, kind, payload } = data;
  const { preparing } = payload;
  if (typeof from_device_id !== 'string' || typeof from_name !== 'string' || !isRecord(preparing)) return null;
  const { id, files, total_bytes: totalBytes, bytes } = preparing;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return null;
  const of = { id, from: { device_id: from_device_id, name: from_name } };
  if (kind === 'bye') return { ...of, files: 0, totalBytes: 0, bytes: 0 };
  if (kind !== 'offer' || !isAmount(files) || files === 0 || !isAmount(totalBytes) || !isAmount(bytes)) return null;
  return { ...of, files, totalBytes, bytes: Math.min(bytes, totalBytes) };
}

/** Reports what other devices prepare for this one, at each change, until the returned function is called. */
export function watchPreparing(
  baton: Pick<BatonClient, 'on'>,
  onChange: (all: readonly Preparing[]) => void,
  clock: Clock = systemClock,
): Off {
  const all = new Map<string, { preparing: Preparing; stop: () => void }>();
  const changed = () => onChange([...all.values()].map(({ preparing }) => preparing));
  function drop(key: string): void {
    all.get(key)?.stop();
    if (all.delete(key)) changed();
  }
  const off = baton.on('event', ({ name, data }) => {
    const preparing = name === 'signal' ? readSignal(data) : null;
    if (preparing === null) return;
    const key = `${preparing.from.device_id} ${preparing.id}`;
    if (preparing.files === 0) return drop(key);
    if (!all.has(key) && all.size >= MOST) return;
    all.get(key)?.stop();
    all.set(key, { preparing, stop: clock.after(SILENT_MS, () => drop(key)) });
    changed();
  });
  return () => {
    off();
    for (const { stop } of all.values()) stop();
    all.clear();
  };
}
