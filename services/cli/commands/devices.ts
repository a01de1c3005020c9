import type { Device } from '../../../shared/client/index.ts';
import { type Context, deviceNamed, untilOver } from '../context.ts';
import { colours, durationOf, oneLine, tableOf } from '../output.ts';
import { isMember, keyedToMend } from '../sealing.ts';

function seenOf({ online, current, last_seen_at: seen }: Device): string {
  if (online) return colours.green('online');
  // This device makes the request. The service counts only event streams.
  if (current) return 'now';
  return seen === null ? 'never seen' : `${durationOf((Date.now() - seen) / 1000)} ago`;
}

const tableOfDevices = (list: readonly Device[]): string =>
  tableOf(
    list.map((device) => [
      device.current ? '*' : ' ',
      oneLine(device.name),
      oneLine(device.type),
      oneLine(device.device_id),
      seenOf(device),
    ]),
  );

/** Shows who is signed in, and whether the service answers. */
export async function status(context: Context) {
  const { output, settings, session, signal } = context;
  await context.withClient(async (baton, url) => {
    const me = await baton.me({ signal });
    const kept = await session.load();
    const lines = [
      ['service', oneLine(url)],
      ['account', oneLine(me.name)],
      ['device', me.device === null ? '-' : `${oneLine(me.device.name)} (${oneLine(me.device.device_id)})`],
      ['access', oneLine(me.scope)],
      ['session', kept === null ? '-' : `until ${new Date(kept.session_expires_at).toLocaleString()}`],
      ['files', oneLine(settings.folder)],
    ];
    const { device, scope } = me;
    const user = { user_id: me.user_id, name: me.name };
    output.result({ url, device, user, scope, session_expires_at: kept?.session_expires_at }, tableOf(lines));
  });
}

/** Lists the devices of the account; with `watch` again at each change, with `names` only their names. */
export async function devices(context: Context, { watch, names }: { watch?: boolean; names?: boolean }) {
  const { output, signal } = context;
  const show = (list: readonly Device[]) => {
    if (watch && process.stdout.isTTY && !output.isJson) process.stdout.write('\x1b[H\x1b[2J');
    output.result({ devices: list }, names ? list.map(({ name }) => oneLine(name)).join('\n') : tableOfDevices(list));
  };
  const withClient = watch ? context.withEndlessClient : context.withClient;
  await withClient(async (baton) => {
    if (!watch) return show(await baton.devices.list({ signal }));
    let isStale = false;
    let isAsking = false;
    // An answer may be older than what was heard meanwhile. Then it is not shown, and the list is read once more.
    const readAgain = async () => {
      isStale = true;
      if (isAsking) return;
      isAsking = true;
      while (isStale) {
        isStale = false;
        const list = await baton.devices.list({ signal }).catch(() => null);
        if (list !== null && !isStale) show(list);
      }
      isAsking = false;
    };
    baton.on('devices', (list) => {
      isStale = true;
      show(list);
    });
    // A device that came or went has a new time.
    baton.on('presence', () => void readAgain());
    baton.start();
    return await untilOver(context, baton);
  });
}

/** Renames a device: `rename NEW` this one, `rename OLD NEW` another one. */
export async function rename(context: Context, names: readonly string[]) {
  const { output, signal } = context;
  await context.withClient(async (baton) => {
    const own = (await baton.session())?.device?.device_id;
    const [old, wanted] = names.length > 1 ? [names[0] as string, names[1] as string] : [own ?? '', names[0] as string];
    const { device_id: id } = await deviceNamed(baton, old, signal);
    const device = await baton.devices.rename(id, wanted, { signal });
    output.result({ device }, `Renamed to ${oneLine(device.name)}.`);
  });
}

/** Signs a device out, for good. */
export async function remove(context: Context, name: string) {
  const { output, signal } = context;
  await context.withClient(async (baton, url) => {
    const device = await deviceNamed(baton, name, signal);
    // The ring changes first, so that a removed device has no key in force. If the command is interrupted here, the same
    // command completes it.
    const keyed = device.current ? null : await keyedToMend(context, url);
    const epoch = keyed?.keyring.ring.body.epoch;
    const isKeyed = keyed !== null && isMember(keyed);
    const rotated = isKeyed && (await keyed.sealing.linking.remove([device.device_id])).ring.body.epoch !== epoch;
    if (rotated) output.note('The key of the account was replaced.');
    const everywhere = await baton.devices.remove(device.device_id, { signal });
    output.result({ removed: device.device_id, everywhere, rotated }, `Removed ${oneLine(device.name)}.`);
  });
}
