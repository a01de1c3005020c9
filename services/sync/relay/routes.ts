import type { IncomingMessage, ServerResponse } from 'node:http';
import { type relayRoutes, UPLOAD_DRAFT_INTEROP_VERSION } from '../../../shared/contract/modules/relay.ts';
import type { HandlersOf } from '../http/handler.ts';
import { type Caller, deviceCallerOf } from '../identity/caller.ts';
import { attachment, readRange } from './requests/headers.ts';
import type { Relay } from './relay.ts';
import type { Asked } from './requests/relay-request.ts';
import { SenderGone } from './upload/upload.ts';

interface FileParams {
  transfer_id: string;
  index: number;
}

function askedOf(caller: Caller, { transfer_id: transferId, index }: FileParams): Asked {
  const asker = deviceCallerOf(caller);
  return { asker, file: { account: asker.account, transferId, index } };
}

/** Sets the version header. Called before anything can be refused, so that refusals carry it too. */
const sendVersion = (res: ServerResponse) =>
  res.setHeader('Upload-Draft-Interop-Version', UPLOAD_DRAFT_INTEROP_VERSION);

function sendProgress(res: ServerResponse, { end, size }: { end: number; size: number }): void {
  res.setHeader('Upload-Offset', end);
  res.setHeader('Upload-Complete', end === size ? '?1' : '?0');
}

interface AppendCall {
  caller: Caller;
  params: FileParams & { generation: number };
  req: IncomingMessage;
  res: ServerResponse;
}

async function append(relay: Relay, { caller, params, req, res }: AppendCall) {
  sendVersion(res);
  try {
    sendProgress(res, await relay.uploads.append(askedOf(caller, params), params.generation, req));
    return { status: 204 } as const;
  } catch (error) {
    if (!(error instanceof SenderGone)) throw error;
    res.destroy();
    return null;
  }
}

export function makeRelayHandlers(relay: Relay): HandlersOf<typeof relayRoutes> {
  return {
    headUpload: async ({ caller, params, res }) => {
      sendVersion(res);
      const { end, size } = await relay.uploads.progress(askedOf(caller, params), params.generation);
      sendProgress(res, { end, size });
      res.setHeader('Upload-Length', size);
      return { status: 204 };
    },
    appendUpload: (call) => append(relay, call),
    download: async ({ caller, params, req, res }) => {
      sendVersion(res);
      const asked = askedOf(caller, params);
      const known = await relay.readable(asked);
      const range = readRange(req, known.size);
      const { start, stop } = range ?? { start: 0, stop: known.size };
      const begin = () => {
        res.statusCode = range === null ? 200 : 206;
        res.setHeader('Content-Type', 'application/octet-stream');
        res.setHeader('Content-Length', stop - start);
        res.setHeader('Accept-Ranges', 'bytes');
        if (range !== null) res.setHeader('Content-Range', `bytes ${start}-${stop - 1}/${known.size}`);
        res.setHeader('Content-Disposition', attachment(known.name));
        res.setHeader('X-Content-Type-Options', 'nosniff');
        res.setHeader('Content-Security-Policy', 'sandbox');
        res.setHeader('X-Accel-Buffering', 'no');
        res.flushHeaders();
      };
      await relay.download(asked, { known, range: { start, stop } }, { res, begin });
      return null;
    },
    ackDownload: async ({ caller, params, body }) => {
      await relay.ack(askedOf(caller, params), body.received_bytes);
      return { status: 204 };
    },
  };
}
