import { spoilt } from './chance.ts';
import { currentOf, type Party } from './party.ts';
import { check, type Run } from './run.ts';

/** Shows devices the clipboard, and checks what they take. */
export function makeLooking(run: Run) {
  const { seed, chance, server, guests, ann, bob, mallory, acts, seen, stolen, known } = run;

  async function look(by: Party): Promise<void> {
    const keyring = await known(by);
    // Mallory helps with the key of the account, and a guest signs.
    const member = server.isHostile && chance.is(0.5) ? (stolen.keyring ?? (await currentOf(mallory))) : null;
    const forged = member === null ? null : await guests.forgeClipboard(member, `of a guest ${seed}`);
    const entries = forged === null ? server.posted.filter(({ kind }) => kind === 'clipboard') : [forged];
    if (keyring === null || entries.length === 0) return;
    const item = chance.pick<{ from: string; sealed: string }>(entries);
    const isSpoilt = server.isHostile && chance.is(0.3);
    const from = server.isHostile && chance.is(0.3) ? chance.pick([ann, bob, mallory]).id : item.from;
    const sealed = isSpoilt
      ? spoilt(item.sealed, chance)
      : chance.is(0.1) && server.posted.length > 0
        ? chance.pick(server.posted).sealed
        : item.sealed;
    const about = {
      content: '',
      content_type: 'text/plain',
      source_device_name: 'any',
      updated_at: 1,
      expires_at: null,
    } as const;
    const received = await by.sealing.texts.openClipboard(keyring, {
      ...about,
      sealed,
      source_device_id: from,
    });
    if (received.kind !== 'opened') return void (seen.refused += 1);
    seen.opened += 1;
    const place = acts.findIndex(
      ({ text, from: author, to }) => text === received.text && author === received.sender.device_id && to === '',
    );
    check(place >= 0 && received.sender.device_id === from, 'a clipboard is shown that nobody made');
    const newest = by.clipboards.get(from) ?? -1;
    check(place >= newest, 'a clipboard is shown that is older than the one before it');
    by.clipboards.set(from, place);
  }

  return { look };
}
