import type { keysRoutes } from '../../../shared/contract/modules/keys.ts';
import { BatonError } from '../../../shared/contract/errors.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Deletions } from './deletions.ts';
import type { Keyring } from './keyring.ts';

const NUMBER = /^"(0|[1-9]\d{0,15})"$/;
const DIGEST = /^"([\w-]{43})?"$/;

function refused(message: string): BatonError {
  return new BatonError('invalid_request', `If-Match ${message}`, {
    errors: [{ path: '/header/If-Match', message }],
  });
}

/** Returns the text between the quotation marks; undefined without the header. Throws `invalid_request`. */
function ifMatch(headers: NodeJS.Dict<string[]>, pattern: RegExp, what: string): string | undefined {
  const sent = headers['if-match'];
  if (sent === undefined) return undefined;
  const found = sent.length === 1 ? pattern.exec(sent[0] ?? '') : null;
  if (found === null) throw refused(`must occur once, with ${what} in quotation marks`);
  return found[1] ?? '';
}

export const makeKeysHandlers = (keyring: Keyring, deletions: Deletions): HandlersOf<typeof keysRoutes> => ({
  getKeys: async ({ caller, query }) => ({ status: 200, body: await keyring.page(caller.account, query.after ?? 0) }),

  putKeys: async ({ caller, body, req, releaseSlot }) => {
    const replaces = ifMatch(req.headersDistinct, NUMBER, 'the number of the ring that is replaced');
    if (replaces === undefined)
      throw refused('is required: the number of the ring that is replaced, "0" for the first');
    if (!Number.isSafeInteger(Number(replaces))) throw refused('is not the number of a ring');
    const { n, confirming } = await keyring.put(caller, body.ring, Number(replaces));
    // From here on the request waits only for replicas of the store, also below.
    releaseSlot();
    return { status: (await confirming) ? 200 : 202, body: { n } };
  },

  putGuests: async ({ caller, body, req, releaseSlot }) => {
    const replaces = ifMatch(req.headersDistinct, DIGEST, 'the SHA-256 of the list that is replaced') ?? null;
    const { n, confirming } = await keyring.putGuests(caller, body.guests, replaces);
    releaseSlot();
    return { status: (await confirming) ? 200 : 202, body: { n } };
  },

  deleteKeys: async ({ caller, body }) => {
    const deletion = await deletions.remove(caller, body);
    return deletion === null ? { status: 204 } : { status: 202, body: { deletion } };
  },

  keepKeys: async ({ caller, body }) => {
    await deletions.keep(caller, body);
    return { status: 204 };
  },
});
