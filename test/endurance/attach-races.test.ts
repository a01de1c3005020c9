import { type Site, startSite } from '../support/site.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.stop());

// Proves G1.
test('an append raced against an attach is always seen, thousands of times', async () => {
  const rounds = 100;
  const racers = 20;
  const race = async () => {
    const [laptop, phone] = await site.enrol('Laptop', 'Phone');
    let position: string | null = null;
    for (let round = 0; round < rounds; round++) {
      const content = `round ${round}`;
      const sent = laptop.on(round % 2 ? site.one : site.two).call('sendMessage', { body: { to: 'Phone', content } });
      const stream = phone.listen(round % 3 ? site.two : site.one, position ?? undefined);
      const { data } = await stream.next('message', (event) => event.data.content === content);
      await sent;
      await phone.on(site.one).call('ackMessages', { body: { message_ids: [data.message_id] } });
      await stream.stop();
      position = stream.stream.lastEventId;
    }
  };

  await expect(Promise.all(Array.from({ length: racers }, race))).resolves.toHaveLength(racers);
}, 240_000);
