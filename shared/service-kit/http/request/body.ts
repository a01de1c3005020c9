import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../contract/errors.ts';
import type { Route } from '../../../contract/vocabulary/route.ts';
import { readBytes } from './body-bytes.ts';
import { parseJson } from './json.ts';

/** The body of a request on routes that take none. */
export const NOTHING = Buffer.alloc(0);

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(contentType?.trim() ?? '');

function parse(bytes: Buffer): unknown {
  // Decoding would silently replace invalid bytes, and a text would be stored that nobody sent.
  if (!isUtf8(bytes)) throw new BatonError('invalid_request', 'The body is not UTF-8');
  return parseJson(bytes);
}

/** Returns whether the headers announce a body (RFC 9112, section 6.3). */
const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const isForm = (contentType: string | undefined): boolean =>
  /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(contentType?.trim() ?? '');

/** Parses the fields of a form. A field that occurs twice is ambiguous, so it is refused. */
const parseForm = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new BatonError('invalid_request', 'The body is not UTF-8');
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  const twice = fields.find(([name], index) => fields.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new BatonError('invalid_request', 'A field of the form occurs twice');
  return Object.fromEntries(fields);
};

/** The reader of a route's body. Reading waits for the sender and inspects nothing; parsing takes processor time. */
export interface BodyReader {
  /** Reads all of it, at once if it is here; empty if there is none. Throws unsupported_media_type, body_too_large. */
  read(req: IncomingMessage): Buffer | Promise<Buffer>;
  /** Parses the body. Throws invalid_request if a required body is missing, or if the JSON is malformed. */
  parse(bytes: Buffer): unknown;
}

/** Makes the reader of a route's body. Compressed bodies are refused, because limits count bytes as received. */
export function makeBody({
  bodyLimitBytes: limitBytes,
  bodyOptional: isOptional,
  bodyKind,
}: Pick<Route, 'bodyLimitBytes' | 'bodyOptional' | 'bodyKind'>): BodyReader {
  const wrongType = (type: string | undefined): BatonError | null => {
    if (bodyKind === 'form' ? isForm(type) : isJson(type)) return null;
    return new BatonError(
      'unsupported_media_type',
      `Send the body as ${bodyKind === 'form' ? 'a form' : 'application/json'}`,
    );
  };
  /** A missing body is not a wrong media type. */
  async function readNone(req: IncomingMessage, refused: BatonError): Promise<Buffer> {
    const bytes = await readBytes(req, limitBytes);
    if (bytes.length > 0) throw refused;
    return bytes;
  }

  return {
    read(req) {
      if (!announcesBody(req)) return NOTHING;
      const refused = wrongType(req.headers['content-type']);
      if (refused === null) return readBytes(req, limitBytes);
      // A body that is announced without a length may turn out to be empty.
      if (!isOptional || req.headers['content-length'] !== undefined) throw refused;
      return readNone(req, refused);
    },
    parse(bytes) {
      if (bytes.length > 0) return bodyKind === 'form' ? parseForm(bytes) : parse(bytes);
      if (isOptional) return {};
      throw new BatonError('invalid_request', 'A JSON body is required');
    },
  };
}
