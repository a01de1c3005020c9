import { askYesNo } from '../ask.ts';
import type { Context } from '../context.ts';
import { asApprover, usageError } from '../failure.ts';
import { oneLine, tableOf } from '../output.ts';
import { type BatonClient, readSignInLink, type SignInLink } from '../../../shared/client/index.ts';

/** `REQUEST.CODE`, the two parts of a link, for where a link is too long to type. */
function linkOf(text: string) {
  // Whole: the library looks at whose link it is.
  if (readSignInLink(text) !== null) return text;
  const parts = /^([\w-]{16,64})\.([\w-]{16,64})$/.exec(text);
  if (parts === null) throw usageError('This is neither a sign-in link nor its code.');
  return { request_id: parts[1] as string, approval_code: parts[2] as string };
}

interface ApproveOptions {
  guest?: boolean;
  once?: boolean;
  deny?: boolean;
  yes?: boolean;
}

/** Says what asks to be let in. */
export async function describe({ output, signal }: Context, baton: BatonClient, link: SignInLink): Promise<void> {
  const view = await asApprover(baton.signIns.look(link, { signal }));
  const lines = [
    ['device', `${oneLine(view.device_name)} (${oneLine(view.device_type)})`],
    ['from', `${oneLine(view.source.address)}, ${oneLine(view.source.user_agent)}`],
    ['asked', `${view.age_seconds} s ago`],
  ];
  output.note(tableOf(lines));
}

/** Shows who asks to be let in, asks, and lets it in or not. */
export async function approve(context: Context, text: string, { guest, once, deny, yes }: ApproveOptions) {
  const { output, signal } = context;
  const link = linkOf(text);
  await context.withClient(async (baton) => {
    if (deny) {
      await asApprover(baton.signIns.deny(link, { signal }));
      return output.result({ decision: 'denied' }, 'Refused.');
    }
    await describe(context, baton, link);
    const scope = guest ? 'guest' : 'full';
    const persist = once ? 'once' : 'persist';
    const kind = `${scope === 'guest' ? 'a guest' : 'a device of this account'}${once ? ', for an hour' : ''}`;
    if (!yes && !(await askYesNo(`Let it in as ${kind}?`, signal))) {
      await asApprover(baton.signIns.deny(link, { signal }));
      return output.result({ decision: 'denied' }, 'Refused.');
    }
    await asApprover(baton.signIns.approve(link, { scope, persist }, { signal }));
    output.result({ decision: 'approved', scope, persist }, 'Approved.');
  });
}
