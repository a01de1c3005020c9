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

/** The length of the longest character in UTF-8. */
const CHARACTER_BYTES = 4;

/**
 * Makes a check that compares texts padded to one length, so that neither time nor length tells how much of a guess is
 * right. (Comparing digests takes four times as long.) A guess is cut off one character after the longest secret's length.
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
    // Every secret is compared, so that time does not tell which of the two matched.
    for (const secret of known) isProof = timingSafeEqual(secret, given) || isProof;
    return isProof;
  };
}

/** Returns the proofs one by one. `headersDistinct` costs as much as the rest of an identity, so few requests use it. */
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

/** Decodes a name. A text that is not percent-encoded UTF-8 stays as it is. */
const nameOf = (header: string): string => decoded(utf8Of(header) ?? header);

const fieldOf = (req: IncomingMessage, name: string): string => headerOf(req, name) ?? '';

/** Returns whether the request has these values, in the order of the names. */
function areFieldsOf(req: IncomingMessage, fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i++) {
    if (fieldOf(req, IDENTITY_HEADERS[i] as string) !== fields[i]) return false;
  }
  return true;
}

/** The most callers kept by their headers; all are forgotten together. Reading one again takes two microseconds. */
const MOST_KNOWN = 10_000;
/** The most characters of headers that are kept. Longer ones are rare. */
const MOST_CHARS = 512;

/** Returns a function that reads the caller from the headers, which are the same in all requests of a device. */
function makeCallerReader(): (req: IncomingMessage) => Caller {
  /** Callers by device, which nearly always determines the other headers. */
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
 * Makes identity mode `edge` with `APP_EDGE_TRUST=secret` (CONTRACT.md, "Identity"). It believes the headers `X-Auth-*` only
 * with `X-Edge-Secret`, which it checks first. Two secrets are valid while the edge changes from one to the other.
 */
export function makeEdgeIdentity({ secrets }: { secrets: readonly string[] }): Identity {
  const isProof = makeProofCheck(secrets);
  const callerIn = makeCallerReader();
  return {
    identify(req) {
      // Here one right proof among several is enough. Several are refused below, because somebody added one to the
      // edge's.
      if (!proofsOf(req).some(isProof)) {
        throw new BatonError(carriesAny(req, IDENTITY_HEADERS) ? 'untrusted_edge' : 'unauthenticated');
      }
      refuseAmbiguous(req, ALL_HEADERS);
      return callerIn(req);
    },
    // Sign-in writes the rows. Without a broker to ask, a missing row stays missing.
    restoreRow: () => Promise.resolve(false),
  };
}
