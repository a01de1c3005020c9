import { renderUnicodeCompact } from 'uqr';
import type { BatonClient, Persist, Scope } from '../../../shared/client/index.ts';
import {
  inviteDigits,
  type InvitedRequest,
  invitedRequest,
  inviteLink,
  keyedInviteLink,
  newSecret,
} from '../../../shared/client/session/invites.ts';
import type { PublicKeys } from '../../../shared/client/sealed.ts';
import { pause } from '../../../shared/client/time/clock.ts';
import { LIMITS } from '../../../shared/contract/limits.ts';
import { askText } from '../ask.ts';
import type { Context } from '../context.ts';
import { asApprover, CliError, failureOf, usageError } from '../failure.ts';
import { type Keyed, keyedAt } from '../sealing.ts';
import { describe, givenAway, givenTo, notePlace, untilItEnds } from './approve.ts';

const MOST_TRIES = 3;

/**
 * How long a new invite lives. The response names its end by the service's clock, and the clock of this computer may
 * differ.
 */
const INVITE_MS = LIMITS.inviteSeconds * 1_000;

/** Resolves when a device has scanned the invite; rejects when the invite expires, or the command is interrupted. */
export async function scanned(baton: Pick<BatonClient, 'on'>, signal: AbortSignal): Promise<InvitedRequest> {
  const ends = new AbortController();
  let off = (): void => {};
  const request = new Promise<InvitedRequest>((resolve) => {
    off = baton.on('event', ({ name, data }) => {
      const found = name === 'signin:requested' ? invitedRequest(data) : null;
      if (found !== null) resolve(found);
    });
  });
  const over = pause(INVITE_MS, AbortSignal.any([signal, ends.signal])).then(() => {
    throw new CliError('Nobody has scanned the code in time.', { code: 'login_expired' });
  });
  try {
    return await Promise.race([request, over]);
  } finally {
    off();
    // The timer would keep the command running.
    ends.abort();
  }
}

/**
 * Asks for the digits that the new device shows, at most three times. Resolves to false if they were wrong each time.
 */
async function hasDigits(
  { output, signal }: Context,
  isRight: (digits: string) => Promise<boolean> | boolean,
): Promise<boolean> {
  for (let tries = MOST_TRIES; tries > 0; tries -= 1) {
    const typed = (await askText('Six digits that it shows:', signal)).replace(/\D/g, '');
    if (await isRight(typed)) return true;
    const left = tries - 1;
    output.note(
      `These are not its digits.${left === 0 ? '' : left === 1 ? ' 1 try is left.' : ` ${left} tries are left.`}`,
    );
  }
  return false;
}

/** Compares typed digits with those of the new device, which also depend on its keys if it gets the key of the account. */
async function digitsOf(secret: string, requestId: string, keys: PublicKeys | null) {
  if (keys === null) return (digits: string) => digits === inviteDigits(secret, requestId);
  const { checkInvite, inviteSecretIn } = await import('../../../shared/client/sealed.ts');
  const check = checkInvite(inviteSecretIn(`1.${secret}`), keys, requestId);
  return (digits: string) =>
    check.type(digits).then(
      () => true,
      (error: unknown) => {
        if (['wrong_digits', 'invite_over'].includes(failureOf(error).code)) return false;
        throw error;
      },
    );
}

/** Lets the device in with its keys. Returns the check code that both devices show, and whether it has the account's key. */
async function letInWithKeys(
  { signal }: Context,
  { sealing }: Keyed,
  { request, secret, keys }: { request: InvitedRequest; secret: string; keys: PublicKeys },
  access: { scope: Scope; persist: Persist; replaces: string | undefined },
) {
  const { fingerprintOfKeys, inviteSecretIn } = await import('../../../shared/client/sealed.ts');
  // The digits have proved these keys, so that no other keys may come with the approval.
  const key = { fingerprint: await fingerprintOfKeys(keys), secret: inviteSecretIn(`1.${secret}`) };
  const { request_id, approval_code } = request;
  return asApprover(sealing.linking.letIn({ request_id, approval_code }, key, { signal, ...access }));
}

function show({ output }: Context, link: string, expires_at: number): void {
  output.note('Scan this with the new device, or open the link there:\n');
  output.note(renderUnicodeCompact(link));
  if (output.isJson) output.result({ waiting: { link, expires_at } }, null);
  else output.note(`\n${link}\n`);
}

/** Shows a code that a new device scans, and lets it in when its digits are typed here. */
export async function invite(context: Context, { guest, once }: { guest?: boolean; once?: boolean }) {
  const { output, signal } = context;
  if (!process.stdin.isTTY) throw usageError('The digits of the new device are typed here: this needs a terminal.');
  await context.withClient(async (baton, url) => {
    baton.start();
    const keyed = await keyedAt(context, url);
    await baton.untilOnline({ signal });
    const made = await baton.signIns.invite({ signal });
    const secret = newSecret();
    show(context, (keyed === null ? inviteLink : keyedInviteLink)(made.link, secret), made.expires_at);
    const request = await scanned(baton, signal);
    const view = await describe(context, baton, request);
    const keys = keyed === null ? null : (view.keys ?? null);
    const grant = { scope: guest ? 'guest' : 'full', persist: once ? 'once' : 'persist' } as const;
    const given = await givenTo(keyed, view, { hasKey: keys !== null, ...grant });
    const said = await givenAway(context, url, { keyed, given });
    if (said !== null) output.note(said);
    const replaces = await notePlace(context, baton, { keyed, given, view });
    if (!(await hasDigits(context, await digitsOf(secret, request.request_id, keys)))) {
      await baton.signIns.deny(request, { signal });
      throw new CliError('The digits were wrong three times. The other device was refused.', { code: 'wrong_digits' });
    }
    if (keyed !== null && keys !== null && given !== 'nothing') {
      const letIn = await letInWithKeys(context, keyed, { request, secret, keys }, { ...grant, replaces });
      const { checkCode, isMember, endsWithSession } = letIn;
      const result = { decision: 'approved', ...grant, keyed: true, member: isMember, check_code: checkCode };
      output.result(result, `Approved. Check code: ${checkCode}. The other device shows the same.`);
      return untilItEnds(endsWithSession, signal);
    }
    await asApprover(baton.signIns.approve(request, grant, { signal }));
    output.result({ decision: 'approved', ...grant }, 'Approved.');
  });
}
