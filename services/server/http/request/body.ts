import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Route } from '../../../../shared/contract/route.ts';
import { readBytes } from './body-bytes.ts';
import { parseJson } from './json.ts';

/** For a whole JSON body to arrive. */
const BODY_MS = 30_000;

interface JsonBody {
  readonly value: unknown;
  /** SHA-256 of the bytes as they came, base64url. */
  readonly fingerprint: string;
}

const fingerprintOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

const NOTHING = Buffer.alloc(0);

/** What stands for the body on routes that take none. */
export const NO_BODY: JsonBody = { value: null, fingerprint: fingerprintOf(NOTHING) };

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

/** Fields of a form. Of one that is there twice nobody knows which was meant. */
const parseForm = (bytes: Buffer): unknown => {
  if (!isUtf8(bytes)) throw new BatonError('invalid_request', 'The body is not UTF-8');
  const fields = [...new URLSearchParams(bytes.toString('utf8'))];
  const twice = fields.find(([name], index) => fields.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new BatonError('invalid_request', 'A field of the form occurs twice');
  return Object.fromEntries(fields);
};

/** What stands for an absent body where it is optional. */
const emptyBody = (): JsonBody => ({ value: {}, fingerprint: fingerprintOf(NOTHING) });

/** How the body of a route is taken in. Reading waits for the sender, and looks at nothing; looking costs time at once. */
export interface BodyReader {
  /** All of it; empty when there is none. Throws unsupported_media_type, body_too_large. */
  read(req: IncomingMessage): Promise<Buffer>;
  /** Throws invalid_request without a body where one is needed, or with malformed JSON. */
  parse(bytes: Buffer): JsonBody;
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
  return {
    async read(req) {
      if (!announcesBody(req)) return NOTHING;
      const refused = wrongType(req.headers['content-type']);
      // Announced without a length it may turn out to be none.
      if (refused !== null && !(isOptional && req.headers['content-length'] === undefined)) throw refused;
      // Whoever is so slow is not waited for, and not answered either.
      const timer = setTimeout(() => req.socket.destroy(), BODY_MS);
      const bytes = await readBytes(req, limitBytes).finally(() => clearTimeout(timer));
      if (refused !== null && bytes.length > 0) throw refused;
      return bytes;
    },
    parse(bytes) {
      if (bytes.length > 0) {
        return { value: bodyKind === 'form' ? parseForm(bytes) : parse(bytes), fingerprint: fingerprintOf(bytes) };
      }
      if (isOptional) return emptyBody();
      throw new BatonError('invalid_request', 'A JSON body is required');
    },
  };
}
