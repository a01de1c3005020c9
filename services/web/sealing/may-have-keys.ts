import { cookieSession, type Session } from '../../../shared/client/index.ts';

/** Returns the session of this browser if it may have keys: it stays, has full access, and the page came over https. */
export async function keyableSession(): Promise<Session | null> {
  const session = isSecureContext ? await cookieSession().load() : null;
  return session?.scope === 'full' && session.persist === 'persist' && session.device !== null ? session : null;
}

export const mayHaveKeys = async (): Promise<boolean> => (await keyableSession()) !== null;
