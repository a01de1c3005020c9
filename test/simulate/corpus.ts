/** Seeds that are run before a change is taken. Together they have every kind of fault, with two replicas and with three. */
export const CORPUS: readonly string[] = Array.from({ length: 12 }, (_, i) => String(i + 1));
