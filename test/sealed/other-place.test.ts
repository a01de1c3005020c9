import { WORDS_ID } from '../../shared/client/sealed/ring/words-member.ts';
import { type Site, startSite } from '../support/site.ts';
import { makeWorld } from './hostile/world.ts';

/* This service says that a device which asks to be let in is another device of the account. */

let site: Site;
beforeAll(async () => {
  site = await startSite({}, { alone: true });
});
afterAll(() => site.stop());

const ACCESS = { member: {}, guest: { scope: 'full', persist: 'once' } } as const;

test.each(Object.entries(ACCESS))(
  'a new device, as a %s, gets the place of no other device, and not that of the recovery words',
  async (_, access) => {
    const { ann, bob, dan, mallory: guest, server, link, admit } = await makeWorld(1, site.one);
    await ann.sealing.rings.create({ kind: 'cli' });
    await admit(ann, 'keys');
    expect([await link(ann, bob), await link(ann, guest, ACCESS.guest)]).toEqual([true, true]);
    await ann.sealing.recovery.makeWords();
    const before = await ann.sealing.rings.current();
    for (const id of [ann.id, bob.id, guest.id, WORDS_ID]) {
      server.asksAs = id;
      expect(await link(ann, dan, access)).toBe(false);
    }
    const after = await ann.sealing.rings.current();
    expect([after?.ring.body, after?.guests]).toEqual([before?.ring.body, before?.guests]);
    server.asksAs = null;
    expect(await link(ann, dan, access)).toBe(true);
  },
);
