import { publicKeysOf, type PublicKeys } from '../../../shared/client/sealed/keys/device-keys.ts';
import type { LetIn, LetInSettings } from '../../../shared/client/sealing/linking-api.ts';
import { makeAsking, readKeyedLink } from '../../../shared/client/sealing/asking.ts';
import { spoilt } from './chance.ts';
import { type Party, unlessRefused } from './party.ts';
import { check, fail, type Run } from './run.ts';

/** Lets devices in by a hostile server, as their users do. */
export function makeLettingIn({ chance, server, attacker, lists, seen, faults, admit, known }: Run) {
  /** The device that is let in now, or asks for other keys. */
  let comes = '';
  const asked = new Set<string>();
  server.onList = (by, list) => {
    const prolonged = lists.prolonged({ id: by }, list);
    // Thrown here, it would be an answer that does not come.
    if (prolonged !== null && prolonged !== comes)
      faults.push('the time of a guest is put off, and no user has said so');
  };

  /** Returns the keys of the server instead of these, or instead of one of them. */
  async function otherKeys(keys: PublicKeys): Promise<PublicKeys> {
    const own = await publicKeysOf(attacker.keys);
    return chance.pick([own, { ...keys, enc: own.enc }, { ...keys, sig: own.sig }]);
  }

  /** Returns the key of the device whose place another one takes, as the user of the approver has seen it. */
  const replacedBy = async ({ sealing }: Party, { id }: Party, keys: PublicKeys): Promise<string | undefined> =>
    (await unlessRefused(sealing.linking.replaced({ device_id: id, keys })))?.sig;

  /**
   * Lets a device in with its code, as two users do. The server may show other keys. `mayEnd`: the session of a guest may end.
   * `earlier`: the grant that it gives instead of the one for this request.
   */
  async function link(
    approver: Party,
    asking: Party,
    access: LetInSettings = {},
    { mayEnd = false, earlier }: { mayEnd?: boolean; earlier?: string | undefined } = {},
  ): Promise<boolean> {
    const made = await makeAsking(asking.stores);
    if (access.persist !== 'once') await admit(asking, 'asking');
    const [request_id, approval_code] = ['r'.repeat(22), 'c'.repeat(22)];
    const code = readKeyedLink(await made.linkWith(`https://baton.example/link?r=${request_id}&c=${approval_code}`));
    const isSwapped = server.isHostile && chance.is(0.4);
    const keys = isSwapped ? await otherKeys(made.keys) : made.keys;
    const view = {
      request_id,
      device_name: 'Dan',
      device_type: 'linux',
      expires_at: Date.now() + 60_000,
      age_seconds: 1,
    };
    const source = { address: '127.0.0.0/24', user_agent: 'any' };
    const allowed = { allowed_scopes: ['full'], allowed_persist: ['persist'] };
    // A device that asks again has signed in, and asks for new keys.
    const relink = asked.has(asking.id) && { relink: true };
    asked.add(asking.id);
    server.asking = { ...view, source, ...allowed, device_id: asking.id, keys, ...relink };
    const key = code?.key ?? fail('no key in the code');
    comes = asking.id;
    const { linking } = approver.sealing;
    const settings = { ...access, replaces: relink === false ? undefined : await replacedBy(approver, asking, keys) };
    const letIn = await unlessRefused(linking.letIn({ request_id, approval_code }, key, settings));
    comes = '';
    if (letIn === null) return false;
    check(!isSwapped, 'a device was let in with the keys of somebody else');
    lists.note(approver, letIn.keyring);
    approver.keyring = letIn.keyring;
    if (mayEnd && chance.is(0.3)) await endSession(approver, asking.id, letIn);
    const grant = server.grants.at(-1);
    // The server keeps a grant back, and gives it when the device asks again with the same keys.
    if (server.isHostile && earlier === undefined && chance.is(0.15))
      return link(approver, asking, access, { mayEnd, earlier: grant });
    const isSpoilt = earlier !== undefined || (server.isHostile && chance.is(0.3));
    await made.keep(request_id, isSpoilt ? otherGrant(earlier) : grant);
    return takeGrant(asking, { isSpoilt, checkCode: letIn.checkCode, approver: approver.id });
  }

  /** Lets a device take the grant that it was given. */
  async function takeGrant(
    { sealing }: Party,
    { isSpoilt, checkCode, approver }: { isSpoilt: boolean; checkCode: string; approver: string },
  ): Promise<boolean> {
    const linked = await unlessRefused(sealing.rings.takeGrant());
    if (linked === null) return false;
    check(!isSpoilt, 'a grant was taken that is not for this request');
    check(linked.checkCode === checkCode && linked.approver === approver, 'the two show different digits');
    return true;
  }

  /** Returns the earlier grant; without one a spoilt grant, one of another approval, or none. */
  function otherGrant(earlier: string | undefined): string | undefined {
    if (earlier !== undefined) return earlier;
    const others = server.grants.slice(0, -1);
    const how = chance.pick(['spoilt', 'other', 'other', 'none']);
    if (how === 'none') return undefined;
    return how === 'other' && others.length > 0 ? chance.pick(others) : spoilt(server.grants.at(-1) ?? '', chance);
  }

  /** Ends the time of a guest, as its approver does that learns the end of its session. */
  async function endSession(by: Party, id: string, { endsWithSession }: LetIn): Promise<void> {
    server.sessionEnd = Date.now() - 60_000;
    const keyring = await unlessRefused(endsWithSession());
    server.sessionEnd = null;
    if (keyring !== null) lists.note(by, keyring);
    by.keyring = keyring;
    if (keyring !== null && chance.is(0.5)) await showBeforeEnd(by, id);
  }

  /** Shows the list from before the end of a guest to the device that has put that end. */
  async function showBeforeEnd(by: Party, id: string): Promise<void> {
    server.shownList = lists.beforeEnd(by, id);
    if (server.shownList !== null) {
      seen.endsHidden += 1;
      await known(by);
    }
    server.shownList = null;
  }

  return { link };
}
