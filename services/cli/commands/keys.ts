import { renderUnicodeCompact } from 'uqr';
import type { Device } from '../../../shared/client/index.ts';
import type { Keyring } from '../../../shared/client/sealed.ts';
import type { Rings } from '../../../shared/client/sealing.ts';
import { tellAnnounced } from '../announced.ts';
import { askYesNo } from '../ask.ts';
import { withoutAway } from '../away.ts';
import { type Context } from '../context.ts';
import { CliError, EXIT, failureOf, usageError } from '../failure.ts';
import { oneLine, tableOf } from '../output.ts';
import { askDigits, DIGITS_DIFFER } from '../digits.ts';
import { fingerprintOf, isMember, keyedOnly, keyedToMend, LOCK, removeKeys, sealingAt } from '../sealing.ts';
import { endSession } from '../sign-out.ts';
import { makeWords, recover, renewWords } from './words.ts';

/** A device, as `keys` lists it. */
interface KeyedDevice {
  readonly device_id: string;
  readonly name: string | null;
  /** Null: the device has no keys. `guest`: it has keys of its own, and no key of the account. */
  readonly kind: string | null;
  readonly fingerprint: string | null;
  readonly current: boolean;
  /** When the keys of a guest end. Unix milliseconds. */
  readonly until?: number;
}

async function listed(keyring: Keyring, devices: readonly Device[]): Promise<KeyedDevice[]> {
  const { ring, device_id: own } = keyring;
  const { keysOf } = await import('../../../shared/client/sealed.ts');
  const members = ring.body.members.map(async ({ device_id, kind, enc, sig }) => ({
    ...{ device_id, kind, current: device_id === own },
    name: devices.find((each) => each.device_id === device_id)?.name ?? null,
    fingerprint: await fingerprintOf({ enc, sig }),
  }));
  const ids = new Set(ring.body.members.map(({ device_id }) => device_id));
  const letIn = keyring.guests.filter(({ device_id: id }) => !ids.has(id) && keysOf(keyring, id, Date.now()) !== null);
  const guests = letIn.flatMap(({ device_id, enc, sig, until }) => {
    const name = devices.find((each) => each.device_id === device_id)?.name;
    const about = { device_id, kind: 'guest', until, current: device_id === own };
    return name === undefined ? [] : [{ ...about, name, keys: { enc, sig } }];
  });
  const shown = guests.map(async ({ keys: { enc, sig }, ...guest }) => ({
    ...guest,
    fingerprint: await fingerprintOf({ enc, sig }),
  }));
  const unkeyed = devices
    .filter(({ device_id }) => !ids.has(device_id) && guests.every((guest) => guest.device_id !== device_id))
    .map(({ device_id, name, current }) => ({ device_id, name, kind: null, fingerprint: null, current }));
  return [...(await Promise.all(members)), ...(await Promise.all(shown)), ...unkeyed];
}

/** Marks guests, and web apps: a service that lies could deliver another app, so an account with one is protected less. */
const MARKS: Readonly<Record<string, string>> = { guest: ' (guest)', web: ' (web app)' };

const nameOf = ({ name, device_id, kind }: KeyedDevice): string =>
  kind === 'words'
    ? 'recovery words'
    : `${oneLine(name ?? device_id)}${MARKS[kind ?? ''] ?? ''}${name === null ? ' (not signed in any more)' : ''}`;

const WORDS_ARE_DUE =
  'The recovery words are about to prove nothing any more, because the list of devices has changed often since: run `baton keys renew` with them, or make new ones with `baton keys words`.';

/** Says which devices name a list of keys that this one does not have; null if there are none. */
async function disagreementOf(keyring: Keyring, all: readonly KeyedDevice[]): Promise<string | null> {
  const { disagreeing } = await import('../../../shared/client/sealed.ts');
  const ids = new Set(disagreeing(keyring).map(({ device_id }) => device_id));
  if (ids.size === 0) return null;
  const names = all.filter(({ device_id }) => ids.has(device_id)).map(nameOf);
  return `Nothing is sealed, because your devices disagree about who belongs to this account: ${names.join(', ')} named another list than this one. Link one of them again with \`baton keys link\`, or remove the one that is not in your hands.`;
}

/** Returns the most important advice; null if there is none. */
function adviceOn(all: readonly KeyedDevice[]): string | null {
  const gone = all.filter(({ name, kind }) => name === null && kind !== 'words');
  if (gone.length > 0)
    return 'A device with keys is not signed in any more: run `baton keys rotate`, which replaces the key of the account.';
  const unkeyed = all.filter(({ kind }) => kind === null).map(nameOf);
  if (unkeyed.length === 0) return null;
  return `Without keys: ${unkeyed.join(', ')}. Run \`baton keys link\` there, or sign it in again, and approve it here.`;
}

