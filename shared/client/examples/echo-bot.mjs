/*
 * A bot that answers every message: `node echo-bot.mjs http://localhost:8080 ./session.json`. On its first start it shows a
 * link. Open the link on a device that is signed in.
 */
import { makeBatonClient, proposeDeviceName, requestSignIn } from '@baton/client';
import { fileSession } from '@baton/client/node';
import { hostname } from 'node:os';

const [baseUrl = 'http://localhost:8080', path = './session.json'] = process.argv.slice(2);
const session = fileSession(path);

if ((await session.load()) === null) {
  const deviceName = proposeDeviceName(`Bot on ${hostname()}`);
  const request = await requestSignIn({ baseUrl, deviceName, deviceType: 'linux', session });
  console.log(`Approve: ${request.link}`);
  await request.approved();
}

const baton = makeBatonClient({ baseUrl, session });
baton.on('problem', (problem) => console.error(problem.message));
baton.on('signed-out', (reason) => console.log(`Signed out: ${reason}`));
baton.messages.receive(async ({ content, from_device_id }) => {
  // A message is acknowledged when this function resolves: one that could not be answered comes again.
  if (from_device_id !== null) await baton.messages.send({ device_id: from_device_id }, `You said: ${content}`);
});
baton.start();
await baton.untilOnline();
console.log('Online');
process.once('SIGTERM', () => baton.close());
process.once('SIGINT', () => baton.close());
