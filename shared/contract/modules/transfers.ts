import Type, { type Static } from 'typebox';
import { event } from '../vocabulary/event.ts';
import { DeviceId, DeviceName, FileIndex, NO_DEVICE, orNull, RelayUrl, UnixMs, Uuid } from '../vocabulary/fields.ts';
import { LIMITS } from '../limits.ts';
import { SealedFiles } from '../vocabulary/sealed.ts';
import { TARGET_RULE, targetFields } from './messages.ts';
import { route } from '../vocabulary/route.ts';

/** The states of a transfer. The last three are final. */
export const TRANSFER_STATES = [
  'PENDING',
  'ACCEPTED',
  'P2P_ACTIVE',
  'RELAY_ACTIVE',
  'DONE',
  'FAILED',
  'CANCELLED',
] as const;
export type TransferState = (typeof TRANSFER_STATES)[number];

/** Tells whether a transfer in this state is over. */
export const isFinal = (state: string): boolean => ['DONE', 'FAILED', 'CANCELLED'].includes(state);

/** The phases that clients show while a transfer runs. */
const TRANSFER_PHASES = [
  'initializing',
  'waiting_accept',
  'waiting_peer',
  'ice_gathering',
  'ice_checking',
  'ice_connected',
  'dc_open',
  'transferring',
  'completing',
  'fallback_pending',
  'relay_uploading',
  'relay_downloading',
  'peer_offline',
] as const;
export const TransferPhase = Type.Enum([...TRANSFER_PHASES]);

/** The size of a file, or of a transfer in total: at most `LIMITS.fileBytes`. */
const Bytes = Type.Integer({ minimum: 0, maximum: LIMITS.fileBytes });

/**
 * Any text. If it is not a relative path, the rules refuse it with the reason. The schema has no length, because ajv would
 * count every character, which took a third of the time of an offer of 1,000 long names, and `fileNameFlaw` counts bytes
 * anyway.
 */
export const FileName = Type.String({
  description: 'Relative path: `/` between folder parts, at most 255 bytes for each part and 1,024 in all.',
  examples: ['photos/beach.jpg'],
});

/** Any text of the sender, not only media types. */
export const FileType = Type.String({ maxLength: 255, examples: ['image/jpeg'] });

/** A digest in lower-case hexadecimal. */
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** The latest time of a `Date` (ECMA-262, 21.4.1.1). */
const LATEST_MS = 8_640_000_000_000_000;

const ModifiedAt = Type.Integer({
  minimum: 0,
  maximum: LATEST_MS,
  description:
    'When the file was last changed at the sender, in Unix milliseconds. Left out if the sender did not say.',
  examples: [1_767_225_600_000],
});

export const NewFile = Type.Object({
  name: FileName,
  size: Bytes,
  type: Type.Optional(FileType),
  sha256: Type.Optional(Sha256),
  modified_at: Type.Optional(ModifiedAt),
});
export type NewFile = Static<typeof NewFile>;

const Party = Type.Object({ device_id: DeviceId, name: DeviceName });

export const Transfer = Type.Object({
  transfer_id: Uuid,
  state: Type.Enum([...TRANSFER_STATES]),
  mode: Type.Enum(['p2p', 'relay']),
  phase: TransferPhase,
  sender: Party,
  receiver: Party,
  files: Type.Optional(
    Type.Array(
      Type.Object({
        index: FileIndex,
        name: Type.String(),
        size: Bytes,
        type: orNull(Type.String()),
        sha256: orNull(Sha256),
        modified_at: Type.Optional(ModifiedAt),
      }),
      {
        description:
          'Omitted from events, lists and answers of actions when there are more than 16: `GET /api/transfer/{transfer_id}` has them. After the end of a transfer, a long list is cut to the first files, and their names are cut; `file_count` says how many files there were.',
      },
    ),
  ),
  file_count: Type.Integer(),
  total_bytes: Bytes,
  sealed: orNull(
    Type.String({
      description:
        'What the sender sealed. `GET /api/transfer/{transfer_id}` has all of it until the transfer ends; everywhere else, and after the end, this is an empty text. Null means that nothing was sealed.',
    }),
  ),
  progress: Type.Object({ sent_bytes: Bytes, received_bytes: Bytes }),
  error: orNull(
    Type.Object(
      { code: Type.String(), detail: orNull(Type.String()), by_device_id: orNull(DeviceId) },
      {
        description:
          '`by_device_id` is the party that ended the transfer; null means the service. The service does not check what a party says.',
      },
    ),
  ),
  uploads: Type.Optional(
    Type.Array(Type.Object({ index: FileIndex, upload_url: RelayUrl, offset: Bytes }), {
      description: 'For the sender, once the relay is in use.',
    }),
  ),
  downloads: Type.Optional(
    Type.Array(Type.Object({ index: FileIndex, download_url: RelayUrl }), {
      description: 'For the receiver, once the relay is in use.',
    }),
  ),
  created_at: UnixMs,
  updated_at: UnixMs,
  expires_at: UnixMs,
});
export type Transfer = Static<typeof Transfer>;

