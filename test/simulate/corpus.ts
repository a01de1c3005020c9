/**
 * Seeds that run before a change is merged. Together they have every kind of fault, with two replicas and with three.
 */
export const CORPUS: readonly string[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '18', '123'];
