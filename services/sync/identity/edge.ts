import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { Scope } from '../../../shared/contract/fields.ts';
import { accountOf, type Caller } from './caller.ts';
import { isDeviceId } from './device-id.ts';
import { carriesAny, headerOf, refuseAmbiguous, utf8Of } from './headers.ts';
import type { Identity } from './identity.ts';

const PROOF = 'x-edge-secret';
const IDENTITY_HEADERS = ['x-auth-subject', 'x-auth-scope', 'x-auth-meta', 'x-auth-name', 'x-auth-roles'];

const SUBJECT = /^[\x21-\x7e]{1,255}$/;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, so that neither time nor length tells how much of a guess was right. */
function makeProofCheck(secrets: readonly string[]): (sent: string) => boolean {
  const known = secrets.map(digest);
  return (sent) => {
    const given = digest(sent);
    // Every secret is compared, so that time does not tell which of the two it was.
    return known.map((secret) => timingSafeEqual(secret, given)).includes(true);
  };
}

const unauthenticated = (detail: string): BatonError => new BatonError('unauthenticated', detail);

function scopeOf(text: string | null): Scope {
  if (text === 'full' || text === 'guest') return text;
  throw unauthenticated('The identity has no valid scope');
}

/** Empty or absent: a session without a device. */
function deviceIdOf(meta: string | null): string | null {
  if (meta === null || meta === '') return null;
  if (isDeviceId(meta)) return meta;
  throw unauthenticated('The identity has no valid device id');
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The display name; what is not percent-encoded UTF-8 is taken as it came. Without controls, for logs and screens. */
function nameOf(header: string | null, userId: string): string {
  const name = decoded(utf8Of(header ?? '') ?? header ?? '')
    .replace(/\p{Cc}/gu, '')
    .trim();
  return name === '' ? userId : name;
}

const rolesOf = (header: string | null): string[] =>
  (header ?? '')
    .split(',')
    .map((role) => role.trim())
    .filter((role) => role !== '');

function callerOf(req: IncomingMessage): Caller {
  const userId = headerOf(req, 'x-auth-subject') ?? '';
  if (!SUBJECT.test(userId)) throw unauthenticated('The identity has no valid subject');
  return {
    userId,
    account: accountOf(userId),
    scope: scopeOf(headerOf(req, 'x-auth-scope')),
    name: nameOf(headerOf(req, 'x-auth-name'), userId),
    roles: rolesOf(headerOf(req, 'x-auth-roles')),
    deviceId: deviceIdOf(headerOf(req, 'x-auth-meta')),
  };
}

/**
 * Identity mode `edge` with `APP_EDGE_TRUST=secret` (contract section 3): the headers `X-Auth-*`, believed only with
 * `X-Edge-Secret`, which is looked at before them. Two secrets are valid while the edge goes from one to the other.
 */
export function makeEdgeIdentity({ secrets }: { secrets: readonly string[] }): Identity {
  const isProof = makeProofCheck(secrets);
  return {
    async identify(req) {
      // Repeated proofs count here and are refused as ambiguous below: an edge was there, and somebody added to it.
      if (!req.headersDistinct[PROOF]?.some(isProof)) {
        throw new BatonError(carriesAny(req, IDENTITY_HEADERS) ? 'untrusted_edge' : 'unauthenticated');
      }
      refuseAmbiguous(req, [PROOF, ...IDENTITY_HEADERS]);
      return callerOf(req);
    },
    // The rows come from sign-in; without a broker to ask, a missing one stays missing.
    restoreRow: () => Promise.resolve(false),
  };
}
