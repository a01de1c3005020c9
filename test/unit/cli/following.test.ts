import { makeFollowing } from '../../../services/cli/clipboard/following.ts';
import type { ReceivedText } from '../../../shared/client/sealing.ts';

/* The clipboard of a computer and that of the account, both of which change while there is no network. */

/** Follows two clipboards. The times are those of the service. */
async function follow() {
  const here = { text: 'was there before' };
  const there = { text: 'was there too', t: 0, isOwn: false };
  const said: string[] = [];
  let now = 1_000;
  let isOffline = false;
  const online = () => {
    if (isOffline) throw Object.assign(new Error('offline'), { errno: 1 });
  };
  const following = await makeFollowing({
    system: {
      read: async () => ({ text: here.text, isSecret: false }),
      async write(text) {
        here.text = text;
      },
    },
    account: {
      async read() {
        online();
        const { text, t, isOwn } = there;
        const received = { kind: 'opened', text, t, sender: {} } as unknown as ReceivedText;
        return { from: 'Phone', isOwn, isOfMember: true, updatedAt: t, received };
      },
      async write(text) {
        online();
        Object.assign(there, { text, t: now, isOwn: true });
      },
    },
    told: {
      sent: (bytes) => void said.push(`sent ${bytes}`),
      taken: (bytes, from) => void said.push(`taken ${bytes} from ${from}`),
      left: (why, from) => void said.push(`left ${from ?? 'here'}: ${why}`),
    },
    serverNow: () => now,
    before: 0,
  });
  return {
    ...{ here, there, said, following },
    copyHere(at: number, text: string) {
      now = at;
      here.text = text;
    },
    copyThere: (at: number, text: string) => void Object.assign(there, { text, t: at, isOwn: false }),
    offline(is: boolean) {
      isOffline = is;
    },
    at(ms: number) {
      now = ms;
    },
  };
}

test('after a time without network the text that was copied last wins, and the user hears of the other one', async () => {
  const one = await follow();
  one.offline(true);
  one.copyHere(2_000, 'copied here');
  await expect(one.following.lookHere()).rejects.toThrow('offline');
  one.copyThere(3_000, 'copied there');
  one.at(9_000);
  one.offline(false);
  await one.following.lookHere();
  expect([one.here.text, one.there.text]).toEqual(['copied there', 'copied there']);
  expect(one.said).toEqual(['taken 12 from Phone', 'left here: A text that was copied there later took its place']);
});

test('a text that was copied here later is sent, and the user hears of the other one', async () => {
  const one = await follow();
  one.offline(true);
  one.copyThere(2_000, 'copied there');
  one.copyHere(3_000, 'copied here');
  await expect(one.following.lookHere()).rejects.toThrow('offline');
  one.offline(false);
  await one.following.lookThere();
  expect([one.here.text, one.there.text]).toEqual(['copied here', 'copied here']);
  expect(one.said).toEqual(['sent 11', 'left Phone: A text that was copied here later took its place']);
});

test('the time of a text is when it was copied, and not when it could be sent', async () => {
  const one = await follow();
  one.offline(true);
  one.copyHere(2_000, 'first');
  await expect(one.following.lookHere()).rejects.toThrow('offline');
  one.copyHere(4_000, 'copied here');
  await one.following.noteHere();
  one.copyThere(3_000, 'copied there');
  one.at(9_000);
  one.offline(false);
  await one.following.lookThere();
  expect([one.here.text, one.there.text]).toEqual(['copied here', 'copied here']);
});

test('an entry that was there before the command takes no place, and is not spoken of', async () => {
  const one = await follow();
  one.offline(true);
  one.copyHere(2_000, 'copied here');
  await expect(one.following.lookHere()).rejects.toThrow('offline');
  one.offline(false);
  await one.following.lookHere();
  expect(one.there.text).toBe('copied here');
  expect(one.said).toEqual(['sent 11']);
});