export const InitTransfer = Type.Object(
  {
    ...targetFields,
    files: Type.Array(NewFile, { minItems: 1, maxItems: LIMITS.filesPerTransfer }),
    sealed: Type.Optional(SealedFiles),
  },
  {
    ...TARGET_RULE,
    examples: [{ to: 'Phone', files: [{ name: 'photos/beach.jpg', size: 482_113, type: 'image/jpeg' }] }],
  },
);
export type InitTransfer = Static<typeof InitTransfer>;

/** The values of `error.code` that only the service sets, so that no party can send them as a reason. */
const OWN_WORDS = ['rejected', 'cancelled', 'failed'];

const Ended = Type.Object({
  phase: Type.Optional(TransferPhase),
  reason: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      pattern: `^(?!(?:${OWN_WORDS.join('|')})$)[\\x20-\\x7e]+$`,
      description: `Becomes \`error.code\`. It must not be ${OWN_WORDS.map((word) => `\`${word}\``).join(', ')}, which only the service says.`,
    }),
  ),
});

const answers = { 200: Type.Object({ transfer: Transfer }) };
const params = Type.Object({ transfer_id: Uuid });
const notFound = 'There is no such transfer';

const act = <const A extends string>(action: A, summary: string) =>
  route({
    method: 'POST',
    path: `/api/transfer/{transfer_id}/${action}`,
    summary,
    device: 'required',
    rate: 'transfer_act',
    notFound,
    params,
    answers,
    errors: ['not_found', 'not_a_party', 'invalid_transition'],
  });

export const transferRoutes = {
  initTransfer: route({
    method: 'POST',
    path: '/api/transfer/init',
    summary: 'Offer files to a device of the account',
    device: 'required',
    rate: 'transfer',
    notFound: NO_DEVICE,
    idempotent: true,
    body: InitTransfer,
    bodyLimitBytes: LIMITS.transferBodyBytes,
    answers: { 201: Type.Object({ transfer: Transfer, receiver_online: Type.Boolean() }) },
    errors: ['not_found', 'name_taken', 'transfer_limit'],
  }),
  listTransfers: route({
    method: 'GET',
    path: '/api/transfer',
    summary: "The caller's transfers, newest first. A page may be short or empty: go on while there is a cursor",
    device: 'required',
    rate: 'read',
    query: Type.Object({
      state: Type.Optional(Type.Enum([...TRANSFER_STATES])),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      cursor: Type.Optional(Type.String({ pattern: '^(\\d{1,15}-[0-9a-f-]{36})?$' })),
    }),
    answers: { 200: Type.Object({ transfers: Type.Array(Transfer), next_cursor: orNull(Type.String()) }) },
  }),
  getTransfer: route({
    method: 'GET',
    path: '/api/transfer/{transfer_id}',
    summary: 'One transfer, with its files',
    device: 'required',
    rate: 'read',
    notFound,
    params,
    answers,
    errors: ['not_found', 'not_a_party'],
  }),
  acceptTransfer: act('accept', 'Accept a transfer, as its receiver'),
  rejectTransfer: act('reject', 'Reject a transfer, as its receiver'),
  p2pTransfer: act('p2p', 'Report that the data channel between the two parties is open'),
  relayTransfer: act('relay', 'Switch to the relay, as the sender'),
  completeTransfer: act('complete', 'Report that the receiver has stored every byte'),
  failTransfer: { ...act('fail', 'End a transfer that cannot go on'), body: Ended, bodyOptional: true },
  cancelTransfer: { ...act('cancel', 'Cancel a transfer, as either party'), body: Ended, bodyOptional: true },
  phaseTransfer: {
    ...act('phase', 'Report what one side is doing; forwarded at most 4 times a second, never logged'),
    rate: 'transfer_phase' as const,
    body: Type.Object({
      phase: TransferPhase,
      progress: Type.Optional(
        Type.Object(
          { sent_bytes: Type.Optional(Bytes), received_bytes: Type.Optional(Bytes) },
          { description: 'The sender reports `sent_bytes`, the receiver `received_bytes`; each is at most the total.' },
        ),
      ),
    }),
  },
};

export const transferEvents = {
  'transfer:incoming': event({
    summary: 'A transfer for this device. Until it is accepted, it is repeated after each `ready`, without an id',
    data: Type.Object({ transfer: Transfer, redelivered: Type.Boolean() }),
    id: 'sometimes',
  }),
  'transfer:updated': event({
    summary: 'A transfer of this device changed. If only phase or progress changed, the event has no id',
    data: Type.Object({ transfer: Transfer }),
    id: 'sometimes',
  }),
};
