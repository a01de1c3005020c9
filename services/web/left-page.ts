/*
 * A browser may keep a page that is left, as it is, for the way back. WebKit does so in the middle of a transaction of
 * IndexedDB, which then never ends, and no later page reads or writes the stores that it holds (seen in WebKitGTK 2.50). So
 * a page that may be kept aborts its transactions and begins no more. Nothing that it waits for counts as stored. When
 * somebody comes back to it, it is loaded again.
 */

interface Transaction {
  readonly db: { readonly name: string };
  readonly done: Promise<unknown>;
  abort(): void;
}

const running = new Set<Transaction>();
let isLeft = false;

function abort(transaction: Transaction): void {
  try {
    transaction.abort();
  } catch {
    // The browser commits it already, and needs the page no more.
  }
}

/** Aborts what waits in a database that does not answer, because it is done again in another way. */
export function abortIn(name: string): void {
  for (const transaction of running) if (transaction.db.name === name) abort(transaction);
}

/** Called once, when the page begins. */
export function watchLeaving(): void {
  addEventListener('pagehide', ({ persisted }) => {
    if (!persisted) return;
    isLeft = true;
    for (const transaction of running) abort(transaction);
  });
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

/** Tells whether the browser keeps this page for the way back, so that its databases refuse everything. */
export const isPageLeft = (): boolean => isLeft;

/** Begins a transaction that ends with the page. Throws when the page was left. */
export function untilLeft<T extends Transaction>(begin: () => T): T {
  if (isLeft) throw new Error('The page was left');
  const transaction = begin();
  running.add(transaction);
  const end = () => void running.delete(transaction);
  transaction.done.then(end, end);
  return transaction;
}
