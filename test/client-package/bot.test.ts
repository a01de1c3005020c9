import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { approval } from '../signin/parties.ts';
import { type SignInSite, startSignInSite } from '../support/sign-in/sign-in.ts';
import { type Installed, installClient } from './installed.ts';

let site: SignInSite;
let installed: Installed;
beforeAll(async () => {
  [site, installed] = await Promise.all([startSignInSite({ APP_RATE_LIMIT_SCALE: '0' }), installClient()]);
  cpSync(join(installed.folder, 'node_modules/@baton/client/examples'), installed.folder, { recursive: true });
}, 150_000);
afterAll(async () => {
  installed.remove();
  await site.stop();
});

test('the bot of the example is let in by its link, and answers', async () => {
  const laptop = await site.signIn();
  const onLaptop = laptop.listen(site.two);
  await onLaptop.next('ready');
  const bot = installed.start('echo-bot.mjs', {}, [site.one.url, 'bot.json']);
  const link = new URL((await bot.saying(/^Approve: (.*)$/))[1] as string);
  const asked = { requestId: link.searchParams.get('r') ?? '', code: link.searchParams.get('c') ?? '' };
  await laptop.ask(site.one, approval({ ...asked, secret: '', payload: '' }, { persist: 'persist' }));
  await bot.saying(/^Online$/);

  const { device } = (await onLaptop.next('device:added')).data;
  const body = { to_device_id: device.device_id, content: 'hello' };
  await laptop.ask(site.two, { method: 'POST', path: '/api/message', body });
  expect((await onLaptop.next('message')).data).toMatchObject({ content: 'You said: hello', from_name: device.name });
  await onLaptop.next('message:delivered');

  bot.process.kill('SIGTERM');
  await bot.done;
  await onLaptop.stop();
});
