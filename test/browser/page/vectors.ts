import { type Rfc9180, vectorChecks, type Vectors } from '../../support/sealed/vector-checks.ts';

const read = async <T>(name: string): Promise<T> => (await (await fetch(name)).json()) as T;

/** Runs all checks. Resolves to their results, as JSON. */
async function checkVectors(): Promise<string> {
  const checks = vectorChecks(await read<Vectors>('sealed.json'), await read<Rfc9180>('rfc9180.json'));
  const outcomes: object[] = [];
  for (const { title, run } of checks) {
    outcomes.push({ title, ...(await run().catch((error: unknown) => ({ got: String(error), wanted: null }))) });
  }
  return JSON.stringify(outcomes);
}

Object.assign(globalThis, { checkVectors });
