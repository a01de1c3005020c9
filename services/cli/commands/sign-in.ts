import { hostname, platform } from 'node:os';
import { renderUnicodeCompact } from 'uqr';
import {
  type DeviceType,
  proposeDeviceName,
  type RequestOptions,
  requestSignIn,
  type Session,
  type SignInRequest,
} from '../../../shared/client/index.ts';
import { inviteDigits, type InviteLink, readInviteLink } from '../../../shared/client/session/invites.ts';
import { leanFetch } from '../../../shared/client/node.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failure.ts';
import { oneLine } from '../output.ts';
import { sealingFilesOf } from '../sealing.ts';
import { serviceAddress } from '../settings.ts';
import { endSession } from '../sign-out.ts';
import { noteAddress } from '../unused-proxy.ts';
import { tellingFetch } from '../waiting.ts';
import { takeLinkAfterLogin } from './keys.ts';

const TYPE_OF: Readonly<Record<string, DeviceType>> = { darwin: 'macos', win32: 'windows' };

/** Names of this machine. `localhost.example.com` does not match. */
const OWN = /^(localhost|[a-z0-9.-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])(?=[:/]|$)/i;

/** Completes an address as people type it: `baton.example.com` gets https, this machine http. */
function urlOf(text: string): string {
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `${OWN.test(text) ? 'http' : 'https'}://${text}`;
  const address = serviceAddress(whole);
  if (address === null) throw usageError(`${oneLine(text)} is not an address.`);
  return address;
}

function showCode({ output }: Context, request: SignInRequest, link: string, deviceName: string): void {
  const waiting = { link, request_id: request.request_id, expires_at: request.expires_at };
  output.note(`Scan this with a device that is signed in, or open the link in a browser that is:\n`);
  if (process.stderr.isTTY) output.note(renderUnicodeCompact(link));
  if (output.isJson) output.result({ waiting }, null);
  else output.note(`\n${link}\n\nWaiting for the approval of "${oneLine(deviceName)}" ...`);
}

function showDigits({ output }: Context, digits: string): void {
  if (output.isJson) output.result({ waiting: { digits } }, null);
  else output.note(`Type these digits on the other device: ${digits.slice(0, 3)} ${digits.slice(3)}`);
}

/** Shows a code, with the data that the approver needs to give this device the key of the account. */
async function asked(context: Context, about: RequestOptions): Promise<Session> {
  const { makeAsking } = await import('../../../shared/client/sealing.ts');
  const asking = await makeAsking(sealingFilesOf(context));
  const request = await requestSignIn({ ...about, keys: asking.keys, onApproved: asking.keep });
  showCode(context, request, await asking.linkWith(request.link), about.deviceName);
  return request.approved({ signal: context.signal });
}

async function askedByInvite(
  context: Context,
  about: RequestOptions,
  { invite, secret, isKeyed }: InviteLink,
): Promise<Session> {
  if (isKeyed) {
    const { makeAsking } = await import('../../../shared/client/sealing.ts');
    const { keys, keep, digitsFor } = await makeAsking(sealingFilesOf(context), secret);
    const request = await requestSignIn({ ...about, invite, keys, onApproved: keep });
    showDigits(context, await digitsFor(request.request_id));
    return request.approved({ signal: context.signal });
  }
  const request = await requestSignIn({ ...about, invite });
  showDigits(context, inviteDigits(secret, request.request_id));
  return request.approved({ signal: context.signal });
}

/** Shows a code, or the digits of an invite, and waits until a device that is signed in approves it. */
export async function login(
  context: Context,
  address: string | undefined,
  options: { name?: string; force?: boolean; plainHttp?: boolean },
) {
  const { output, session, settings, signal } = context;
  await context.finishLeaving();
  // With --force the command also replaces a session that cannot be read.
  const kept = options.force ? null : await session.load();
  if (kept !== null) {
    throw new CliError(
      `This device is signed in as ${oneLine(kept.device?.name ?? kept.user.name)}. Say --force, or \`baton logout\`.`,
    );
  }
  const invited = address === undefined ? null : readInviteLink(address);
  const baseUrl = address === undefined ? settings.url : urlOf(invited?.baseUrl ?? address);
  noteAddress(baseUrl);
  const deviceName = options.name ?? proposeDeviceName(hostname());
  const deviceType = TYPE_OF[platform()] ?? 'linux';
  const plainHttp = options.plainHttp === true;
  const fetch = tellingFetch(output, leanFetch);
  const about = { baseUrl, deviceName, deviceType, session, signal, plainHttp, fetch };
  const made = await (invited === null ? asked(context, about) : askedByInvite(context, about, invited));
  await settings.keepUrl(baseUrl);
  const name = made.device?.name ?? deviceName;
  const result = { device: made.device, user: made.user, scope: made.scope, persist: made.persist, url: baseUrl };
  output.result(result, `Signed in as ${oneLine(name)}, of ${oneLine(made.user.name)}, at ${baseUrl}.`);
  await takeLinkAfterLogin(context, baseUrl);
}

/** Ends the session; on this device even if the service cannot be told. */
export async function logout(context: Context) {
  if (!(await context.finishLeaving())) await endSession(context);
  context.output.result({ signed_out: true }, 'Signed out.');
}
