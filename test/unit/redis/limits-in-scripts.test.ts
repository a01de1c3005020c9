import { readFileSync } from 'node:fs';
import { LIMITS } from '../../../shared/contract/limits.ts';

const prelude = (name: string) =>
  readFileSync(new URL(`../../../services/sync/redis/prelude/${name}.lua`, import.meta.url), 'utf8');

test.each([
  ['transfer', 'FILES_IN_EVENTS', LIMITS.filesInEvents],
  ['transfer-told', 'TRANSFER_MS', LIMITS.transferSeconds * 1_000],
  ['transfer-end', 'ENDED_LIST_BYTES', LIMITS.endedListBytes],
])('%s.lua has the %s of the contract', (name, constant, value) => {
  expect(prelude(name)).toMatch(new RegExp(`^local ${constant} = ${value}$`, 'm'));
});
