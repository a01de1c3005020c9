import type { Fault } from '../../chaos/history.ts';
import { type ObjectOperation, toLines } from '../../chaos/operations.ts';

const operation: ObjectOperation = {
  ...{ kind: 'clipboard', key: 'o000', account: 'o000', do: 'write', by: 'd0', value: 'v1', before: '' },
  ...{ begin: 10, end: null, said: null, read: '' },
};

const fault = (parts: Partial<Fault>): Fault => ({
  ...{ kind: 'k', target: 't', replica: null, accounts: null, startedAt: 100, endedAt: 200 },
  ...{ loss: null, movedClock: false, hidesDevices: false, broken: null },
  ...parts,
});

const linesOf = (faults: Fault[]): unknown[] =>
  toLines([operation], faults)
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

test('an operation without an answer has no end', () => {
  expect(linesOf([])).toEqual([operation]);
});

test('only faults that may lose writes, or set the clock, are told, with the accounts that they concern', () => {
  const faults = [
    fault({}),
    fault({ loss: { since: 50, until: 150, times: 1 }, accounts: ['o000'] }),
    fault({ loss: { since: null, until: 260, times: 1 } }),
    fault({ movedClock: true }),
  ];
  expect(linesOf(faults)).toEqual([
    { kind: 'loss', accounts: ['o000'], begin: 100, end: 200, clock: false },
    { kind: 'loss', accounts: [], begin: 100, end: 260, clock: false },
    { kind: 'loss', accounts: [], begin: 100, end: 200, clock: true },
    operation,
  ]);
});