/** Describes a device without keys, and what its user can do. `lost`: it had keys. */
async function stateWithout(rings: Rings) {
  const encrypted = await rings.isEncrypted();
  const lost = encrypted && (await rings.namesThisDevice());
  const advice = lost
    ? 'The keys of this device are gone, and it sends nothing without `--plain`. Run `baton keys link`, and approve it on a device that has keys, or `baton keys recover` with the recovery words.'
    : encrypted
      ? 'This device has no keys: what it sends is not encrypted. Run `baton keys link`, and approve it on a device that has keys.'
      : 'This account is not encrypted: the service can read what is sent. `baton keys create` changes that.';
  return { encrypted, keyed: false, lost, advice };
}

/** Lists the devices with keys, and the fingerprint of each. */
async function list(context: Context): Promise<void> {
  const { output, signal } = context;
  await context.withClient(async (baton, url) => {
    const sealing = await sealingAt(context, url);
    const { rings, recovery, deletions } = sealing;
    const [found, devices] = [await rings.known(), await baton.devices.list({ signal })];
    if (found === null) {
      const state = await stateWithout(rings);
      output.result({ ...state, deletions: deletions.announced() }, state.advice);
      return tellAnnounced(output, deletions.announced());
    }
    const { keyring } = await withoutAway(context, { sealing, keyring: found }, devices);
    const all = await listed(keyring, devices);
    const areDue = isMember({ keyring }) && (await recovery.areDue(keyring));
    const advice = (await disagreementOf(keyring, all)) ?? adviceOn(all) ?? (areDue ? WORDS_ARE_DUE : null);
    const rows = all.map((each) => [
      each.current ? '*' : ' ',
      each.kind === null ? ' ' : LOCK,
      nameOf(each),
      each.fingerprint ?? 'no keys',
    ]);
    const { n, epoch } = keyring.ring.body;
    const announced = deletions.announced();
    const result = { encrypted: true, keyed: true, n, epoch, devices: all, deletions: announced, advice };
    output.result(result, tableOf(rows));
    if (advice !== null) output.note(advice);
    tellAnnounced(output, announced);
  });
}

/** Encrypts the account: makes its key, and a first ring with only this device. */
async function create(context: Context, { anew }: { anew?: boolean }): Promise<void> {
  const { output, signal } = context;
  await context.withClient(async (baton, url) => {
    const { rings } = await sealingAt(context, url);
    const keyring = await rings.create({ kind: 'cli', anew: anew === true });
    const all = await listed(keyring, await baton.devices.list({ signal }));
    const own = all.find(({ current }) => current)?.fingerprint ?? null;
    const advice = adviceOn(all);
    output.result(
      { encrypted: true, keyed: true, fingerprint: own, advice },
      `${LOCK} Messages, the clipboard and files are encrypted from now on, between devices with keys.`,
    );
    if (advice !== null) output.note(`${advice}\nPrograms that call the service directly send unencrypted.`);
  });
}

/** Asks a device with keys to give keys to this one, which is already signed in. */
async function link(context: Context): Promise<void> {
  const { output, signal } = context;
  // An earlier command may have ended between the approval and the question.
  if (await context.withClient((_, url) => takeLink(context, url, { signsOut: true }))) return;
  await context.withClient(async (_, url) => {
    const { linking, rings } = await sealingAt(context, url);
    if ((await rings.current()) !== null) return output.result({ keyed: true }, 'This device has keys already.');
    if (!(await rings.isEncrypted())) {
      throw new CliError('This account is not encrypted. `baton keys create` makes its keys.', {
        code: 'not_encrypted',
      });
    }
    const asked = await linking.askForKeys({ signal });
    output.note('Approve this on a device that has keys: scan it, or give the link to `baton approve`.\n');
    if (process.stderr.isTTY) output.note(renderUnicodeCompact(asked.link));
    if (output.isJson) output.result({ waiting: { link: asked.link, expires_at: asked.expires_at } }, null);
    else output.note(`\n${asked.link}\n`);
    if (!(await asked.approved())) {
      const message =
        'It was approved by a device or a program that gave no keys. Run `baton keys link` again, and approve it on one that has keys.';
      throw new CliError(message, { code: 'unkeyed' });
    }
  });
  await context.withClient(async (_, url) => takeLink(context, url, { signsOut: false }));
}

/**
 * Drops the approval, and the session that may come from it: the approver may have let this device into another account.
 */
async function dropApproval(context: Context, signsOut: boolean): Promise<void> {
  if (!signsOut) return removeKeys(context);
  await endSession(context);
  const says = 'Signed out again, because the digits differ: another person may have approved this.';
  throw new CliError(says, { status: EXIT.refused, code: DIGITS_DIFFER });
}

