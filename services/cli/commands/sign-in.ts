import { hostname, platform } from 'node:os';
import { renderUnicodeCompact } from 'uqr';
import { type DeviceType, proposeDeviceName, requestSignIn } from '../../../shared/client/index.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failure.ts';
import { oneLine } from '../output.ts';

const TYPE_OF: Readonly<Record<string, DeviceType>> = { darwin: 'macos', win32: 'windows' };

/** An address as people type it: `baton.example.com` is https, the own machine is http. */
function urlOf(text: string): string {
  const isOwn = /^(localhost|127\.|\[::1\])/.test(text);
  const whole = /^[a-z]+:\/\//i.test(text) ? text : `${isOwn ? 'http' : 'https'}://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) throw usageError(`${oneLine(text)} is not an address.`);
  return url.href.replace(/\/+$/, '');
}

/** Shows a code, and waits until a device that is signed in approves it. */
export async function login(
  context: Context,
  address: string | undefined,
  options: { name?: string; force?: boolean },
) {
  const { output, session, settings, signal } = context;
  const kept = await session.load();
  if (kept !== null && !options.force) {
    throw new CliError(
      `This device is signed in as ${kept.device?.name ?? kept.user.name}. Say --force, or \`baton logout\`.`,
    );
  }
  const baseUrl = address === undefined ? settings.url : urlOf(address);
  const deviceName = options.name ?? proposeDeviceName(hostname());
  const deviceType = TYPE_OF[platform()] ?? 'linux';
  const request = await requestSignIn({ baseUrl, deviceName, deviceType, session, signal });

  const waiting = { link: request.link, request_id: request.requestId, expires_at: request.expiresAt };
  output.note(`Scan this with a device that is signed in, or open the link in a browser that is:\n`);
  if (process.stderr.isTTY) output.note(renderUnicodeCompact(request.link));
  if (output.isJson) output.result({ waiting }, null);
  else output.note(`\n${request.link}\n\nWaiting for the approval of "${deviceName}" ...`);

  const made = await request.approved({ signal });
  await settings.keepUrl(baseUrl);
  const name = made.device?.name ?? deviceName;
  const result = { device: made.device, user: made.user, scope: made.scope, persist: made.persist, url: baseUrl };
  output.result(result, `Signed in as ${name}, of ${oneLine(made.user.name)}, at ${baseUrl}.`);
}

/** Ends the session, here even when the service cannot be told. */
export async function logout(context: Context) {
  const { output, session, signal } = context;
  try {
    await context.withClient((baton) => baton.signOut({ signal }));
    output.result({ signed_out: true }, 'Signed out.');
  } catch (error) {
    if (signal.aborted) throw error;
    await session.clear();
    throw error;
  }
}
