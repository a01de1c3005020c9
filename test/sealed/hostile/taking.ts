import type { IncomingTransfer } from '../../../shared/client/api.ts';
import type { FileSink, OpenSink } from '../../../shared/client/files/files.ts';
import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import { memberOf } from '../../../shared/client/sealed/ring/ring.ts';
import type { ReceivedFiles } from '../../../shared/client/sealing/api.ts';
import { type End, makeEnd } from './ends.ts';
import type { Sent } from './offering.ts';
import type { makeOpening } from './opening.ts';
import type { Party } from './party.ts';
import { type Held, NO_LIES } from './relay.ts';
import { check, fail, type Run } from './run.ts';
import { type Plan, planOf } from './served-bytes.ts';
import { makeShownOffers, type ShownOffer } from './shown-offers.ts';
import { makeSignals } from './signals.ts';

/** The part of a file that a device has on its disk. */
interface Kept {
  bytes: Buffer<ArrayBuffer>;
  closed: number;
}

interface Parts {
  readonly sent: readonly Sent[];
  readonly checkKept: ReturnType<typeof makeOpening>['checkKept'];
}

/** An offer that a device has opened, and what was sent. */
interface Opened {
  readonly offer: IncomingTransfer;
  readonly end: End;
  /** The server shows it as it was sent. */
  readonly isGenuine: boolean;
  readonly made: Sent;
}

/** A request takes milliseconds. */
const TOLD_MS = 20_000;

const hasEnded = ({ transfer }: Held): boolean => transfer.state === 'DONE' || transfer.state === 'FAILED';

/** Makes sinks that go on with what the disk has. */
const sinksOf =
  (disk: Map<string, Kept>): OpenSink =>
  ({ name }): FileSink => {
    const kept = disk.get(name) ?? { bytes: Buffer.alloc(0), closed: 0 };
    disk.set(name, kept);
    return {
      offset: kept.bytes.length,
      read: () => new Blob([kept.bytes]).stream(),
      write: (chunk) => void (kept.bytes = Buffer.concat([kept.bytes, chunk])),
      close: () => void (kept.closed += 1),
    };
  };

