import { LIMITS } from '../../../shared/contract/limits.ts';

/*
 * Clients by other authors compute with these numbers. The other tests name the limits by their constants, and so
 * follow a change.
 */

test('the limits of what devices seal, and of their rings, are the published ones', () => {
  expect(LIMITS).toMatchObject({
    ...{ sealedMessageBytes: 4_480, sealedClipboardBytes: 81_920, sealedGrantBytes: 2_048, sealedBytes: 524_288 },
    ...{ ringMembers: 80, ringBytes: 65_536, ringsPerPage: 8, rings: 1_024, ringsBytes: 4_194_304 },
    deletionSeconds: 86_400,
  });
});
