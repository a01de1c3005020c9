import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { orNull, UnixMs } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { DeviceKeys } from '../vocabulary/sealed.ts';
import { route } from '../vocabulary/route.ts';

/** Any text where a ring is expected. The rules refuse it with the reason. */
const Signed = Type.String({
  minLength: 1,
  description: '`base64url(bytes).base64url(signature)` without padding, at most 65,536 characters.',
});

const RingNumber = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Number of a ring.' });

/** A device, or the recovery words. Further kinds may follow. */
const MEMBER_ID = '^[A-Za-z0-9_-]{1,64}$';
const MemberId = Type.String({ pattern: MEMBER_ID });

const Integer = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** A SHA-256 digest as base64url. */
const Digest = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

/** Sealed content, which the service cannot open and only the devices can. */
const Opaque = Type.String({ pattern: '^[A-Za-z0-9_-]*$' });

/** The bytes of a ring as JSON. The service ignores fields that it does not know. */
export const Ring = Type.Object({
  v: Type.Literal(1),
  service: Type.String(),
  user_id: Type.String(),
  n: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  /** The digest of the bytes of the ring before it; '' for the first one. */
  prev_hash: Type.Union([Type.Literal(''), Digest]),
  epoch: Integer,
  key_id: Digest,
  members: Type.Array(
    Type.Object({
      device_id: MemberId,
      kind: Type.String({ pattern: '^[a-z][a-z_-]{0,31}$' }),
      ...DeviceKeys.properties,
      since: Integer,
    }),
    { minItems: 1, maxItems: LIMITS.ringMembers },
  ),
  wraps: Type.Record(MemberId, Opaque, { additionalProperties: false }),
  older: Type.Optional(Type.Union([Opaque, Type.Null()])),
});
export type Ring = Static<typeof Ring>;

/** The bytes of the list of guests as JSON. */
export const GuestList = Type.Object({
  n: Integer,
  /** One more than the number of the list that it replaces, at the same ring. Devices never go back to a lower one. */
  number: Type.Optional(Integer),
  guests: Type.Array(Type.Object({ device_id: MemberId, ...DeviceKeys.properties, until: UnixMs }), {
    maxItems: LIMITS.guests,
  }),
});
export type GuestList = Static<typeof GuestList>;

/** `keys`: all rings and guests. `account`: everything that the service keeps of the account. */
export const DELETIONS = ['keys', 'account'] as const;
export type DeletionOf = (typeof DELETIONS)[number];

/** An announced deletion. It is carried out at `at`, unless a member of the ring in force objects before. */
export const Deletion = Type.Object({ of: Type.Enum([...DELETIONS]), at: UnixMs });
export type Deletion = Static<typeof Deletion>;

/** The fields that a member of the ring in force signs to prove that it wants this. */
const proofFields = {
  device_id: Type.String({ pattern: MEMBER_ID, description: 'The member that signs.' }),
  n: RingNumber,
  signature: Type.String({
    pattern: '^[A-Za-z0-9_-]{86}$',
    description: 'ECDSA of P-256 with SHA-256: 64 bytes as base64url without padding.',
  }),
};

export const MemberProof = Type.Object(proofFields);
export type MemberProof = Static<typeof MemberProof>;

/** A proof, or nothing at all. Without a proof the deletion is announced, and carried out a day later. */
export const MaybeProof = Type.Object(
  {
    device_id: Type.Optional(proofFields.device_id),
    n: Type.Optional(proofFields.n),
    signature: Type.Optional(proofFields.signature),
  },
  {
    dependentRequired: {
      device_id: ['n', 'signature'],
      n: ['device_id', 'signature'],
      signature: ['device_id', 'n'],
    },
  },
);
export type MaybeProof = Static<typeof MaybeProof>;

export const Announced = Type.Object({ deletion: Deletion });

const Taken = Type.Object({ n: RingNumber });
// 202: the change is in force, but no replica of the store has confirmed it in time.
const taken = { 200: Taken, 202: Taken };

const NO_KEYS = 'The account has no keys';

export const keysRoutes = {
  getKeys: route({
    method: 'GET',
    path: '/api/keys',
    summary: `The rings of the account after a known one, at most ${LIMITS.ringsPerPage}, and its guests`,
    device: 'required',
    rate: 'keys_read',
    notFound: NO_KEYS,
    query: Type.Object({
      after: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'The number of the newest ring that the caller has. 0, the default, means none.',
        }),
      ),
    }),
    answers: {
      200: Type.Object({
        rings: Type.Array(Signed, {
          maxItems: LIMITS.ringsPerPage,
          description:
            'In order. Only the newest rings are kept, so the first may be a later one than the caller asked for.',
        }),
        n: RingNumber,
        guests: orNull(Signed),
        deletions: Type.Array(Deletion),
      }),
    },
    errors: ['not_found'],
  }),
  putKeys: route({
    method: 'PUT',
    path: '/api/keys',
    summary: 'Put the next ring in force, signed by a member of the one before',
    cors: false,
    scope: 'full',
    device: 'required',
    headers: {
      'If-Match': {
        description: 'The number of the ring that is replaced, in quotation marks; `"0"` for the first ring.',
        required: true,
        schema: Type.String({ pattern: '^"(0|[1-9][0-9]{0,15})"$', examples: ['"3"'] }),
      },
    },
    rate: 'keys',
    body: Type.Object({ ring: Signed }),
    answers: taken,
    errors: ['keys_conflict', 'body_too_large'],
  }),
  putGuests: route({
    method: 'PUT',
    path: '/api/keys/guests',
    summary: 'Replace the list of guests, signed by a member of the ring in force',
    cors: false,
    scope: 'full',
    device: 'required',
    headers: {
      'If-Match': {
        description:
          'The SHA-256 of the bytes of the list that is replaced, as base64url in quotation marks; `""` for none. Without it, any list is replaced.',
        schema: Type.String({ pattern: '^"([A-Za-z0-9_-]{43})?"$' }),
      },
    },
    rate: 'keys',
    notFound: NO_KEYS,
    body: Type.Object({ guests: Signed }),
    answers: taken,
    errors: ['keys_conflict', 'body_too_large', 'not_found'],
  }),
  deleteKeys: route({
    method: 'DELETE',
    path: '/api/keys',
    summary: 'Remove all rings: at once if a member signs the request, else a day after the announcement',
    cors: false,
    scope: 'full',
    device: 'required',
    rate: 'keys',
    body: MaybeProof,
    bodyOptional: true,
    answers: { 202: Announced, 204: null },
    errors: ['keys_conflict'],
  }),
  keepKeys: route({
    method: 'POST',
    path: '/api/keys/keep',
    summary: 'Cancel an announced deletion, because a member objects',
    cors: false,
    scope: 'full',
    device: 'required',
    rate: 'keys',
    notFound: NO_KEYS,
    body: MemberProof,
    answers: { 204: null },
    errors: ['keys_conflict', 'not_found'],
  }),
};

export const keysEvents = {
  keys: event({
    summary:
      'The rings or guests of the account changed, or their deletion was announced or cancelled: fetch them. With `n` 0 there are none any more',
    data: Type.Object({ n: RingNumber }),
    id: 'always',
  }),
};
