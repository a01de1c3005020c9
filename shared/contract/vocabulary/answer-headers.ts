import Type, { type TSchema } from 'typebox';

const Text = Type.String();
const Bytes = Type.Integer({ minimum: 0 });

/** The headers of responses, for authors of clients. It does not include the headers of HTTP itself. */
export const ANSWER_HEADERS = {
  'X-Request-Id': {
    description: 'The id of the request, which is also in the log; taken from the request if it has a valid one.',
    schema: Text,
  },
  'X-Api-Version': { description: 'The version of this contract.', schema: Text },
  'Retry-After': {
    description: 'Seconds after which the same request may succeed.',
    schema: Type.Integer({ minimum: 0 }),
  },
  RateLimit: {
    description: 'The limit that refused, and the seconds (`t`) until it allows requests again.',
    schema: Text,
  },
  'RateLimit-Policy': {
    description: 'How many requests (`q`) the limit allows in how many seconds (`w`).',
    schema: Text,
  },
  'WWW-Authenticate': { description: 'What is wrong with the token of the request (RFC 6750).', schema: Text },
  Allow: { description: 'The methods that the path supports.', schema: Text },
  Location: { description: 'Where to go.', schema: Type.String({ format: 'uri-reference' }) },
  'Set-Cookie': { description: 'The session cookie: HttpOnly, SameSite=Lax, and Secure over https.', schema: Text },
  'Upload-Offset': {
    description: 'How many bytes of the file have come, which is where the next ones begin.',
    schema: Bytes,
  },
  'Upload-Complete': { description: '`?1` when the whole file has come, else `?0`.', schema: Type.Enum(['?0', '?1']) },
  'Upload-Length': { description: 'Bytes of the whole file.', schema: Bytes },
  'Upload-Draft-Interop-Version': {
    description: 'The version of the draft on resumable uploads that the service speaks.',
    schema: Text,
  },
  'Content-Range': {
    description: 'Which bytes of the file these are; in a refusal, how many bytes it has.',
    schema: Text,
  },
  'Content-Disposition': { description: 'The name of the file (RFC 6266).', schema: Text },
  'Accept-Ranges': { description: 'A download can be resumed by `Range`.', schema: Type.Enum(['bytes']) },
  'Cache-Control': { description: 'Whether, and for how long, the answer may be kept.', schema: Text },
} as const satisfies Record<string, { description: string; schema: TSchema }>;

export type AnswerHeader = keyof typeof ANSWER_HEADERS;
