import { act, idOf, longFiles } from './offers.ts';
import type { AttackDevice, Scenario } from './scenario.ts';

const FILES = 1_000;
/** Bodies are serialized once, because the load generator shares the machine with what it measures. */
const bodies = new Map<string, Buffer>();

const bodyTo = ({ id }: AttackDevice): Buffer => {
  const body = bodies.get(id) ?? Buffer.from(JSON.stringify({ to_device_id: id, files: longFiles(FILES) }));
  bodies.set(id, body);
  return body;
};

export const transferInits: Scenario = {
  name: 'transfer-inits',
  what: 'offers of 1,000 files with long names, cancelled at once',
  works: /^201/,
  begin(attack) {
    const [first, second] = attack.devices as [AttackDevice, AttackDevice];
    attack.loop('initTransfer', async (device) => {
      const body = bodyTo(device === first ? second : first);
      const id = idOf(await attack.ask(device, { method: 'POST', path: '/api/transfer/init', body }));
      if (id !== null) await act(attack, device, id, 'cancel');
    });
  },
};
