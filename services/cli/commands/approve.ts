import { askYesNo } from '../ask.ts';
import type { Context } from '../context.ts';
import { asApprover, usageError } from '../failure.ts';
import { oneLine, tableOf } from '../output.ts';
import { fingerprintOf, howKeysWereLost, isMember, type Keyed, keyedToMend, LOCK, NEW_KEYS } from '../sealing.ts';
import type { LinkKey } from '../../../shared/client/sealed.ts';
import type { LetIn } from '../../../shared/client/sealing.ts';
import {
  type BatonClient,
  type Persist,
  readSignInLink,
  type Scope,
  type SignInLink,
  type SignInRequestView,
} from '../../../shared/client/index.ts';

/** Reads a link, or its parts `REQUEST.CODE.KEY` or `REQUEST.CODE`, which are shorter to type. */
async function linkOf(text: string): Promise<{ link: SignInLink; key: LinkKey | null }> {
  if (/#k=|^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) {
    const { readKeyedLink } = await import('../../../shared/client/sealing.ts');
    const keyed = readKeyedLink(text);
    if (keyed === null) throw usageError('This is neither a sign-in link nor its code, or a part of it is missing.');
    return keyed;
  }
  // The link stays whole, because the library checks whose link it is.
  if (readSignInLink(text) !== null) return { link: text, key: null };
  const parts = /^([\w-]{16,64})\.([\w-]{16,64})$/.exec(text);
  if (parts === null) throw usageError('This is neither a sign-in link nor its code.');
  return { link: { request_id: parts[1] as string, approval_code: parts[2] as string }, key: null };
}

/** A new device becomes a member of the ring, or a guest, or gets no keys. */
type Given = 'member' | 'guest' | 'nothing';

/** Finds out what the device gets. A device that is signed in already keeps its access, whatever was asked for. */
export async function givenTo(
  keyed: Keyed | null,
  view: SignInRequestView,
  { hasKey, ...access }: { hasKey: boolean; scope: Scope; persist: Persist },
): Promise<Given> {
  if (keyed === null || !hasKey || !isMember(keyed)) return 'nothing';
  const { accessOf, isMemberBy } = await import('../../../shared/client/sealing.ts');
  return isMemberBy(accessOf(view, access)) ? 'member' : 'guest';
}

/** Says what the new device gets; null if this device does not encrypt. */
export async function givenAway(
  context: Context,
  url: string,
  { keyed, given }: { keyed: Keyed | null; given: Given },
): Promise<string | null> {
  if (keyed === null) {
    const lost = await howKeysWereLost(context, url);
    if (lost === null) return null;
    return `${lost}, so it can give no keys: what the new device sends and is sent is not encrypted. ${NEW_KEYS} for this device.`;
  }
  if (given === 'nothing') return 'It gets no keys: what it sends and is sent is not encrypted.';
  if (given === 'guest') {
    return `${LOCK} It gets no key of this account. It can read only messages and files that are sent to it, and they are encrypted for it alone. It cannot read the encrypted clipboard.`;
  }
  return `${LOCK} It gets the key of this account: it can read everything that is encrypted for the account from now on, and what waits now. Let in only a device that is in front of you.`;
}

/**
 * Tells the user which device the asking device replaces. Only the service claims that both are the same device and that it
 * lost its keys. Returns the signing key that is replaced, for `letIn`.
 */
export async function notePlace(
  { output, signal }: Context,
  baton: BatonClient,
  { keyed, given, view }: { keyed: Keyed | null; given: Given; view: SignInRequestView },
): Promise<string | undefined> {
  if (keyed === null || given === 'nothing') return undefined;
  const replaced = await keyed.sealing.linking.replaced(view);
  if (replaced === null) return undefined;
  const devices = await baton.devices.list({ signal });
  const name = oneLine(devices.find(({ device_id }) => device_id === replaced.device_id)?.name ?? replaced.device_id);
  const print = await fingerprintOf(replaced);
  output.note(
    `It takes the place of ${name} (fingerprint ${print}), whose keys then open nothing more. Let it in only if you hold ${name}, and it asks for its keys again.`,
  );
  return replaced.sig;
}

/** A device that waits for its approval has its session at once. */
const MOST_WAIT_MS = 10_000;

/** Ends the keys of a guest with its session. A guest that does not come keeps them for the usual time. */
export async function untilItEnds(endsWithSession: LetIn['endsWithSession'], given: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([given, AbortSignal.timeout(MOST_WAIT_MS)]);
  await endsWithSession({ signal }).catch(() => {});
}

interface ApproveOptions {
  guest?: boolean;
  once?: boolean;
  deny?: boolean;
  yes?: boolean;
}

/** Describes the device that asks to be let in. */
export async function describe(
  { output, signal }: Context,
  baton: BatonClient,
  link: SignInLink,
): Promise<SignInRequestView> {
  const view = await asApprover(baton.signIns.look(link, { signal }));
  const lines = [
    ['device', `${oneLine(view.device_name)} (${oneLine(view.device_type)})`],
    ['from', `${oneLine(view.source.address)}, ${oneLine(view.source.user_agent)}`],
    ['asked', `${view.age_seconds} s ago`],
  ];
  output.note(tableOf(lines));
  return view;
}

/** Shows the asking device, asks the user, and lets it in or refuses it. */
export async function approve(context: Context, text: string, { guest, once, deny, yes }: ApproveOptions) {
  const { output, signal } = context;
  const { link, key } = await linkOf(text);
  await context.withClient(async (baton, url) => {
    if (deny) {
      await asApprover(baton.signIns.deny(link, { signal }));
      return output.result({ decision: 'denied' }, 'Refused.');
    }
    const view = await describe(context, baton, link);
    const scope = guest ? 'guest' : 'full';
    const persist = once ? 'once' : 'persist';
    const kind = `${scope === 'guest' ? 'a guest' : 'a device of this account'}${once ? ', for an hour' : ''}`;
    const keyed = await keyedToMend(context, url);
    const given = await givenTo(keyed, view, { hasKey: key !== null, scope, persist });
    const said = await givenAway(context, url, { keyed, given });
    if (said !== null) output.note(said);
    const replaces = await notePlace(context, baton, { keyed, given, view });
    if (!yes && !(await askYesNo(`Let it in as ${kind}?`, signal))) {
      await asApprover(baton.signIns.deny(link, { signal }));
      return output.result({ decision: 'denied' }, 'Refused.');
    }
    if (keyed !== null && key !== null && given !== 'nothing') {
      const parts = typeof link === 'string' ? readSignInLink(link) : link;
      if (parts === null) throw usageError('This is no sign-in link.');
      const letIn = keyed.sealing.linking.letIn(parts, key, { signal, scope, persist, replaces });
      const { checkCode, isMember: member, endsWithSession } = await asApprover(letIn);
      const result = { decision: 'approved', scope, persist, keyed: true, member, check_code: checkCode };
      output.result(result, `Approved. Check code: ${checkCode}. The other device shows the same.`);
      return untilItEnds(endsWithSession, signal);
    }
    await asApprover(baton.signIns.approve(link, { scope, persist }, { signal }));
    output.result({ decision: 'approved', scope, persist }, 'Approved.');
  });
}
