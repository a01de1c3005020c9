import Type from 'typebox';
import { event } from '../vocabulary/event.ts';
import { LIMITS } from '../limits.ts';
import { FileIndex, RelayUrl, Uuid } from '../vocabulary/fields.ts';
import { route } from '../vocabulary/route.ts';

/** The resumable-upload draft of the IETF httpbis group that uploads follow, by its interop version. */
export const UPLOAD_DRAFT_INTEROP_VERSION = '8';

export const PARTIAL_UPLOAD = 'application/partial-upload';

/** The draft's problem type for an append at the wrong offset. */
export const MISMATCHING_OFFSET = 'https://iana.org/assignments/http-problem-types#mismatching-upload-offset';

const params = Type.Object({
  transfer_id: Uuid,
  index: FileIndex,
  generation: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
});

const path = '/api/relay/{transfer_id}/{index}/{generation}';

const shared = {
  path,
  device: 'required',
  rate: 'relay',
  notFound: 'There is no such transfer, or it has no such file',
  params,
} as const;

/** The headers of every response of the relay itself, including refusals. */
const draft = ['Upload-Draft-Interop-Version'] as const;
const progress = [...draft, 'Upload-Offset', 'Upload-Complete'] as const;

const refusals = ['not_found', 'not_a_party', 'invalid_transition'] as const;

export const relayRoutes = {
  headUpload: route({
    ...shared,
    method: 'HEAD',
    summary: 'For the sender: how far the upload of a file has come',
    answers: { 204: null },
    answerHeaders: { 204: [...progress, 'Upload-Length'] },
    errors: [...refusals, 'upload_gone'],
  }),
  appendUpload: route({
    ...shared,
    method: 'PATCH',
    summary: 'Append bytes to the upload of a file: a piece of it, or all the rest in one request',
    headers: {
      'Upload-Offset': {
        description: 'Where these bytes begin.',
        required: true,
        schema: Type.Integer({ minimum: 0, maximum: LIMITS.fileBytes }),
      },
      'Upload-Complete': {
        description: '`?1`: they end with the last byte of the file. The default is `?0`.',
        schema: Type.Enum(['?0', '?1']),
      },
      'Upload-Draft-Interop-Version': {
        description: 'The version of the draft that the sender speaks.',
        schema: Type.Enum([UPLOAD_DRAFT_INTEROP_VERSION]),
      },
    },
    answers: { 204: null },
    answerHeaders: { 204: progress, 409: [...draft, 'Upload-Offset'], 429: [...draft, 'Upload-Offset'] },
    bytes: true,
    bytesType: PARTIAL_UPLOAD,
    errors: [
      ...refusals,
      ...(['upload_gone', 'offset_mismatch', 'upload_length_mismatch', 'unsupported_media_type'] as const),
      ...(['window_full', 'relay_busy', 'draining'] as const),
    ],
  }),
  download: route({
    ...shared,
    method: 'GET',
    summary: 'For the receiver: the bytes of a file while its sender sends them',
    headers: { Range: { description: '`bytes=N-` resumes at byte N. Several ranges are ignored.' } },
    answers: { 200: 'application/octet-stream', 206: 'application/octet-stream' },
    answerHeaders: {
      200: [...draft, 'Accept-Ranges', 'Content-Disposition'],
      206: [...draft, 'Accept-Ranges', 'Content-Disposition', 'Content-Range'],
      416: [...draft, 'Content-Range'],
    },
    bytes: true,
    errors: [...refusals, 'range_not_available', 'relay_busy', 'draining'],
  }),
  ackDownload: route({
    ...shared,
    method: 'POST',
    path: `${path}/ack`,
    summary:
      'Report that the receiver has safely stored the file up to here, which drives progress and frees what is kept for resuming',
    body: Type.Object({
      received_bytes: Type.Integer({
        minimum: 0,
        maximum: LIMITS.fileBytes,
        description: 'At most the size of the file.',
      }),
    }),
    answers: { 204: null },
    errors: refusals,
  }),
};

export const relayEvents = {
  'relay:rewind': event({
    summary: 'For the sender: the upload of a file goes on from an earlier offset at a new URL',
    data: Type.Object({
      transfer_id: Uuid,
      index: FileIndex,
      upload_url: RelayUrl,
      offset: Type.Integer({ minimum: 0 }),
    }),
    id: 'always',
  }),
};
