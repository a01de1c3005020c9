import { openStream } from '../load/sse.ts';
import { act, longFiles, offer } from './offers.ts';
import { ADDRESS, type AttackDevice, type Scenario } from './scenario.ts';

const PENDING = 50;
const DONE = 100;
/** Lists and events name this many files. */
const FILES_TOLD = 16;
const SEALED = 's'.repeat(16 * 1024);
const OPENINGS_PER_DEVICE = 3;

let long: string | null = null;
let pending: string[] = [];

export const transferReads: Scenario = {
  name: 'transfer-reads',
  what: 'lists of 100 ended transfers, one of 1,000 files read again and again, streams that open on 50 pending offers, phases',
  works: /^200/,
  async prepare(attack) {
    const [receiver, ...senders] = attack.devices as [AttackDevice, ...AttackDevice[]];
    const senderOf = (i: number) => senders[i % senders.length] as AttackDevice;
    const files = longFiles(FILES_TOLD);
    for (let i = 0; i < DONE; i += 1) {
      const id = await offer(attack, { sender: senderOf(i), receiver, files, sealed: SEALED });
      if (id === null) break;
      await act(attack, receiver, id, 'accept');
      await act(attack, receiver, id, 'p2p');
      await act(attack, receiver, id, 'complete');
    }
    const offered = [];
    for (let i = 0; i < PENDING; i += 1) {
      offered.push(await offer(attack, { sender: senderOf(i), receiver, files, sealed: SEALED }));
    }
    pending = offered.filter((id) => id !== null);
    long = await offer(attack, { sender: senderOf(0), receiver, files: longFiles(1_000) });
  },
  begin(attack) {
    const [receiver] = attack.devices as [AttackDevice];
    attack.loop('listTransfers', () => attack.ask(receiver, { path: '/api/transfer?state=DONE&limit=100' }));
    attack.loop('listTransfers', () => attack.ask(receiver, { path: '/api/transfer?limit=100' }));
    if (long !== null) attack.loop('getTransfer', () => attack.ask(receiver, { path: `/api/transfer/${long}` }));
    attack.loop('phaseTransfer', (_, i) => {
      const id = pending[i % pending.length] as string;
      return act(attack, receiver, id, 'phase', { phase: 'waiting_peer', progress: { received_bytes: i % 2 } });
    });
    const open = new Set<{ destroy(): void }>();
    attack.loop('openStream', () => {
      const socket = openStream({ url: receiver.url, headers: receiver.headers, from: ADDRESS });
      open.add(socket);
      attack.note('stream');
      if (open.size > OPENINGS_PER_DEVICE) {
        const [oldest] = open as unknown as [{ destroy(): void }];
        oldest.destroy();
        open.delete(oldest);
      }
      return Promise.resolve();
    });
    attack.onEnd(() => {
      for (const socket of open) socket.destroy();
    });
  },
};
