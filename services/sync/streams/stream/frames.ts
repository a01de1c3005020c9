import type { EventName } from '../../../../shared/contract/events.ts';

const LINE_END = 0x0a;

/**
 * Returns one server-sent event as bytes (WHATWG HTML, 9.2.5), with `id`, `event` and `data` in one piece. `data` is
 * JSON text, as a string or in UTF-8, which never holds a raw line end; names and ids come from the catalogue and the
 * store, never from a client.
 */
export function frame(name: EventName, data: string | Buffer, id?: string): Buffer {
  const head = `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: `;
  if (typeof data === 'string') return Buffer.from(`${head}${data}\n\n`);
  const bytes = Buffer.allocUnsafe(head.length + data.length + 2);
  bytes.write(head, 'latin1');
  bytes.set(data, head.length);
  bytes.fill(LINE_END, head.length + data.length);
  return bytes;
}

/** Returns the last frame of a stream: why it ends, and when this client should come back. */
export function reconnectFrame(reason: string, retryMs: number): Buffer {
  const data = JSON.stringify({ reason, retry_ms: retryMs });
  return Buffer.from(`retry: ${retryMs}\nevent: reconnect\ndata: ${data}\n\n`);
}

/** Returns whether an event with these addressees is for this device (the log's notation, see `prelude/log.lua`). */
export function addressed(to: string, device: string): boolean {
  if (to === '*') return true;
  if (to.startsWith('!')) return to.slice(1) !== device;
  return to === device || (to !== '' && to.split('\t').includes(device));
}

/** Returns whether the text can be an id of the log, because a client may send anything. */
export const isPosition = (text: string): boolean => /^\d{1,15}-\d{1,10}$/.test(text);
