import { silence } from '../open-database.ts';

/** How long a database may answer nothing. A lot of work may take longer, as long as some of it is done meanwhile. */
const SILENT_MS = 5_000;
/** The limit after a silence, until the database answers again. */
const THEN_MS = 1_000;

/**
 * Makes a function that waits for work in a database. All work that waits rejects together with `TimeoutError` when the
 * database has answered nothing for a time: a browser may keep an answer to itself for ever.
 */
export function makeAnswering(): <T>(work: Promise<T>) => Promise<T> {
  const waiting = new Set<(error: Error) => void>();
  let limitMs = SILENT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function giveUp(): void {
    limitMs = THEN_MS;
    const all = [...waiting];
    waiting.clear();
    for (const fail of all) fail(silence());
  }

  function listen(): void {
    clearTimeout(timer);
    if (waiting.size > 0) timer = setTimeout(giveUp, limitMs);
  }

  return <T>(work: Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.add(reject);
      if (waiting.size === 1) listen();
      const heard = (): void => {
        limitMs = SILENT_MS;
        if (waiting.delete(reject)) listen();
      };
      work.finally(heard).then(resolve, reject);
    });
}
