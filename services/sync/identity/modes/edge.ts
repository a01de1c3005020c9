import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BatonError } from '../../../../shared/contract/errors.ts';
import type { Caller } from '../caller.ts';
import { callerOf } from './asserted.ts';
import { carriesAny, headerOf, refuseAmbiguous, utf8Of } from './headers.ts';
import type { Identity } from '../identity.ts';

const PROOF = 'x-edge-secret';
export const IDENTITY_HEADERS = ['x-auth-subject', 'x-auth-scope', 'x-auth-meta', 'x-auth-name', 'x-auth-roles'];
const ALL_HEADERS = [PROOF, ...IDENTITY_HEADERS];

/** The longest character of UTF-8. */
const CHARACTER_BYTES = 4;

/**
 * Compares texts that are padded to one length, so that neither time nor length tells how much of a guess was right (a digest
 * of each takes four times as long). What a guess is longer than the longest secret is cut off, but for its first character.
 */
function makeProofCheck(secrets: readonly string[]): (sent: string) => boolean {
  const longest = Math.max(0, ...secrets.map((secret) => Buffer.byteLength(secret)));
  const padded = (text: string): Buffer => {
    const bytes = Buffer.alloc(longest + CHARACTER_BYTES);
    bytes.write(text);
    return bytes;
  };
  const known = secrets.map(padded);
  const given = padded('');
  return (sent) => {
    given.fill(0);
    given.write(sent);
    let isProof = false;
    // Every secret is compared, so that time does not tell which of the two it was.
    for (const secret of known) isProof = timingSafeEqual(secret, given) || isProof;
    return isProof;
  };
}

/** The proofs as they were sent, each for itself. To have Node tell headers apart costs as much as the rest of a request's identity. */
function proofsOf(req: IncomingMessage): readonly string[] {
  const joined = headerOf(req, PROOF);
  if (joined === null) return [];
  return joined.includes(', ') ? (req.headersDistinct[PROOF] ?? []) : [joined];
}

const decoded = (text: string): string => {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** What is not percent-encoded UTF-8 is taken as it came. */
const nameOf = (header: string): string => decoded(utf8Of(header) ?? header);

const fieldOf = (req: IncomingMessage, name: string): string => headerOf(req, name) ?? '';

/** Whether the request has these values, in the order of the names. */
function areFieldsOf(req: IncomingMessage, fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i++) {
    if (fieldOf(req, IDENTITY_HEADERS[i] as string) !== fields[i]) return false;
  }
  return true;
}

/** Callers that were read from such headers before; forgotten together. To read one takes two microseconds. */
const MOST_KNOWN = 10_000;
/** Longer ones are rare, and would be kept. */
const MOST_CHARS = 512;

/** The caller of these headers, which are those of one account and device with each request. */
function makeCallerReader(): (req: IncomingMessage) => Caller {
  /** By device, which nearly always tells the others. */
  let known = new Map<string, { fields: readonly string[]; caller: Caller }>();
  return (req) => {
    const meta = fieldOf(req, 'x-auth-meta');
    const before = known.get(meta);
    if (before !== undefined && areFieldsOf(req, before.fields)) return before.caller;
    const fields = IDENTITY_HEADERS.map((name) => fieldOf(req, name));
    const [subject = '', scope = '', , name = '', roles = ''] = fields;
    const caller = callerOf({ subject, scope, meta, name: nameOf(name), roles: roles.split(',') });
    if (known.size >= MOST_KNOWN) known = new Map();
    if (fields.join('').length <= MOST_CHARS) known.set(meta, { fields, caller });
    return caller;
  };
}

/**
 * Identity mode `edge` with `APP_EDGE_TRUST=secret` (CONTRACT.md, "Identity"): the headers `X-Auth-*`, believed only with
 * `X-Edge-Secret`, which is looked at before them. Two secrets are valid while the edge goes from one to the other.
 */
export function makeEdgeIdentity({ secrets }: { secrets: readonly string[] }): Identity {
  const isProof = makeProofCheck(secrets);
  const callerIn = makeCallerReader();
  return {
    identify(req) {
      // Repeated proofs count here and are refused as ambiguous below: an edge was there, and somebody added to it.
      if (!proofsOf(req).some(isProof)) {
        throw new BatonError(carriesAny(req, IDENTITY_HEADERS) ? 'untrusted_edge' : 'unauthenticated');
      }
      refuseAmbiguous(req, ALL_HEADERS);
      return callerIn(req);
    },
    // The rows come from sign-in; without a broker to ask, a missing one stays missing.
    restoreRow: () => Promise.resolve(false),
  };
}
