import type { Request, Response } from 'express';
import { type relayRoutes, UPLOAD_DRAFT_INTEROP_VERSION } from '../../../shared/contract/relay.ts';
import type { HandlersOf } from '../http/handler.ts';
import { type Caller, deviceCallerOf } from '../identity/caller.ts';
import { attachment, readRange } from './headers.ts';
import type { Relay } from './relay.ts';
import type { FileRef } from './store.ts';
import { SenderGone } from './upload.ts';

const fileOf = ({ transfer_id, index }: { transfer_id: string; index: number }): FileRef => ({
  transferId: transfer_id,
  index,
});

/** Before anything can be refused: refusals say it too. */
const tellVersion = (res: Response) => res.setHeader('Upload-Draft-Interop-Version', UPLOAD_DRAFT_INTEROP_VERSION);

function tellProgress(res: Response, { end, size }: { end: number; size: number }): void {
  res.setHeader('Upload-Offset', end);
  res.setHeader('Upload-Complete', end === size ? '?1' : '?0');
}

async function append(
  relay: Relay,
  {
    caller,
    params,
    req,
    res,
  }: { caller: Caller; params: Parameters<typeof fileOf>[0] & { generation: number }; req: Request; res: Response },
) {
  tellVersion(res);
  try {
    tellProgress(res, await relay.append(deviceCallerOf(caller), fileOf(params), params.generation, req));
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
      tellVersion(res);
      const { end, size } = await relay.look(deviceCallerOf(caller), fileOf(params), params.generation);
      tellProgress(res, { end, size });
      res.setHeader('Upload-Length', size);
      return { status: 204 };
    },
    appendUpload: (call) => append(relay, call),
    download: async ({ caller, params, req, res }) => {
      tellVersion(res);
      const [asker, file] = [deviceCallerOf(caller), fileOf(params)];
      const known = await relay.readable(asker, file);
      const range = readRange(req, known.size);
      const { start, stop } = range ?? { start: 0, stop: known.size };
      await relay.download(
        asker,
        file,
        known,
        { start, stop },
        {
          res,
          begin: () => {
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
          },
        },
      );
      return null;
    },
    ackDownload: async ({ caller, params, body }) => {
      await relay.ack(deviceCallerOf(caller), fileOf(params), body.received_bytes);
      return { status: 204 };
    },
  };
}