/**
 * Takes the keys of an approval, and reports that. Resolves to false if there is no approval, or it brought no keys.
 * `signsOut`: the approval may have made the session of this device, which ends if the user says that the digits
 * differ.
 */
async function takeLink(context: Context, url: string, { signsOut }: { signsOut: boolean }): Promise<boolean> {
  const { output } = context;
  const { rings } = await sealingAt(context, url);
  const confirm = askDigits(context.signal);
  const linked = await rings.takeGrant(confirm).catch(async (error: unknown) => {
    if (failureOf(error).code === DIGITS_DIFFER) await dropApproval(context, signsOut);
    throw error;
  });
  if (linked === null) return false;
  const { checkCode, approver, keyring } = linked;
  const member = isMember({ keyring });
  const has = member
    ? 'This device has the key of the account.'
    : 'This device is a guest: messages and files that are sent to it are encrypted for it alone, and it has no key of the account.';
  output.result(
    { keyed: true, member, check_code: checkCode, approver },
    confirm === undefined
      ? `${LOCK} ${has} Check code: ${checkCode}. The device that approved it shows the same; else run \`baton logout\`.`
      : `${LOCK} ${has}`,
  );
  return true;
}

/** Does the same after a login, which succeeds without keys too. Throws if the user says that the digits differ. */
export async function takeLinkAfterLogin(context: Context, url: string): Promise<void> {
  const { output } = context;
  try {
    if (await takeLink(context, url, { signsOut: true })) return;
    if (await (await sealingAt(context, url)).rings.isEncrypted()) {
      output.note(
        'This account is encrypted, and this device has no keys: run `baton keys link`, and approve it on one that has.',
      );
    }
  } catch (error) {
    const { message, code } = failureOf(error);
    if (context.signal.aborted) throw context.signal.reason;
    if (code === DIGITS_DIFFER) throw error;
    output.note(`This device is signed in, and has no keys: ${oneLine(message)} Run \`baton keys link\`.`);
  }
}

/** Replaces the key of the account, and removes the devices that are no longer signed in. */
async function rotate(context: Context, { yes }: { yes?: boolean }): Promise<void> {
  const { output, signal } = context;
  const { goneMembers } = await import('../../../shared/client/sealing.ts');
  await context.withClient(async (baton, url) => {
    const { keyring, sealing } = await keyedOnly(context, url, keyedToMend);
    const devices = await baton.devices.list({ signal });
    const gone = goneMembers(keyring, devices);
    if (gone.length === 0)
      return output.result({ removed: [] }, 'Every device with keys is signed in: nothing to replace.');
    const question = `${gone.length} with keys not signed in any more: ${gone.map(oneLine).join(', ')}. Those read nothing that is sealed from now on. Replace the key?`;
    if (yes !== true && !(await askYesNo(question, signal))) {
      throw new CliError('Nothing was replaced.', { status: EXIT.refused, code: 'refused' });
    }
    const { ring } = await sealing.linking.remove(gone);
    output.result({ removed: gone, n: ring.body.n, epoch: ring.body.epoch }, 'The key of the account was replaced.');
  });
}

/** Cancels the removal of the keys, or of the account, that a device without keys has announced. */
async function keep(context: Context): Promise<void> {
  const { output, signal } = context;
  await context.withClient(async (_, url) => {
    const { rings, deletions } = await sealingAt(context, url);
    const kept = await deletions.pending({ signal });
    if (kept.length === 0) return output.result({ kept }, 'Nothing is about to be removed.');
    // This works even while devices disagree. Otherwise a thief of one device could announce the removal, and keep the
    // others from cancelling it.
    const keyring = await rings.known();
    if (keyring !== null && !isMember({ keyring })) {
      const says = 'Only a device with the key of the account can cancel this.';
      throw new CliError(says, { status: EXIT.refused, code: 'for_members' });
    }
    await deletions.keepKeys();
    output.result({ kept }, 'The removal is cancelled: the account and its keys stay.');
  });
}

const KEY_ACTIONS = ['create', 'link', 'rotate', 'keep', 'words', 'renew', 'recover'] as const;

/** Lists the devices with keys, or makes, gets or replaces keys. */
export async function keys(context: Context, action: string | undefined, options: { anew?: boolean; yes?: boolean }) {
  if (action === undefined) return list(context);
  if (action === 'create') return create(context, options);
  if (action === 'link') return link(context);
  if (action === 'rotate') return rotate(context, options);
  if (action === 'keep') return keep(context);
  if (action === 'words') return makeWords(context, options);
  if (action === 'renew') return renewWords(context);
  if (action === 'recover') return recover(context);
  throw usageError(`There is no \`baton keys ${oneLine(action)}\`. There are: ${KEY_ACTIONS.join(', ')}.`);
}
