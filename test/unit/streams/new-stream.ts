import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Caller } from '../../../services/sync/identity/caller.ts';
import { Stream } from '../../../services/sync/streams/stream/stream.ts';

/** A connection, as far as a stream uses it, and what its client reads. */
export class Client extends EventEmitter {
  text = '';
  writableLength = 0;
  destroyed = false;
  /** It takes what is written. Else nothing until `drain`. */
  reads = true;

  write(chunk: Buffer): boolean {
    this.text += String(chunk);
    if (!this.reads) this.writableLength += chunk.length;
    return this.reads;
  }

  destroySoon(): void {
    this.emit('close');
  }

  cork(): void {}
  uncork(): void {}

  destroy(): void {
    this.destroyed = true;
  }

  get response(): ServerResponse {
    const pass = (): void => undefined;
    const head = { removeHeader: pass, writeHead: pass, flushHeaders: pass, detachSocket: pass, emit: pass };
    return { req: { read: pass }, socket: this, ...head } as unknown as ServerResponse;
  }
}

interface Given {
  client?: Client;
  account?: string;
  deviceId?: string | null;
  device?: string;
  position?: string;
  rotateAtMs?: number;
}

/** A stream that opens; of Ann's phone where nothing else is said. */
export function newStream({ client = new Client(), account = 'ann', deviceId = 'phone', ...rest }: Given = {}): Stream {
  const { device = deviceId ?? '~Tab', position = '', rotateAtMs = Infinity } = rest;
  const caller = { account, deviceId } as Caller;
  return new Stream({ res: client.response, caller, device, position, rotateAtMs });
}
