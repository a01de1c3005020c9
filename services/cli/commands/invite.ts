import { renderUnicodeCompact } from 'uqr';
import type { BatonClient } from '../../../shared/client/index.ts';
import {
  inviteDigits,
  type InvitedRequest,
  invitedRequest,
  inviteLink,
  newSecret,
} from '../../../shared/client/session/invites.ts';
import { askText } from '../ask.ts';
import type { Context } from '../context.ts';
import { asApprover, CliError, usageError } from '../failure.ts';
import { describe } from './approve.ts';

const MOST_TRIES = 3;

/** Resolves when a device has scanned the invite; rejects when the invite expires, or the command is interrupted. */
function scanned(baton: BatonClient, untilMs: number, signal: AbortSignal): Promise<InvitedRequest> {
  return new Promise((resolve, reject) => {
    const over = () => reject(new CliError('Nobody has scanned the code in time.', { code: 'login_expired' }));
    const timer = setTimeout(over, Math.max(0, untilMs - Date.now()));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    baton.on('event', ({ name, data }) => {
      const request = name === 'signin:requested' ? invitedRequest(data) : null;
      if (request === null) return;
      clearTimeout(timer);
      resolve(request);
    });
  });
}

/** Asks for the digits that the new device shows. False: they were wrong three times. */
async function hasDigits({ output, signal }: Context, secret: string, requestId: string): Promise<boolean> {
  for (let tries = MOST_TRIES; tries > 0; tries -= 1) {
    const typed = (await askText('Six digits that it shows:', signal)).replace(/\D/g, '');
    if (typed === inviteDigits(secret, requestId)) return true;
    output.note('These are not its digits.');
  }
  return false;
}

/** Shows a code that a new device scans, and lets it in when its digits are typed here. */
export async function invite(context: Context, { guest, once }: { guest?: boolean; once?: boolean }) {
  const { output, signal } = context;
  if (!process.stdin.isTTY) throw usageError('The digits of the new device are typed here: this needs a terminal.');
  await context.withClient(async (baton) => {
    baton.start();
    await baton.untilOnline();
    const made = await baton.signIns.invite({ signal });
    const secret = newSecret();
    const link = inviteLink(made.link, secret);
    output.note('Scan this with the new device, or open the link there:\n');
    output.note(renderUnicodeCompact(link));
    if (output.isJson) output.result({ waiting: { link, expires_at: made.expires_at } }, null);
    else output.note(`\n${link}\n`);
    const request = await scanned(baton, made.expires_at, signal);
    await describe(context, baton, request);
    if (!(await hasDigits(context, secret, request.request_id))) {
      await baton.signIns.deny(request, { signal });
      throw new CliError('The digits were wrong three times. The other device was kept out.', { code: 'wrong_digits' });
    }
    const grant = { scope: guest ? 'guest' : 'full', persist: once ? 'once' : 'persist' } as const;
    await asApprover(baton.signIns.approve(request, grant, { signal }));
    output.result({ decision: 'approved', ...grant }, 'Approved.');
  });
}
