import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { makeStillOpen } from '../support/still-open.ts';

const KEPT = `
  const server = require('node:net').createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    require('node:net').connect(port, '127.0.0.1', () => console.log(port));
  });`;

test('a process that does not end tells its sockets and where they lead, and leaves no file', async () => {
  const stillOpen = makeStillOpen('told');
  const child = spawn(process.execPath, [...stillOpen.flags, '--eval', KEPT], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = once(child, 'close');
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const told = await stillOpen.tell(child);
  child.kill('SIGKILL');
  await exited;

  const port = Number(text);
  expect(told).toContain(`tcp 127.0.0.1:${port} -> nowhere`);
  expect(told).toMatch(new RegExp(`tcp 127\\.0\\.0\\.1:\\d+ -> 127\\.0\\.0\\.1:${port}$`, 'm'));
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`baton-open-${process.pid}-`))).toEqual([]);
});
