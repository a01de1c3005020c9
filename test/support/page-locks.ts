/** The locks of a browser, for tests of what its pages do with them. */

interface Holding {
  readonly name: string;
  readonly clientId: string;
  /** Ends the holding, because another page has taken the lock. */
  lose(error: DOMException): void;
}

interface Waiter {
  readonly name: string;
  begin(): void;
}

type Work = (lock: Lock) => unknown;

const ended = (): DOMException => new DOMException('The lock was taken, or the wait ended', 'AbortError');

/** Makes the locks of one browser. The returned function makes those of a page, as its `navigator` has them. */
export function makePageLocks() {
  const held = new Map<string, Holding>();
  const waiting: Waiter[] = [];

  function next(name: string): void {
    if (held.has(name)) return;
    const at = waiting.findIndex((one) => one.name === name);
    if (at >= 0) waiting.splice(at, 1)[0]?.begin();
  }

  const request = (clientId: string, name: string, options: LockOptions, work: Work): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const begin = (): void => {
        const holding = { name, clientId, lose: reject };
        held.set(name, holding);
        const done = (): void => {
          if (held.get(name) !== holding) return;
          held.delete(name);
          next(name);
        };
        Promise.resolve()
          .then(() => work({ name, mode: 'exclusive' }))
          .then(resolve, reject)
          .finally(done);
      };
      if (options.steal) {
        held.get(name)?.lose(ended());
        return begin();
      }
      const waiter = { name, begin };
      options.signal?.addEventListener('abort', () => {
        if (!waiting.includes(waiter)) return;
        waiting.splice(waiting.indexOf(waiter), 1);
        reject(ended());
      });
      waiting.push(waiter);
      next(name);
    });

  return (clientId: string) => ({
    request: (name: string, ...rest: [Work] | [LockOptions, Work]) =>
      rest.length === 1 ? request(clientId, name, {}, rest[0]) : request(clientId, name, ...rest),
    query: async () => ({ held: [...held.values()].map(({ name, clientId: id }) => ({ name, clientId: id })) }),
  });
}

/** Makes the class of channels between pages. As in a browser, a channel does not deliver to itself. */
export function makeChannels() {
  const all = new Set<Channel>();
  class Channel extends EventTarget {
    readonly name: string;
    constructor(name: string) {
      super();
      this.name = name;
      all.add(this);
    }
    postMessage(data: unknown): void {
      for (const one of all) {
        if (one === this || one.name !== this.name) continue;
        void Promise.resolve().then(() => one.dispatchEvent(new MessageEvent('message', { data })));
      }
    }
    close(): void {
      all.delete(this);
    }
  }
  return Channel;
}
