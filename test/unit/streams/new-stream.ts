import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Caller } from '../../../services/sync/identity/caller.ts';
import { Stream } from '../../../services/sync/streams/stream/stream.ts';

/** An answer, as far as a stream uses it, and what its client reads. */
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

/** A stream that opens; of Ann's phone where nothing else is said. */
export function newStream({ client = new Client(), account = 'ann', deviceId = 'phone', ...rest }: Given = {}): Stream {
  const { device = deviceId ?? '~Tab', position = '', rotateAtMs = Infinity } = rest;
  const caller = { account, deviceId } as Caller;
  return new Stream({ res: client.response, caller, device, position, rotateAtMs });
}
