/** A place for a part that is made later and called by an earlier one. */
export interface Late<T extends object> {
  /** Returns the part. Throws before it is set, because nothing may call it before the replica is complete. */
  readonly get: () => T;
  readonly set: (value: T) => void;
}

/** Makes an empty place. `what` names the part in the error of a call that comes too early. */
export function makeLate<T extends object>(what: string): Late<T> {
  let made: T | null = null;
  return {
    get() {
      if (made === null) throw new Error(`${what} is called before it was made`);
      return made;
    },
    set(value) {
      made = value;
    },
  };
}
