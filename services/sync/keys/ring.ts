import { GuestList, Ring } from '../../../shared/contract/modules/keys.ts';
import { makeInnerCheck } from '../../../shared/service-kit/http/request/validation.ts';
import type { Caller } from '../identity/caller.ts';
import { oddKeyOf } from '../../../shared/service-kit/p256-points.ts';
import { jsonOf, refused, type SignedText } from './signed-text.ts';

const checkRing = makeInnerCheck(Ring, 'body/ring');
const checkGuests = makeInnerCheck(GuestList, 'body/guests');

/** Checks that each device occurs once, with keys that are points of the curve. */
function checkDevices(devices: readonly { device_id: string; enc: string; sig: string }[], field: string): void {
  const seen = new Set<string>();
  for (const [index, device] of devices.entries()) {
    if (seen.has(device.device_id)) throw refused(`${field}/${index}/device_id`, 'stands in the list twice');
    seen.add(device.device_id);
    const odd = oddKeyOf(device);
    if (odd !== null) throw refused(`${field}/${index}/${odd}`, 'is not a point of P-256');
  }
}

/** Parses a stored ring, which was checked when it was put. */
export const storedRing = ({ bytes }: SignedText): Ring => JSON.parse(bytes.toString('utf8')) as Ring;

/** Parses a ring, and checks all that needs no other ring. Throws `invalid_request`. */
export function ringOf(text: SignedText, { userId }: Caller, service: string): Ring {
  const value = jsonOf(text, 'ring');
  checkRing(value);
  const ring = value as Ring;
  if (ring.service !== service) throw refused('ring/service', 'is not the name of this service');
  if (ring.user_id !== userId) throw refused('ring/user_id', 'is not the user of the caller');
  checkDevices(ring.members, 'ring/members');
  const members = new Set(ring.members.map((member) => member.device_id));
  const stranger = Object.keys(ring.wraps).find((device) => !members.has(device));
  if (stranger !== undefined) throw refused(`ring/wraps/${stranger}`, 'is for a device that is not a member');
  return ring;
}

/** Checks that a ring follows the previous one; null if it is the first. Throws `invalid_request`. */
export function checkFollows(ring: Ring, before: { hash: string; ring: Ring } | null): void {
  if (ring.prev_hash !== (before?.hash ?? '')) {
    throw refused('ring/prev_hash', 'is not the SHA-256 of the bytes of the ring before it');
  }
  if (before === null) return;
  const { epoch } = before.ring;
  if (ring.epoch !== epoch && ring.epoch !== epoch + 1) throw refused('ring/epoch', `must be ${epoch} or ${epoch + 1}`);
  if (ring.epoch === epoch && ring.key_id !== before.ring.key_id) {
    throw refused('ring/key_id', 'changes only with the epoch');
  }
}

/** Parses and checks a list of guests. Throws `invalid_request`. */
export function guestsOf(text: SignedText): GuestList {
  const value = jsonOf(text, 'guests');
  checkGuests(value);
  const list = value as GuestList;
  checkDevices(list.guests, 'guests/guests');
  return list;
}
