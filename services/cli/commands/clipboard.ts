import { platform } from 'node:os';
import type { BatonClient } from '../../../shared/client/index.ts';
import { leanFetch } from '../../../shared/client/node.ts';
import { makeServerTime } from '../../../shared/client/time/server-time.ts';
import { comparedWith } from '../away.ts';
import { type AccountClipboard, makeFollowing, type Told } from '../clipboard/following.ts';
import { watchableClipboard } from '../clipboard/watchable.ts';
import { type Context, untilOver } from '../context.ts';
import { CliError, EXIT, failureOf, usageError } from '../failure.ts';
import { deviceNameOf } from '../output.ts';
import { isMember, type Keyed, keyedAt, LOCK } from '../sealing.ts';
import { mayPass, nextTry, pauseFor } from '../waiting.ts';

const GUESTS_CANNOT =
  'This device is a guest, and only devices with the key of the account read the encrypted clipboard.';

/** No system tells all programs when its clipboard changes, so it is read this often. */
const LOOK_MS = 1_000;

/** The ring, which is fetched again after it has changed. Throws if this device has no keys. */
function makeRing(context: Context, baton: BatonClient, url: string) {
  const { signal } = context;
  let known: Promise<Keyed> | null = null;
  const said = new Set<string>();
  const note = (text: string): void => {
    if (!said.has(text)) context.output.note(text);
    said.add(text);
  };
  async function load(): Promise<Keyed> {
    const keyed = await keyedAt(context, url);
    if (keyed !== null && isMember(keyed)) {
      return comparedWith({ output: { note } }, keyed, await baton.devices.list({ signal }));
    }
    if (keyed !== null) throw new CliError(GUESTS_CANNOT, { status: EXIT.refused, code: 'guest_clipboard' });
    const says = 'Only an encrypted clipboard is watched, and this device has no keys. `baton keys` says what to do.';
    throw new CliError(says, { status: EXIT.refused, code: 'not_encrypted' });
  }
  const forget = (): void => void (known = null);
  baton.on('event', ({ name }) => {
    if (name === 'keys' || name.startsWith('device:')) forget();
  });
  return {
    forget,
    current(): Promise<Keyed> {
      known ??= load().catch((error: unknown) => {
        forget();
        throw error;
      });
      return known;
    },
  };
}

/** The clipboard of the account, of which only sealed entries are used. */
function accountClipboard(
  { signal }: Context,
  baton: BatonClient,
  ring: ReturnType<typeof makeRing>,
): AccountClipboard {
  return {
    async read() {
      const entry = await baton.clipboard.get({ signal });
      if (entry.updated_at === null) return null;
      let { sealing, keyring } = await ring.current();
      let received = await sealing.texts.openClipboard(keyring, entry);
      if (received.kind === 'waits' && received.problem.code === 'unknown_key') {
        ring.forget();
        ({ sealing, keyring } = await ring.current());
        received = await sealing.texts.openClipboard(keyring, entry);
      }
      const { members } = keyring.ring.body;
      const sender = received.kind === 'opened' ? received.sender : null;
      return {
        received,
        from: entry.source_device_name ?? '',
        updatedAt: entry.updated_at,
        isOwn: entry.source_device_id === keyring.device_id,
        isOfMember: sender?.isRemoved === false && members.some(({ device_id }) => device_id === sender.device_id),
      };
    },
    async write(text) {
      const { sealing, keyring } = await ring.current();
      await sealing.texts.setClipboard(keyring, text, { signal });
    },
  };
}

/** Tells the user what was carried, and never the text itself. */
const toldTo = ({ output }: Context): Told => ({
  sent: (bytes) => output.result({ direction: 'to_account', bytes }, `${LOCK} To the account: ${bytes} bytes.`),
  taken: (bytes, from) =>
    output.result({ direction: 'from_account', bytes, from }, `${LOCK} From ${deviceNameOf(from)}: ${bytes} bytes.`),
  left(why, from) {
    const said = `${why.replace(/\.$/, '')}.`;
    const whose = from === undefined ? 'copied here' : `from ${deviceNameOf(from)}`;
    output.result({ left: from ?? null, why: said }, `Left alone, ${whose}: ${said}`);
  },
});

/** Looks at both sides in turn until the signal. Throws an error that does not pass. */
async function lookOn(
  { output, signal }: Context,
  following: Awaited<ReturnType<typeof makeFollowing>>,
  takeNews: () => boolean,
): Promise<void> {
  let lastSaid = '';
  let isThereNew = false;
  while (!signal.aborted) {
    let waitMs = LOOK_MS;
    try {
      isThereNew = takeNews() || isThereNew;
      if (isThereNew) await following.lookThere();
      isThereNew = false;
      await following.lookHere();
      lastSaid = '';
    } catch (error) {
      if (signal.aborted) return;
      if (!mayPass(error)) throw error;
      const { message } = failureOf(error);
      const next = nextTry(error);
      if (message !== lastSaid) output.note(next.says);
      lastSaid = message;
      waitMs = next.waitMs;
    }
    // A text that is copied during a long wait is noted with its time.
    for (let waitedMs = 0; waitedMs < waitMs && !signal.aborted; waitedMs += LOOK_MS) {
      if (waitedMs > 0) await following.noteHere().catch(() => {});
      await pauseFor(Math.min(LOOK_MS, waitMs - waitedMs), signal).catch(() => {});
    }
  }
}

/** Carries texts both ways between the clipboard of this computer and that of the account, until it is interrupted. */
export async function clipboard(context: Context, { watch }: { watch?: boolean }): Promise<void> {
  if (watch !== true) throw usageError('Say --watch; `baton copy` and `baton paste` carry one text.');
  const { output, signal } = context;
  const system = await watchableClipboard(platform(), process.env);
  const serverTime = makeServerTime();
  const hearing: typeof leanFetch = async (path, init) => {
    const askedAt = Date.now();
    const response = await leanFetch(path, init);
    serverTime.hear(response.headers.get('date'), askedAt, Date.now());
    return response;
  };
  await context.withEndlessClient(async (baton, url) => {
    const ring = makeRing(context, baton, url);
    await ring.current();
    const { updated_at: before } = await baton.clipboard.get({ signal });
    const account = accountClipboard(context, baton, ring);
    const serverNow = () => Date.now() + serverTime.offsetMs();
    const following = await makeFollowing({ system, account, told: toldTo(context), serverNow, before });
    const over = untilOver(context, baton);
    over.catch(() => {});
    let isNew = false;
    baton.on('clipboard', (change) => {
      // The command begins with the next change on either side.
      if (change !== null && change.updated_at !== before) isNew = true;
    });
    baton.start();
    await baton.untilOnline({ signal });
    output.note('Watching the clipboard, until Ctrl-C.');
    const takeNews = (): boolean => {
      const found = isNew;
      isNew = false;
      return found;
    };
    await Promise.race([over, lookOn(context, following, takeNews)]);
    // The end of the looking comes from the same interruption.
    await over;
  }, hearing);
}
