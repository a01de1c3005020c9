import { readInviteLink } from '../../../shared/client/session/invites.ts';
import { tabWords } from '../kept-words.ts';

/** The invite of a signed-in device that this new device scanned (`shared/client/session/invites.ts`). */
export interface Joining {
  readonly invite: string;
  readonly secret: string;
  /** True: the inviting device has keys to give. */
  readonly isKeyed: boolean;
}

const JOINING = 'baton-join';
const SECRETS = 'baton-invites';

/** Takes the invite out of the address of this page, which then becomes the app's. */
export function takeJoining(): void {
  if (location.pathname !== '/join') return;
  const found = readInviteLink(location.href);
  if (found !== null) tabWords.set(JOINING, `${found.invite} ${found.secret} ${found.isKeyed}`);
  history.replaceState(null, '', '/');
  // That fragment was not a place in the app.
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Returns the invite, which is kept over a reload of this tab; null when there is none. */
export function joining(): Joining | null {
  const [invite, secret, isKeyed] = (tabWords.get(JOINING) ?? '').split(' ');
  return invite === undefined || secret === undefined ? null : { invite, secret, isKeyed: isKeyed === 'true' };
}

export const endJoining = (): void => tabWords.set(JOINING, null);

interface KeptSecret {
  secret: string;
  /** The time until which it is kept, by the service's clock. */
  until: number;
}

function keptSecrets(now: number): KeptSecret[] {
  try {
    const kept = JSON.parse(tabWords.get(SECRETS) ?? '[]') as KeptSecret[];
    return kept.filter(({ until }) => until > now);
  } catch {
    return [];
  }
}

/** The lifetime of a request. A request may be made at the last moment of its invite. */
const REQUEST_MS = 120_000;

/** Keeps the secret of an invite that this tab shows. */
export function keepSecret(secret: string, expiresAt: number, now: number): void {
  tabWords.set(SECRETS, JSON.stringify([...keptSecrets(now), { secret, until: expiresAt + REQUEST_MS }]));
}

/** Returns the secrets of the invites that this tab has shown. One of them may belong to a request. */
export const secretsOf = (now: number): string[] => keptSecrets(now).map(({ secret }) => secret);
