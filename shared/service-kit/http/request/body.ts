import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../contract/errors.ts';
import type { Route } from '../../../contract/vocabulary/route.ts';
import { readBytes } from './body-bytes.ts';
import { parseJson } from './json.ts';

/** What stands for the body on routes that take none. */
export const NOTHING = Buffer.alloc(0);

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(contentType?.trim() ?? '');

function parse(bytes: Buffer): unknown {
  // Decoding would replace stray bytes silently, and a text would be stored that nobody sent.
  if (!isUtf8(bytes)) throw new BatonError('invalid_request', 'The body is not UTF-8');
  return parseJson(bytes);
}

/** RFC 9112, section 6.3: what announces a body. */
const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

const isForm = (contentType: string | undefined): boolean =>
  /^application\/x-www-form-urlencoded\s*(;\s*charset="?utf-8"?\s*)?;?$/i.test(contentType?.trim() ?? '');

/** Fields of a form. A field that is there twice is ambiguous. */
const parseForm = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new BatonError('invalid_request', 'The body is not UTF-8');
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  const twice = fields.find(([name], index) => fields.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new BatonError('invalid_request', 'A field of the form occurs twice');
  return Object.fromEntries(fields);
};

/** How the body of a route is taken in. Reading waits for the sender, and looks at nothing; looking costs time at once. */
export interface BodyReader {
  /** All of it, at once where it is here; empty when there is none. Throws unsupported_media_type, body_too_large. */
  read(req: IncomingMessage): Buffer | Promise<Buffer>;
  /** Throws invalid_request without a body where one is needed, or with malformed JSON. */
  parse(bytes: Buffer): unknown;
}

/** Takes in the body of a route that has one. Compressed bodies are refused, because limits count bytes as received. */
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
      // Announced without a length it may turn out to be none.
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
