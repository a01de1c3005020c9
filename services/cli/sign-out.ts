import type { BatonClient, SessionStore } from '../../shared/client/index.ts';
import { failureOf } from './failure.ts';
import { beginLeaving, completeLeaving, findLeaving, stay } from './leaving.ts';
import type { Output } from './output.ts';
import type { Settings } from './settings.ts';

/** The errors of a `BATON_URL` that belongs to another service, or is no address. */
const NOTHING_SENT = ['other_service', 'plain_http', 'invalid_request'];

/** The parts of a command's context that end a session. */
interface Ending {
  readonly settings: Settings;
  readonly session: SessionStore;
  readonly output: Pick<Output, 'note'>;
  readonly signal: AbortSignal;
  withClient(work: (baton: BatonClient) => Promise<void>): Promise<void>;
}

const deviceIn = async (session: SessionStore): Promise<string | null> =>
  (await session.load())?.device?.device_id ?? null;

/** Ends the session; on this device even if the service cannot be told. */
export async function endSession({ settings, session, signal, withClient }: Ending): Promise<void> {
  const complete = async (deviceId: string | null): Promise<void> => {
    await session.clear();
    await completeLeaving(settings, { device_id: deviceId, isWanted: true });
  };
  let device: string | null = null;
  try {
    await withClient(async (baton) => {
      device = await deviceIn(session);
      await beginLeaving(settings, { device_id: device, isWanted: true });
      await baton.signOut({ signal });
    });
    await complete(device);
  } catch (error) {
    // The service of the session got no request.
    const isElsewhere = NOTHING_SENT.includes(failureOf(error).code);
    if (signal.aborted || isElsewhere) {
      await stay(settings);
      throw error;
    }
    await complete(device);
    throw error;
  }
}

/** Completes the end of a session that a killed program has begun, and says so. False: there was none. */
export async function finishLeaving(ending: Ending): Promise<boolean> {
  const { settings, session, output, signal } = ending;
  const leaving = await findLeaving(settings);
  if (leaving === null) return false;
  const present = await Promise.resolve(session.load()).catch(() => null);
  const isOther = present !== null && leaving.device_id !== null && present.device?.device_id !== leaving.device_id;
  if (isOther) {
    await completeLeaving(settings, leaving);
    return false;
  }
  if (present !== null && leaving.isWanted) {
    await endSession(ending).catch((error: unknown) => {
      if (signal.aborted || NOTHING_SENT.includes(failureOf(error).code)) throw error;
      output.note(`The service did not hear that this device signs out: ${failureOf(error).message}`);
    });
  } else {
    await session.clear();
    await completeLeaving(settings, leaving);
  }
  output.note('A sign-out of this device was interrupted. It is complete now.');
  return true;
}
