import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { Keyring, OwnKey } from '../keyring/keyring.ts';
import { cookieForm, cookiesNamed, setCookie } from '../sessions/credentials/cookie.ts';

/** How long a user may take at the provider. */
const ATTEMPT_SECONDS = 600;

/** The logins that one browser can have in progress at once, such as several tabs that were restored together. */
const SLOTS = ['0', '1', '2', '3'] as const;

/** The state of a login, which only the browser that began it can bring back. */
export interface Attempt {
  state: string;
  nonce: string;
  codeVerifier: string;
  returnTo: string;
}

const keyOf = ({ own }: OwnKey): Uint8Array => createHmac('sha256', own.derivation.bytes).update('login').digest();

const isSame = (one: string, other: string): boolean => {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/**
 * Makes the memory of a login while its user is at the provider: an encrypted cookie of the browser. The store keeps
 * nothing of it, so strangers cannot fill the store, and nobody can be made to finish a login that another browser began.
 */
export function makeAttempts({ keyring, publicUrl }: { keyring: Keyring; publicUrl: string }) {
  const forms = SLOTS.map((slot) => cookieForm(publicUrl, `baton-login-${slot}`));

  async function open(cookie: string): Promise<Attempt | null> {
    try {
      const decrypted = await jwtDecrypt<Attempt & Record<string, unknown>>(
        cookie,
        async ({ kid }) => {
          const key = kid === undefined ? null : await keyring.find(kid);
          if (!key?.own) throw new errors.JWKSNoMatchingKey();
          return keyOf({ ...key, own: key.own });
        },
        { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'], requiredClaims: ['exp'] },
      );
      const { state, nonce, codeVerifier, returnTo } = decrypted.payload;
      return { state, nonce, codeVerifier, returnTo };
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof TypeError) return null;
      throw error;
    }
  }

  return {
    /** Resolves to the `Set-Cookie` that remembers the attempt, under a free name, else under any. */
    async remember(req: IncomingMessage, attempt: Attempt): Promise<string> {
      const key = keyring.signing;
      const text = await new EncryptJWT({ ...attempt })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.id })
        .setExpirationTime(`${ATTEMPT_SECONDS}s`)
        .encrypt(keyOf(key));
      const any = forms[randomBytes(1).readUInt8() % forms.length] as (typeof forms)[number];
      const form = forms.find(({ name }) => cookiesNamed(req, name).length === 0) ?? any;
      return setCookie(form, text, ATTEMPT_SECONDS);
    },

    /** Resolves to the attempt of this state and the `Set-Cookie` that forgets it; null if this browser did not begin it. */
    async recall(req: IncomingMessage, state: string): Promise<{ attempt: Attempt; forget: string } | null> {
      for (const form of forms) {
        for (const cookie of cookiesNamed(req, form.name)) {
          const attempt = await open(cookie);
          if (attempt !== null && isSame(attempt.state, state)) return { attempt, forget: setCookie(form, '', 0) };
        }
      }
      return null;
    },
  };
}

export type Attempts = ReturnType<typeof makeAttempts>;
