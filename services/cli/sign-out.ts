import type { Context } from './context.ts';
import { failureOf } from './failure.ts';
import { removeKeys } from './sealing.ts';

/** The errors of a `BATON_URL` that belongs to another service, or is no address. */
const NOTHING_SENT = ['other_service', 'plain_http', 'invalid_request'];

/** Ends the session; on this device even if the service cannot be told. */
export async function endSession(context: Context): Promise<void> {
  const { session, signal } = context;
  try {
    await context.withClient((baton) => baton.signOut({ signal }));
    await removeKeys(context);
  } catch (error) {
    // The service of the session got no request.
    const isElsewhere = NOTHING_SENT.includes(failureOf(error).code);
    if (signal.aborted || isElsewhere) throw error;
    await session.clear();
    await removeKeys(context);
    throw error;
  }
}
