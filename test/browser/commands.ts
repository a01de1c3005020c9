type Params = Record<string, unknown>;
type Listener = (params: Params) => void;

interface Message {
  id?: number;
  method?: string;
  params?: Params;
  result?: Params;
  error?: { message: string } | string;
  /** The message of an error, in the place where WebDriver BiDi puts it. */
  message?: string;
}

/** Commands of a browser's remote control, DevTools or WebDriver BiDi. Both are JSON with a number for the answer. */
export interface Commands {
  send(method: string, params?: Params, sessionId?: string): Promise<Params>;
  on(method: string, listener: Listener): void;
}

/**
 * Makes commands over a connection that takes texts. `take` gets what comes back; `lose` is called when nothing more
 * comes.
 */
export function makeCommands(write: (text: string) => void): Commands & { take(text: string): void; lose(): void } {
  const waiting = new Map<number, { resolve: (result: Params) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, Listener[]>();
  let last = 0;
  return {
    send(method, params = {}, sessionId) {
      last += 1;
      const id = last;
      write(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
    },
    on: (method, listener) => void listeners.set(method, [...(listeners.get(method) ?? []), listener]),
    take(text) {
      const { id, method = '', params = {}, result = {}, error, message = '' } = JSON.parse(text) as Message;
      for (const listener of listeners.get(method) ?? []) listener(params);
      const asker = id === undefined ? undefined : waiting.get(id);
      if (id !== undefined) waiting.delete(id);
      if (error === undefined) asker?.resolve(result);
      else asker?.reject(new Error(typeof error === 'string' ? `${error}: ${message}` : error.message));
    },
    lose() {
      for (const { reject } of waiting.values()) reject(new Error('The browser is gone'));
      waiting.clear();
    },
  };
}
