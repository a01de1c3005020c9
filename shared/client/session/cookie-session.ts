import type { Session, SessionStore } from './session.ts';

/** Who is signed in, for the pages of one origin. The secret is in the cookie, which no script can read. */
export function cookieSession(key = 'baton-session'): SessionStore {
  return {
    load() {
      const text = localStorage.getItem(key);
      return text === null ? null : (JSON.parse(text) as Session);
    },
    save: (session) => localStorage.setItem(key, JSON.stringify(session)),
    clear: () => localStorage.removeItem(key),
    // Of secure pages; elsewhere two tabs may renew at once, which the service allows for a minute.
    async lock(work) {
      return navigator.locks ? navigator.locks.request(key, work) : work();
    },
  };
}
