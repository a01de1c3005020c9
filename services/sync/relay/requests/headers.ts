import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import { PARTIAL_UPLOAD, UPLOAD_DRAFT_INTEROP_VERSION } from '../../../../shared/contract/modules/relay.ts';

function only(req: IncomingMessage, name: string): string | null {
  const values = req.headersDistinct[name];
  if (values === undefined) return null;
  if (values.length === 1) return (values[0] as string).trim();
  throw refused(name, 'occurs more than once');
}

function refused(name: string, message: string): BatonError {
  const errors = [{ path: `/header/${name}`, message }];
  return new BatonError('invalid_request', `${name} ${message}`, { errors });
}

/** Returns an item of RFC 9651 without its parameters, because none are defined here. */
const bare = (text: string): string => text.split(';')[0]?.trim() ?? '';

export interface AppendHeaders {
  offset: number;
  /** Whether this request brings the last byte. */
  completes: boolean;
  /** Length of the body; null when the request does not say. */
  length: number | null;
}

/** Reads what a sender says about the bytes that it sends. @throws invalid_request, unsupported_media_type */
export function readAppendHeaders(req: IncomingMessage): AppendHeaders {
  const type = only(req, 'content-type');
  if (type !== null && bare(type).toLowerCase() !== PARTIAL_UPLOAD) {
    throw new BatonError('unsupported_media_type', `Send the bytes as ${PARTIAL_UPLOAD}`);
  }
  if (only(req, 'content-encoding') !== null) {
    throw new BatonError('unsupported_media_type', 'Send the bytes without Content-Encoding');
  }
  const interop = only(req, 'upload-draft-interop-version');
  if (interop !== null && bare(interop) !== UPLOAD_DRAFT_INTEROP_VERSION) {
    throw refused('Upload-Draft-Interop-Version', `is ${UPLOAD_DRAFT_INTEROP_VERSION} here`);
  }
  const offset = only(req, 'upload-offset');
  if (offset === null) throw refused('Upload-Offset', 'is required');
  if (!/^\d{1,15}$/.test(bare(offset))) throw refused('Upload-Offset', 'must be a number of bytes');
  const complete = only(req, 'upload-complete') ?? '?0';
  if (!/^\?[01]$/.test(bare(complete))) throw refused('Upload-Complete', 'must be ?0 or ?1');
  const length = only(req, 'content-length');
  return {
    offset: Number(bare(offset)),
    completes: bare(complete) === '?1',
    length: length === null ? null : Number(length),
  };
}

export interface ByteRange {
  start: number;
  /** Offset of the byte behind the last. */
  stop: number;
}

/**
 * Returns the one range that was asked for. Returns null when there is none, more than one, or one in other units: then
 * the whole file is sent (RFC 9110, 14.2). @throws range_not_available when the range begins at or behind the end
 */
export function readRange(req: IncomingMessage, size: number): ByteRange | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(req.headers.range?.trim() ?? '');
  const [, first, last] = match ?? [];
  if (match === null || (first === '' && last === '')) return null;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const stop = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (start < stop) return { start, stop };
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  throw new BatonError('range_not_available', `The file has ${size} bytes`, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}

/** Returns a Content-Disposition (RFC 6266) with the last part of the name: folders are the receiver's business. */
export function attachment(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1);
  const plain = last.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(last.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
