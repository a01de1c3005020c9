import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import { parseDeviceName } from '../../../shared/contract/vocabulary/fields.ts';
import type { streamRoutes } from '../../../shared/contract/modules/stream.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Caller } from '../identity/caller.ts';
import type { Opening } from './opening/opening.ts';

/** Returns the device of the stream: the caller's device, or without one the name that the client gave itself. */
function deviceOf(caller: Caller, name: string | undefined): string {
  if (caller.deviceId !== null) return caller.deviceId;
  if (name === undefined) throw new BatonError('device_required', 'Give the stream a name with ?name=');
  const parsed = parseDeviceName(name);
  if (parsed === null) throw new BatonError('invalid_device_name');
  return `~${parsed}`;
}

/** Returns the last of several headers. Node separates them only on demand, which is expensive. */
const lastEventIdOf = (req: IncomingMessage): string | undefined =>
  req.headers['last-event-id'] === undefined ? undefined : req.headersDistinct['last-event-id']?.at(-1);

export const makeStreamHandlers = (opening: Pick<Opening, 'open'>): HandlersOf<typeof streamRoutes> => ({
  openStream: async ({ caller, query, req, res }) => {
    await opening.open({
      res,
      caller,
      device: deviceOf(caller, query.name),
      // The header wins, because a browser reconnects to the URL that it was first given.
      lastEventId: lastEventIdOf(req) ?? query.last_event_id ?? null,
    });
    return null;
  },
});
