import type { Off } from './api.ts';

/** Listeners by the name of their event. */
export interface Emitter<E> {
  on<N extends keyof E>(name: N, listener: (event: E[N]) => void): Off;
  emit<N extends keyof E>(name: N, event: E[N]): void;
}

/** Makes an emitter. `onThrow` gets the error that a listener threw; the other listeners are called all the same. */
export function makeEmitter<E>(onThrow: (error: unknown) => void): Emitter<E> {
  const listeners = new Map<keyof E, Set<(event: never) => void>>();
  return {
    on(name, listener) {
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all);
      // A function of its own, because the same function may listen twice.
      const own = (event: never) => listener(event);
      all.add(own);
      return () => void all.delete(own);
    },
    emit(name, event) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          listener(event as never);
        } catch (error) {
          onThrow(error);
        }
      }
    },
  };
}
