/** A place for what is made later and is called by what is made now. */
export interface Late<T extends object> {
  /** Throws before it is there: nothing may call it before the replica has been put together. */
  readonly get: () => T;
  readonly set: (value: T) => void;
}

/** `what` is named by the error of a call that comes too early. */
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
