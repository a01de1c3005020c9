import { lstatSync, lutimesSync } from 'node:fs';
import { join } from 'node:path';
import { BatonClientError } from '../errors/baton-client-error.ts';
import { isRefusedName } from './file-errors.ts';
import { type Parts, syncNames, takeName } from './parts.ts';
import { type Folder, numbered, type Place, stricterNames, within } from './places.ts';
import type { ReceiveClaim, Stored } from './record.ts';
import type { TransferFile } from '../wire.ts';

/** A complete part file, and the name that it is to get. */
export interface Whole {
  readonly key: string;
  /** Device and inode. */
  readonly id: string;
  readonly parts: Parts;
  readonly place: Place;
  readonly entry: number;
  /** For an entry: its name in the pack. */
  readonly name?: string;
  readonly size: number;
  readonly sha256: string;
  /** The sender's date, in Unix milliseconds. */
  readonly modifiedAt?: number | undefined;
}

/** Gives the files of a transfer their names in a folder. */
export interface Store {
  readonly top: Folder;
  readonly claim: ReceiveClaim | null;
  placeFor(name: string): Place;
  /** Returns the part files of the folder's file system, because a file cannot get a name on another one. */
  partsFor(folder: Folder): Parts;
  /**
   * Gives each of them the first free name that the file system takes, and returns the paths: all of them get names, or none. Each name is recorded
   * before it is given.
   */
  name(file: TransferFile, wholes: readonly Whole[]): string[];
  /** Throws if another process receives this transfer now, because this one slept, or lost its disk, for too long. */
  check(): void;
}

export const taken = (): BatonClientError =>
  new BatonClientError('taken', 'Another program of this device receives this transfer');

/** A name that the file system refuses is free too. The refusal comes when the file gets the name. */
function isFree({ folder }: Place, name: string): boolean {
  try {
    return within(folder, (at) => lstatSync(join(at, name), { throwIfNoEntry: false }) === undefined);
  } catch (error) {
    if (isRefusedName(error)) return true;
    throw error;
  }
}

/** Chooses names that were free when it looked, each once. */
function makeChoice({ place }: Whole, chosen: Set<string>) {
  const stricter = stricterNames(place.name);
  let names = numbered(place.name);
  return {
    next(): Place {
      for (;;) {
        // A `for` over the names would end them with the first choice.
        const name = names.next().value;
        const path = join(place.folder.path, name);
        if (chosen.has(path) || !isFree(place, name)) continue;
        chosen.add(path);
        return { folder: place.folder, name };
      }
    },
    /** Goes over to a stricter name; false if there is none. */
    restrict(): boolean {
      const name = stricter.shift();
      if (name !== undefined) names = numbered(name);
      return name !== undefined;
    },
  };
}

/** Gives a file the name, or returns null: it is taken, or the file system refuses it and the choice has a stricter one. */
function nameUnless({ parts, key, id }: Whole, at: Place, choice: ReturnType<typeof makeChoice>): string | null {
  try {
    return parts.name(key, id, at);
  } catch (error) {
    if (isRefusedName(error) && choice.restrict()) return null;
    throw error;
  }
}

/** Gives a stored file the sender's date. */
function setDate({ folder, name }: Place, modifiedAt: number | undefined): void {
  if (modifiedAt === undefined) return;
  try {
    within(folder, (at) => lutimesSync(join(at, name), Date.now() / 1_000, modifiedAt / 1_000));
  } catch {
    // The file system takes no such date. The file is complete without it.
  }
}

interface StoreParts {
  top: Folder;
  placeFor: Store['placeFor'];
  topParts: Parts;
  openParts: (folder: Folder) => Parts;
  claim: ReceiveClaim | null;
}

export function makeStore({ top, placeFor, topParts, openParts, claim }: StoreParts): Store {
  const others = new Map<string, Parts>();

  function check(): void {
    if (claim !== null && !claim.isHeld()) throw taken();
  }

  const lineOf = ({ index }: TransferFile, whole: Whole, at: Place): Stored => ({
    ...{ index, entry: whole.entry, name: whole.name, size: whole.size, sha256: whole.sha256 },
    ...{ path: join(at.folder.path, at.name), id: whole.id },
  });

  return {
    ...{ top, claim, check, placeFor },
    partsFor(folder) {
      if (folder.device === top.device) return topParts;
      const known = others.get(folder.id) ?? openParts(folder);
      others.set(folder.id, known);
      return known;
    },
    name(file, wholes) {
      check();
      const chosen = new Set<string>();
      const choices = wholes.map((whole) => ({ whole, choice: makeChoice(whole, chosen) }));
      const planned = choices.map((each) => ({ ...each, place: each.choice.next() }));
      claim?.add(planned.map(({ whole, place }) => lineOf(file, whole, place)));
      const named: { at: Place; id: string; modifiedAt: number | undefined }[] = [];
      try {
        for (const { whole, choice, place } of planned) {
          let at = place;
          let id = nameUnless(whole, at, choice);
          // The name was taken after it was chosen, or is refused.
          while (id === null) {
            at = choice.next();
            claim?.add([lineOf(file, whole, at)]);
            id = nameUnless(whole, at, choice);
          }
          named.push({ at, id, modifiedAt: whole.modifiedAt });
        }
        for (const folder of new Map(named.map(({ at }) => [at.folder.id, at.folder])).values()) syncNames(folder);
      } catch (error) {
        for (const { at, id } of named) takeName(at, id);
        throw error;
      }
      for (const { at, modifiedAt } of named) setDate(at, modifiedAt);
      return named.map(({ at }) => join(at.folder.path, at.name));
    },
  };
}
