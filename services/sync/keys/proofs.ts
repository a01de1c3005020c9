import type { MaybeProof, MemberProof } from '../../../shared/contract/modules/keys.ts';
import type { BatonError } from '../../../shared/contract/errors.ts';
import { bytesOfBase64url } from '../../../shared/service-kit/base64url.ts';
import type { Caller } from '../identity/caller.ts';
import { storedRing } from './ring.ts';
import { hasSigned, partsOf, type Signed } from './signatures.ts';
import { parseSigned, refused, type SignedText } from './signed-text.ts';
import { conflict, type Head, type KeyringStore } from './store.ts';

interface ProofsParts {
  store: Pick<KeyringStore, 'head'>;
  /** The name of this installation, as in `/api/me`. */
  service: string;
  /** Called when a change is refused because no member signed it. */
  onUnsigned: () => void;
}

type Members = readonly { device_id: string; sig: string }[];

/** Returns the members with the caller first, because the caller signs nearly every change. */
const callerFirst = (members: Members, { deviceId }: Caller): Members =>
  members.toSorted((a, b) => Number(b.device_id === deviceId) - Number(a.device_id === deviceId));

/** Returns the ring in force, with its parsed content. */
export const ringInForce = ({ text, hash, n }: Head) => ({ n, hash, ring: storedRing(parseSigned(text, 'ring')) });

/** Returns the proof; null if there is none. */
export const proofOf = ({ device_id, n, signature }: MaybeProof): MemberProof | null =>
  device_id === undefined || n === undefined || signature === undefined ? null : { device_id, n, signature };

/** Makes the checks of members' signatures. */
export function makeProofs({ store, service, onUnsigned }: ProofsParts) {
  function unsigned(field: string, by: string): BatonError {
    onUnsigned();
    return refused(field, `is not signed by ${by}`);
  }

  return {
    /** Throws `invalid_request` if none of these members signed the text. */
    async checkSigned(
      caller: Caller,
      { bytes, signature }: SignedText,
      { label, members, by }: { label: 'ring' | 'guests'; members: Members; by: string },
    ): Promise<void> {
      const signed = partsOf({ label: `baton/1 ${label}`, service, userId: caller.userId, about: [bytes] });
      for (const { sig } of callerFirst(members, caller)) if (await hasSigned(sig, signature, signed)) return;
      throw unsigned(label, by);
    },

    /**
     * Checks that a member of the ring in force signed a request. Resolves to the hash of that ring; null without a ring.
     * Throws `keys_conflict`, `invalid_request`, `rate_limited`.
     */
    async check(
      caller: Caller,
      proof: MemberProof,
      { label, more = [] }: { label: Signed['label']; more?: readonly string[] },
    ): Promise<string | null> {
      const head = await store.head(caller);
      if (head.n === 0) return null;
      if (head.n !== proof.n) throw conflict(head.n);
      const { hash, ring } = ringInForce(head);
      const member = ring.members.find(({ device_id: id }) => id === proof.device_id);
      if (member === undefined) throw refused('device_id', `is not a member of ring ${head.n}`);
      const signature = bytesOfBase64url(proof.signature);
      if (signature === null) throw refused('signature', 'must be base64url without padding');
      const signed = partsOf({ label, service, userId: caller.userId, about: [String(proof.n), ...more] });
      if (await hasSigned(member.sig, signature, signed)) return hash;
      throw unsigned('signature', 'that member');
    },
  };
}

export type Proofs = ReturnType<typeof makeProofs>;
