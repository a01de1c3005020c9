import { type Session, sessionIn, type SessionStore } from './session.ts';

/** Sessions that the browser refused to store (blocked cookies, a full disk), kept as long as the page is open. */
const ofPage = new Map<string, Session | null>();

function stored(key: string): Session | null {
  try {
    return sessionIn(localStorage.getItem(key) ?? 'null');
  } catch {
    // Storage is blocked, or another program wrote the value. The cookie shows who is signed in.
    return null;
  }
}

function store(key: string, session: Session | null): void {
  try {
    if (session === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(session));
    ofPage.delete(key);
  } catch {
    ofPage.set(key, session);
  }
}

/** Keeps the session for the pages of one origin. The secret is in the cookie, which no script can read. */
export function cookieSession(key = 'baton-session'): SessionStore {
  return {
    load() {
      const known = ofPage.get(key);
      return known === undefined ? stored(key) : known;
    },
    save: (session) => store(key, session),
    clear: () => store(key, null),
    // Only secure pages have locks. Elsewhere two tabs may renew at once, which the service allows for a minute.
    async lock(work) {
      if (!navigator.locks) return work();
      let isHeld = false;
      try {
        return await navigator.locks.request(key, () => {
          isHeld = true;
          return work();
        });
      } catch (error) {
        // If storage is blocked, locks are refused too.
        if (isHeld) throw error;
        return work();
      }
    },
  };
}
