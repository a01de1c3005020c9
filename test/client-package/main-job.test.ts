import { join } from 'node:path';
import { startDeviceSession } from '../../shared/client/session/sign-in.ts';
import { fileSession } from '../../shared/client/node/session.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { MIB, writeFile } from '../relay/support/relayed.ts';
import { type Installed, installClient } from './installed.ts';

let site: SignInSite;
let installed: Installed;
beforeAll(async () => {
  [site, installed] = await Promise.all([startSignInSite({ APP_RATE_LIMIT_SCALE: '0' }), installClient()]);
});
afterAll(async () => {
  installed.remove();
  await site.stop();
});

/** Writes the session of a first device into a file, as a person has it after a login in a browser. */
async function firstDevice(path: string): Promise<void> {
  const login = await site.logIn();
  await startDeviceSession({
    baseUrl: site.one.url,
    headers: { Cookie: login.cookie, Origin: 'http://localhost:8080' },
    ...{ deviceId: crypto.randomUUID(), deviceName: 'Laptop', deviceType: 'linux' },
    session: fileSession(path),
  });
}

test('a stranger signs a device in, talks, copies, passes 200 MiB on past a replica that is killed, and is signed out', async () => {
  const session = join(installed.folder, 'laptop.json');
  await firstDevice(session);
  const file = writeFile(installed.folder, 'big.bin', 200 * MIB);
  const program = installed.start('main-job.mjs', {
    ...{ URLS: `${site.one.url} ${site.two.url}`, SESSION: session },
    ...{ FILE: file.path, INTO: join(installed.folder, 'received') },
  });

  expect(await program.next('signed in')).toMatchObject({ asked: 'Phone', device: 'Phone' });
  expect(await program.next('delivered')).toMatchObject({ messages: ['hello'], isIt: true });
  expect(await program.next('copied')).toMatchObject({ bytes: 6, content: 'copied' });
  await program.next('half');
  await site.two.kill();
  const stored = await program.next('stored');
  process.stdout.write(`200 MiB, a replica killed: ${JSON.stringify(stored)}\n`);
  expect(stored).toMatchObject({ state: 'DONE', isEqual: true });
  expect(stored['told'] as number).toBeLessThanOrEqual((stored['ms'] as number) / 100 + 2);
  expect(await program.next('revoked')).toMatchObject({
    ...{ reason: 'revoked', code: 'signed_out', action: 'sign-in', kept: null },
  });
  await program.done;
}, 150_000);
