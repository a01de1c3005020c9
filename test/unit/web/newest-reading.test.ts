import { makeNewestReading } from '../../../services/web/view/keys/newest-reading.ts';

test.each(['answer', 'failure'] as const)('an older %s that comes later changes nothing', async (kind) => {
  const ends: { answer(found: string): void; failure(error: Error): void }[] = [];
  const taken: unknown[] = [];
  const read = makeNewestReading(
    () => new Promise<string>((answer, failure) => void ends.push({ answer, failure: (error) => failure(error) })),
  );
  const take = (found: unknown) => void taken.push(found);
  const both = [read(take, take), read(take, take)];
  ends[1]?.answer('newer');
  if (kind === 'answer') ends[0]?.answer('older');
  else ends[0]?.failure(new Error('older'));
  await Promise.all(both);
  expect(taken).toEqual(['newer']);
});
