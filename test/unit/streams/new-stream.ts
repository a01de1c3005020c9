import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Caller } from '../../../services/sync/identity/caller.ts';
import { Stream } from '../../../services/sync/streams/stream/stream.ts';

/** An answer in the form that a stream uses, and what its client reads. */
export class Client extends EventEmitter {
  text = '';
  writableLength = 0;
  destroyed = false;
  /** Whether it takes what is written. Otherwise it takes nothing until `drain`. */
  reads = true;

  write(chunk: Buffer): boolean {
    this.text += String(chunk);
    if (!this.reads) this.writableLength += chunk.length;
    return this.reads;
  }

  end(chunk: Buffer): void {
    this.write(chunk);
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
  }

  headersSent = false;
  readonly req = { resume: (): void => undefined };

  writeHead(): this {
    this.headersSent = true;
    return this;
  }

  removeHeader(): void {}
  flushHeaders(): void {}
  cork(): void {}
  uncork(): void {}

  get response(): ServerResponse {
    return this as unknown as ServerResponse;
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

/** Makes a stream that opens, of Ann's phone unless told otherwise. */
export function newStream({ client = new Client(), account = 'ann', deviceId = 'phone', ...rest }: Given = {}): Stream {
  const { device = deviceId ?? '~Tab', position = '', rotateAtMs = Infinity } = rest;
  const caller = { account, deviceId } as Caller;
  return new Stream({ res: client.response, caller, device, position, rotateAtMs });
}
