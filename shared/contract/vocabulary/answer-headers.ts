import Type, { type TSchema } from 'typebox';

const Text = Type.String();
const Bytes = Type.Integer({ minimum: 0 });

/** The headers of responses, for authors of clients. It does not include the headers of HTTP itself. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request, also in the log; taken from the request where it was fit.',
    schema: Text,
  },
  'X-Api-Version': { description: 'The version of this contract.', schema: Text },
  'Retry-After': {
    description: 'Seconds after which the same request is worth a try.',
    schema: Type.Integer({ minimum: 0 }),
  },
  RateLimit: { description: 'The limit that refused, and the seconds (`t`) until it lets in again.', schema: Text },
  'RateLimit-Policy': {
    description: 'How many requests (`q`) the limit allows in how many seconds (`w`).',
    schema: Text,
  },
  'WWW-Authenticate': { description: 'RFC 6750: what is wrong with the token that was shown.', schema: Text },
  Allow: { description: 'The methods that the path has.', schema: Text },
  Location: { description: 'Where to go.', schema: Type.String({ format: 'uri-reference' }) },
  'Set-Cookie': { description: 'The session cookie: HttpOnly, SameSite=Lax, and Secure over https.', schema: Text },
  'Upload-Offset': { description: 'How many bytes of the file have come: where the next begin.', schema: Bytes },
  'Upload-Complete': { description: '`?1` once the whole file has come, else `?0`.', schema: Type.Enum(['?0', '?1']) },
  'Upload-Length': { description: 'Bytes of the whole file.', schema: Bytes },
  'Upload-Draft-Interop-Version': {
    description: 'The version of the draft on resumable uploads that is spoken.',
    schema: Text,
  },
  'Content-Range': { description: 'Which bytes of the file these are; with a refusal how many it has.', schema: Text },
  'Content-Disposition': { description: 'The name of the file (RFC 6266).', schema: Text },
  'Accept-Ranges': { description: 'A download can be resumed by `Range`.', schema: Type.Enum(['bytes']) },
  'Cache-Control': { description: 'Whether, and for how long, the answer may be kept.', schema: Text },
} as const satisfies Record<string, { description: string; schema: TSchema }>;

export type AnswerHeader = keyof typeof ANSWER_HEADERS;
