import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* The programs of Windows are not here: what the service asks of them is noted. */

const { jest } = import.meta as unknown as {
  jest: { unstable_mockModule: (name: string, ...made: unknown[]) => void };
};

const told: string[] = [];
const says: Record<string, string> = {};

async function runProgram(program: string, args: readonly string[]) {
  told.push([program, ...args].join(' '));
  return { status: 0, said: says[program] ?? '' };
}

jest.unstable_mockModule('../../../services/cli/service/running.ts', () => ({ runProgram, mustRun: runProgram }));
const { supervisorOf } = await import('../../../services/cli/service/supervisors.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "baton-windows'-"));
  told.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

const TASK = { command: ['C:\\node.exe', 'C:\\baton.js', 'receive'], environment: {}, umask: 0o022 };

test('a new installation ends the program that runs, not only its script, before it starts the task', async () => {
  const supervisor = supervisorOf('win32', folder);
  await supervisor?.install(TASK);
  expect(supervisor?.programs()).toEqual(TASK.command.slice(0, 2));
  expect(told.map((line) => /taskkill|\/(?:End|Create|Run)\b/.exec(line)?.[0])).toEqual([
    ...['taskkill', '/End', '/Create', '/Run'],
  ]);
  expect(told[0]).toContain(`.Contains('${folder.replaceAll("'", "''")}/baton-receive.js')`);
});

test.each([
  ['4', 'running'],
  ['3', 'stopped'],
])('the state %s is %s, in whatever language', async (number, state) => {
  Object.assign(says, { schtasks: '"baton-receive","N/A","Wird ausgeführt"', powershell: number });
  expect(await supervisorOf('win32', folder)?.state()).toBe(state);
});
