import type { Persist, Scope, SignInRequestView } from '../wire.ts';
import type { LetInSettings } from './linking-api.ts';

/** The session with which a device is let in. */
export interface Access {
  readonly scope: Scope;
  readonly persist: Persist;
}

/**
 * Returns the access with which the device is let in. One that is signed in already keeps what it has: otherwise a guest that
 * asks for keys would get the key of the account.
 */
export function accessOf(
  view: Pick<SignInRequestView, 'relink' | 'allowed_scopes' | 'allowed_persist'>,
  { scope = 'full', persist = 'persist' }: LetInSettings,
): Access {
  const [own, lasts] = [view.allowed_scopes, view.allowed_persist];
  if (view.relink !== true) return { scope, persist };
  return {
    scope: own.includes('full') ? scope : 'guest',
    persist: lasts.includes('persist') ? persist : 'once',
  };
}

/** Only a device with full access that stays signed in gets the key of the account. Others are guests. */
export const isMemberBy = ({ scope, persist }: Access): boolean => scope === 'full' && persist === 'persist';
