import { BatonError } from '../../../shared/contract/errors.ts';
import type { Route } from '../../../shared/contract/vocabulary/route.ts';
import type { Caller } from './caller.ts';

/**
 * Checks what a route of the route table requires of its caller. Scope comes first, so that a guest learns nothing about
 * routes that are not for guests.
 * @throws guest_forbidden, device_required
 */
export function guard(route: Route, caller: Caller, params: Readonly<Record<string, unknown>>): void {
  const own = route.scope === 'own' && caller.deviceId !== null && params['device_id'] === caller.deviceId;
  if (route.scope !== 'any' && caller.scope !== 'full' && !own) throw new BatonError('guest_forbidden');
  if (route.device === 'required' && caller.deviceId === null) throw new BatonError('device_required');
}
