import type { Keyring } from '../../../shared/client/sealed/keyring.ts';
import type { ReplicaProcess } from '../../support/replicas.ts';
import { makeHanding } from './handing.ts';
import { makeLettingIn } from './letting-in.ts';
import { makeListing } from './listing.ts';
import { makeLooking } from './looking.ts';
import { makeOffering } from './offering.ts';
import { makeOpening } from './opening.ts';
import { type Party, unlessRefused } from './party.ts';
import { makeRecovering } from './recovering.ts';
import { makeRemovals } from './removals.ts';
import { makeRun } from './run.ts';
import { makeTaking } from './taking.ts';
import { makeWriting } from './writing.ts';

/** An account behind a hostile server, with all that its devices do. */
export async function makeWorld(seed: number, replica: ReplicaProcess) {
  const run = await makeRun(seed, replica);

  /** Tells a device of the removal, as its stream does; a server may also keep that to itself. */
  async function tellRemoved(by: Party): Promise<void> {
    if ((await unlessRefused(by.sealing.rings.noteRemoved(run.mallory.id).then(() => true))) === null) return;
    by.hasHeard = true;
    by.keyring = null;
  }

  const listing = makeListing(run);
  const [writing, opening] = [makeWriting(run, listing), makeOpening(run)];
  const offering = makeOffering(run, writing);
  return {
    ...run,
    ...makeLettingIn(run),
    ...makeRemovals(run),
    ...makeRecovering(run),
    ...listing,
    ...writing,
    ...makeHanding(run),
    ...opening,
    ...makeLooking(run),
    ...offering,
    ...makeTaking(run, { ...offering, ...opening }),
    /** Ends the programs that send files. */
    close: () => offering.sent.forEach(({ end }) => end.close()),
    tellRemoved,
    /** Notes what the removed device took along. */
    take: (keyring: Keyring) => void (run.stolen.keyring = keyring),
    hasTaken: () => run.stolen.keyring !== null,
  };
}

export type World = Awaited<ReturnType<typeof makeWorld>>;