/** Hands offers and their files to devices, and checks what they take. */
export function makeTaking(run: Run, { sent, checkKept }: Parts) {
  const { chance, server, guests, seen, known, faults } = run;
  const { relay } = server;
  const { showTo } = makeShownOffers(run);
  const { exchange } = makeSignals(run);
  /** The id under which a device has shown files. */
  const ids = new Map<string, string>();

  /** Checks the offer that a device shows: who made it, for whom, and which files it names. */
  function checkShown(
    by: Party,
    keyring: Keyring,
    { offer, sender }: Extract<ReceivedFiles, { kind: 'opened' }>,
  ): Sent {
    const [first] = offer.transfer.files ?? [];
    const made =
      sent.find(({ files, act }) => files[0]?.name === first?.name && act.to === by.id) ??
      fail(`${by.device.name} shows files that nobody sent to it: ${first?.name}`);
    check(made.act.from === sender.device_id, 'files are shown as those of another device');
    const shown = (offer.transfer.files ?? []).map(({ name, size, type }) => [name, size, type]);
    const own = made.files.map(({ name, bytes, type }) => [name, bytes.length, type]);
    check(JSON.stringify(shown) === JSON.stringify(own), 'other files are shown than were sent');
    guests.checkSender(by, keyring, sender, { sig: made.act.sig, t: 0 });
    check(!sender.isRemoved, 'files of a removed device are shown');
    const shownAs = ids.get(`${by.id} ${made.act.text}`) ?? offer.id;
    check(shownAs === offer.id, 'files are shown again under another id');
    ids.set(`${by.id} ${made.act.text}`, offer.id);
    return made;
  }

  /** Checks the disk: each file is the beginning of what was sent, and has its name only when it is whole. */
  function checkDisk(disk: Map<string, Kept>, { files }: Sent): number {
    let whole = 0;
    for (const [name, { bytes, closed }] of disk) {
      const own = files.find((file) => file.name === name) ?? fail('a file is stored that nobody sent');
      const isBeginning = bytes.equals(own.bytes.subarray(0, bytes.length)) && bytes.length <= own.bytes.length;
      check(isBeginning, 'bytes are stored that were not sent');
      check(closed === 0 || bytes.length === own.bytes.length, 'a part of a file is taken for all of it');
      whole += closed > 0 ? 1 : 0;
    }
    return whole;
  }

  /** Accepts once. Returns whether the transfer was completed. */
  async function accept(end: End, offer: IncomingTransfer, disk: Map<string, Kept>, plan: Plan, made: Sent) {
    const gone = new AbortController();
    const stop = () => gone.abort();
    let asked = 0;
    relay.lies = {
      ...relay.lies,
      onMore: stop,
      served(held, index) {
        const served = plan.served(held, index);
        if (served.cutAt !== null) asked += 1;
        if (plan.how === 'path' && asked === 1) end.openPath(made.end.sources);
        if (plan.how === 'anew' && asked === 2) stop();
        return served;
      },
    };
    let tell: (isTold: boolean) => void = () => {};
    const told = new Promise<boolean>((resolve) => {
      tell = resolve;
    });
    relay.lies.onFailed = () => tell(true);
    const running = offer.accept(sinksOf(disk), { concurrency: 1, signal: gone.signal });
    const isDone = await running.done.then(
      () => true,
      () => false,
    );
    // A device that fails tells the other one. A program that was stopped may go on.
    if (isDone || gone.signal.aborted) return isDone;
    const timer = setTimeout(() => tell(false), TOLD_MS);
    check(await told, 'files were not taken, and their sender is not told');
    clearTimeout(timer);
    return false;
  }

  /** Lets a device take the files of an offer that it has opened, as the plan of the server gives them. */
  async function take(by: Party, one: Held, { offer, end, isGenuine, made }: Opened): Promise<void> {
    const disk = new Map<string, Kept>();
    const plan = planOf(chance, relay.held, made.files.length);
    const canSignal = made.id === offer.id && one.transfer.state === 'PENDING';
    const signal = (own: End) => async () => {
      if (!canSignal) return;
      const [sender, receiver] = [
        { id: made.act.from, end: made.end },
        { id: by.id, end: own },
      ];
      // Thrown here, it would be an answer that does not come.
      await exchange(sender, receiver, offer.id).catch((error: unknown) => void faults.push(String(error)));
    };
    relay.lies.onAccept = signal(end);
    let isDone = await accept(end, offer, disk, plan, made);
    relay.lies.onAccept = NO_LIES.onAccept;
    if (!isDone && plan.how === 'anew' && isGenuine) {
      checkDisk(disk, made);
      by.restart();
      const again = makeEnd(by, server);
      const keyring = await known(by);
      const received = keyring && (await by.sealing.files.open(again.api, keyring, await again.api.incoming(offer.id)));
      if (received?.kind !== 'opened') return again.close();
      relay.lies.onAccept = signal(again);
      isDone = await accept(again, received.offer, disk, { ...plan, how: 'as it is' }, made);
      relay.lies.onAccept = NO_LIES.onAccept;
      again.close();
      seen.resumed += 1;
    }
    const whole = checkDisk(disk, made);
    check(!isDone || (isGenuine && whole === made.files.length), 'a transfer is done without its files');
    check(isDone || !isGenuine || plan.isOther, 'genuine files were not taken');
    if (isDone) seen.received += 1;
    else seen.stoppedFiles += 1;
  }

  /** Checks content that a device did not open. Genuine content waits, unless its sender is out. */
  async function checkRefused(by: Party, keyring: Keyring, received: ReceivedFiles, { act }: Sent): Promise<void> {
    const isIn = guests.isGuest(act.from) || memberOf(keyring.ring, act.from)?.sig === act.sig;
    if (isIn && (received.kind === 'waits' || received.kind === 'refused')) await checkKept(by, keyring, act, received);
  }

  /** Shows an offer to a device, and lets it take the files. */
  async function handFiles(by: Party): Promise<void> {
    const all = [...relay.held.values()].filter((each) => !hasEnded(each));
    const own = all.filter(({ transfer }) => transfer.receiver.device_id === by.id);
    const one = chance.pick(own.length > 0 && chance.is(0.9) ? own : all);
    if (one === undefined) return;
    const shown: ShownOffer = await showTo(by, one);
    const keyring = await known(by);
    if (keyring === null) return;
    const end = makeEnd(by, server);
    relay.lies = { ...NO_LIES, view: () => shown.view };
    const whole = await end.api.incoming(one.transfer.transfer_id);
    // An event leaves out what is sealed.
    const { sealed } = whole.transfer;
    const announced = { ...whole, transfer: { ...whole.transfer, sealed: sealed === null ? null : '' } };
    const received = await by.sealing.files.open(end.api, keyring, announced);
    const made = sent.find(({ id }) => id === one.transfer.transfer_id);
    if (received.kind === 'opened') {
      seen.openedFiles += 1;
      const found = checkShown(by, keyring, received);
      by.shown.add(found.act.text);
      const isGenuine = shown.isGenuine && made === found;
      await take(by, one, { offer: received.offer, end, isGenuine, made: found });
    } else {
      seen.refusedFiles += 1;
      check(received.kind !== 'plain' || shown.view.sealed === null, 'sealed files are shown as plain ones');
      const isOwn = shown.isGenuine && made?.act.to === by.id && made.act.from !== by.id;
      if (isOwn) await checkRefused(by, keyring, received, made);
    }
    end.close();
    relay.lies = NO_LIES;
    if (hasEnded(one)) made?.end.onUpdated(one.transfer);
  }

  return { handFiles };
}
