import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { GUARDS } from './guards.mjs';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test.each(GUARDS)(
  'the guard "$name" stands where `npm run test:guards` takes it out',
  ({ file, from, test: [path] }) => {
    expect(readFileSync(at(file), 'utf8').split(from)).toHaveLength(2);
    expect(existsSync(at(path))).toBe(true);
  },
);
