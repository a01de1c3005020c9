import type { Off } from './api.ts';

/** Listeners by the name of their event. A function that listens twice is called twice. */
export interface Emitter<E> {
  on<N extends keyof E>(name: N, listener: (event: E[N]) => void): Off;
  /** Calls `listener` for the next event only. */
  once<N extends keyof E>(name: N, listener: (event: E[N]) => void): Off;
  /** Ends the listening of `listener` that began first. */
  off<N extends keyof E>(name: N, listener: (event: E[N]) => void): void;
  emit<N extends keyof E>(name: N, event: E[N]): void;
}

/** Makes an emitter. `onThrow` gets the error that a listener of `name` threw; the other listeners are still called. */
export function makeEmitter<E>(onThrow: (error: unknown, name: keyof E) => void): Emitter<E> {
  type Entry = { name: keyof E; listener: (event: never) => void; isOnce: boolean };
  const entries = new Set<Entry>();
  const listen = (name: keyof E, listener: Entry['listener'], isOnce = false): Off => {
    const entry = { name, listener, isOnce };
    entries.add(entry);
    return () => void entries.delete(entry);
  };
  return {
    on: listen,
    once: (name, listener) => listen(name, listener, true),
    off(name, listener) {
      for (const entry of entries) {
        if (entry.name === name && entry.listener === listener) return void entries.delete(entry);
      }
    },
    emit(name, event) {
      for (const entry of [...entries]) {
        if (entry.name !== name || (entry.isOnce && !entries.delete(entry))) continue;
        try {
          entry.listener(event as never);
        } catch (error) {
          onThrow(error, name);
        }
      }
    },
  };
}
