import type { Transfer } from '../../../shared/client/wire.ts';
import type { Posted } from './passed.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A signal as it passes the server. */
export interface PassedSignal {
  readonly from: string;
  readonly transferId: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** The bytes that the server gives of a file, and where its first answer ends; null: after the last byte. */
export interface Served {
  readonly bytes: Uint8Array;
  readonly cutAt: number | null;
}

/** A transfer, as the server has it. */
export interface Held {
  /** The transfer without lies. */
  transfer: Transfer;
  readonly body: string;
  /** The sealed bytes of each file. */
  readonly uploads: Bytes[];
  /** The same, as far as they ever came. */
  readonly seen: Bytes[];
  /** Bytes came twice for one place, and were not the same. */
  isResealed: boolean;
}

/** The lies about what is under way now. Each is chosen before, so that the order of requests decides nothing. */
export interface Lies {
  /** Called with the number of each piece; returns the offset that the server names instead of its own. */
  onPiece: (count: number, held: Held, index: number) => number | null;
  /** A transfer as its receiver sees it. */
  view: (held: Held) => Transfer;
  served: (held: Held, index: number) => Served;
  /** Called when a receiver has accepted, before it gets the answer. */
  onAccept: (held: Held) => Promise<void>;
  /** Called when a receiver asks for bytes after the end of what the server gives. */
  onMore: () => void;
  /** Called when a transfer has failed, or was cancelled. */
  onFailed: () => void;
}

export interface Relay {
  readonly held: Map<string, Held>;
  readonly signals: PassedSignal[];
  lies: Lies;
  /** Answers a request about transfers; null for any other. */
  answer(device: string, url: URL, init: RequestInit): Promise<Response | null>;
}

export const NO_LIES: Lies = {
  onPiece: () => null,
  view: ({ transfer }) => transfer,
  served: ({ uploads }, index) => ({ bytes: uploads[index] ?? new Uint8Array(0), cutAt: null }),
  onAccept: () => Promise.resolve(),
  onMore: () => {},
  onFailed: () => {},
};

const SIDES = { name: 'any' } as const;
const accepted = (offset: number, complete: boolean): Response =>
  new Response(null, {
    status: 204,
    headers: { 'Upload-Offset': String(offset), 'Upload-Complete': complete ? '?1' : '?0' },
  });

interface Offer {
  readonly to_device_id: string;
  readonly files: readonly { name: string; size: number; type?: string; sha256?: string }[];
  readonly sealed?: string;
}

function transferOf(from: string, { to_device_id: to, files, sealed = null as never }: Offer): Transfer {
  const listed = files.map(({ name, size, type = null, sha256 = null }, index) => ({
    ...{ index, name, size },
    ...{ type, sha256 },
  }));
  const now = Date.now();
  return {
    ...{ transfer_id: crypto.randomUUID(), state: 'PENDING', mode: 'relay', phase: 'initializing', sealed },
    ...{ sender: { device_id: from, ...SIDES }, receiver: { device_id: to, ...SIDES }, files: listed },
    ...{ file_count: files.length, total_bytes: files.reduce((sum, { size }) => sum + size, 0), error: null },
    ...{ progress: { sent_bytes: 0, received_bytes: 0 }, created_at: now, updated_at: now, expires_at: now + 1e9 },
  };
}

/** A relay of files in the memory of the hostile server. `onOffer` is called with each description that was sealed. */
export function makeRelay(onOffer: (about: Pick<Posted, 'kind' | 'from' | 'to' | 'sealed'>) => void): Relay {
  const held = new Map<string, Held>();
  let pieces = 0;

  function offer(from: string, text: string): Response {
    const body = JSON.parse(text) as Offer;
    const transfer = transferOf(from, body);
    const none = () => body.files.map(() => new Uint8Array(0));
    held.set(transfer.transfer_id, { transfer, body: text, uploads: none(), seen: none(), isResealed: false });
    pieces = 0;
    onOffer({ kind: 'transfer', from, to: body.to_device_id, sealed: body.sealed ?? '' });
    return Response.json({ transfer, receiver_online: false }, { status: 201 });
  }

  /** Returns the transfer as the device sees it: its sender with its places, a receiver with the lies. */
  function shownTo(device: string, one: Held): Response {
    const { transfer, uploads } = one;
    if (transfer.sender.device_id !== device) return Response.json({ transfer: relay.lies.view(one) });
    const at = (index: number) => `/api/relay/${transfer.transfer_id}/${index}/0`;
    const places = uploads.map(({ length }, index) => ({ index, upload_url: at(index), offset: length }));
    return Response.json({ transfer: { ...transfer, uploads: places } });
  }

  function append(one: Held, index: number, offset: number, bytes: Uint8Array): Response {
    const [before, seen] = [one.uploads[index] as Bytes, one.seen[index] as Bytes];
    const known = seen.subarray(offset, offset + bytes.length);
    if (Buffer.compare(known, bytes.subarray(0, known.length)) !== 0) one.isResealed = true;
    const whole = new Uint8Array(Buffer.concat([before.subarray(0, offset), bytes]));
    one.uploads[index] = whole;
    if (whole.length > seen.length) one.seen[index] = whole;
    const size = one.transfer.files?.[index]?.size ?? 0;
    pieces += 1;
    const named = relay.lies.onPiece(pieces, one, index);
    if (named !== null) one.uploads[index] = whole.slice(0, named);
    return accepted(named ?? whole.length, named === null && whole.length === size);
  }

  function give(one: Held, index: number, range: string | null): Response {
    const { bytes, cutAt } = relay.lies.served(one, index);
    const from = Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
    if (from >= bytes.length) relay.lies.onMore();
    const to = cutAt !== null && from < cutAt ? cutAt : bytes.length;
    const headers = { 'Content-Range': `bytes ${from}-${Math.max(from, to - 1)}/*` };
    return new Response(bytes.slice(from, to), { status: from > 0 ? 206 : 200, headers });
  }

  async function act(device: string, one: Held, action: string): Promise<Response> {
    const { transfer } = one;
    const now = { ...transfer, updated_at: Date.now() };
    if (action === 'accept') {
      await relay.lies.onAccept(one);
      one.transfer = { ...now, state: 'RELAY_ACTIVE' };
    }
    if (action === 'complete') one.transfer = { ...now, state: 'DONE' };
    if (action === 'fail' || action === 'cancel') {
      one.transfer = { ...now, state: 'FAILED' };
      relay.lies.onFailed();
    }
    // A list of files besides the one in the state would count as another one.
    const { files: _, ...told } = one.transfer.sender.device_id === device ? one.transfer : relay.lies.view(one);
    return Response.json({ transfer: { ...told, state: one.transfer.state } });
  }

  function bytesOf(init: RequestInit): Uint8Array {
    // The sender uses this memory again.
    return Uint8Array.from(init.body as Uint8Array<ArrayBuffer>);
  }

  async function answer(device: string, url: URL, init: RequestInit): Promise<Response | null> {
    const [, , module, id = '', word = '', , last] = url.pathname.split('/');
    const method = init.method ?? 'GET';
    if (url.pathname === '/api/hub/signal') {
      const { transfer_id, kind, payload } = JSON.parse(init.body as string) as Record<string, string>;
      relay.signals.push({ from: device, transferId: transfer_id ?? '', kind: kind ?? '', payload });
      return Response.json({ delivered: true }, { status: 202 });
    }
    if (module !== 'transfer' && module !== 'relay') return null;
    if (id === 'init') return offer(device, init.body as string);
    const one = held.get(id);
    if (one === undefined) return Response.json({ status: 404, code: 'not_found' }, { status: 404 });
    if (module === 'transfer') return method === 'GET' ? shownTo(device, one) : act(device, one, word);
    if (last === 'ack') return new Response(null, { status: 204 });
    const headers = new Headers(init.headers);
    if (method === 'PATCH') return append(one, Number(word), Number(headers.get('upload-offset')), bytesOf(init));
    if (method === 'HEAD') return accepted(one.uploads[Number(word)]?.length ?? 0, false);
    return give(one, Number(word), headers.get('range'));
  }

  const relay: Relay = { held, signals: [], lies: NO_LIES, answer };
  return relay;
}
