import type { Transfer } from '../../shared/contract/modules/transfers.ts';
import { LIMITS } from '../../shared/contract/limits.ts';
import { makeKeys } from '../../services/sync/redis/keys.ts';
import type { TestDevice } from '../support/device.ts';
import { type Site, startSite } from '../support/site.ts';
import { expectProblem, request, type WireAnswer } from '../support/wire.ts';
import { makeParties, offer, type Parties } from './parties.ts';

/* Tests what one party can say about a transfer: its own numbers and words, and never those of the other party. */

let site: Site;
beforeAll(async () => {
  site = await startSite({ APP_RATE_LIMIT_SCALE: '0' });
});
afterEach(() => site.closeStreams());
afterAll(() => site.stop());

const MOST = 999_999_999_999_999;

const act = (device: TestDevice, { transfer_id: id }: Transfer, action: string, body: object = {}) =>
  request(site.two, { method: 'POST', path: `/api/transfer/${id}/${action}`, headers: device.headers, body });
const tell = (device: TestDevice, transfer: Transfer, progress: unknown) =>
  act(device, transfer, 'phase', { phase: 'transferring', progress });
const shown = ({ body }: WireAnswer): Transfer => (body as { transfer: Transfer }).transfer;
const read = async ({ sender }: Parties, { transfer_id }: Transfer): Promise<Transfer> =>
  (await sender.on(site.one).call('getTransfer', { params: { transfer_id } })).body.transfer;

async function started(files?: object[]) {
  const parties = await makeParties(site.one);
  return { parties, transfer: await offer(parties, site.one, files) };
}

describe('progress', () => {
  test('is told by each side with its own number, up to the total', async () => {
    const { parties, transfer } = await started([
      { name: 'a', size: 7 },
      { name: 'b', size: 5 },
    ]);
    expect(shown(await tell(parties.sender, transfer, { sent_bytes: 12 })).progress).toEqual({
      sent_bytes: 12,
      received_bytes: 0,
    });
    expect(shown(await tell(parties.receiver, transfer, { received_bytes: 12 })).progress).toEqual({
      sent_bytes: 12,
      received_bytes: 12,
    });
    expect((await tell(parties.sender, transfer, {})).status).toBe(200);
  });

  const WRONG = [
    ['more than the total', 'sender', { sent_bytes: 13 }],
    ['more than the total', 'receiver', { received_bytes: 13 }],
    ['the largest safe integer', 'sender', { sent_bytes: Number.MAX_SAFE_INTEGER }],
    ['the largest safe integer', 'receiver', { received_bytes: Number.MAX_SAFE_INTEGER }],
    ['the largest size', 'sender', { sent_bytes: MOST }],
    ["the other side's number", 'sender', { received_bytes: 1 }],
    ["the other side's number", 'receiver', { sent_bytes: 1 }],
    ["the other side's number beside its own", 'sender', { sent_bytes: 1, received_bytes: 0 }],
    ["the other side's number beside its own", 'receiver', { sent_bytes: 0, received_bytes: 1 }],
    ['less than nothing', 'sender', { sent_bytes: -1 }],
    ['a part of a byte', 'receiver', { received_bytes: 0.5 }],
    ['a text', 'sender', { sent_bytes: '1' }],
  ] as const;

  test.each(WRONG)('that is %s is refused, and changes nothing: %s', async (_what, side, progress) => {
    const { parties, transfer } = await started([{ name: 'a', size: 12 }]);
    const answer = await tell(parties[side], transfer, progress);
    const { errors } = expectProblem(answer, 'invalid_request');
    expect(errors?.[0]?.path).toMatch(/^\/body\/progress\/(sent|received)_bytes$/);
    expect(await read(parties, transfer)).toMatchObject({ phase: 'initializing', progress: transfer.progress });
  });

  test('is exact to the last byte of the largest transfer', async () => {
    const { parties, transfer } = await started([
      { name: 'a', size: MOST - 1 },
      { name: 'b', size: 1 },
    ]);
    expect(transfer.total_bytes).toBe(MOST);
    expect(shown(await tell(parties.sender, transfer, { sent_bytes: MOST - 1 })).progress.sent_bytes).toBe(MOST - 1);
    expect(shown(await tell(parties.sender, transfer, { sent_bytes: MOST })).progress.sent_bytes).toBe(MOST);
    expectProblem(await tell(parties.sender, transfer, { sent_bytes: MOST + 1 }), 'invalid_request');
  });
});

describe('sizes', () => {
  test('end at the largest Upload-Offset', () => expect(LIMITS.fileBytes).toBe(MOST));

  test.each([[[MOST + 1]], [[MOST, 1]], [[500_000_000_000_000, 500_000_000_000_000]], [[Number.MAX_SAFE_INTEGER]]])(
    'of %j are refused',
    async (sizes) => {
      const files = sizes.map((size, i) => ({ name: `${i}`, size }));
      await expect(started(files)).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  test('of the largest file can be acknowledged and asked for in the relay', async () => {
    const { parties, transfer } = await started([{ name: 'a', size: MOST }]);
    await act(parties.sender, transfer, 'relay');
    await act(parties.receiver, transfer, 'accept');
    const path = `/api/relay/${transfer.transfer_id}/0/0`;
    const acknowledge = (received_bytes: unknown) =>
      request(site.one, {
        method: 'POST',
        path: `${path}/ack`,
        headers: parties.receiver.headers,
        body: { received_bytes },
      });
    const append = (offset: string) =>
      request(site.one, {
        method: 'PATCH',
        path,
        headers: { ...parties.sender.headers, 'Upload-Offset': offset, 'Content-Type': 'application/partial-upload' },
        body: Buffer.from('x'),
      });
    for (const wrong of [MOST + 1, Number.MAX_SAFE_INTEGER, -1, 0.5, '1', null]) {
      expectProblem(await acknowledge(wrong), 'invalid_request');
    }
    expect((await append(String(MOST))).body).toMatchObject({ code: 'offset_mismatch', 'provided-offset': MOST });
    expectProblem(await append(String(MOST + 1)), 'invalid_request');
    expect((await acknowledge(MOST)).status).toBe(204);
    const head = await request(site.two, { method: 'HEAD', path, headers: parties.sender.headers });
    expect([head.headers['upload-offset'], head.headers['upload-length']]).toEqual([String(MOST), String(MOST)]);
    expect((await read(parties, transfer)).progress.received_bytes).toBe(MOST);
  });

  test('a file is not acknowledged beyond its size, also where others of the transfer are larger', async () => {
    const { parties, transfer } = await started([
      { name: 'a', size: 3 },
      { name: 'b', size: 100 },
    ]);
    await act(parties.sender, transfer, 'relay');
    await act(parties.receiver, transfer, 'accept');
    const path = `/api/relay/${transfer.transfer_id}/0/0/ack`;
    const acknowledge = (received_bytes: number) =>
      request(site.one, { method: 'POST', path, headers: parties.receiver.headers, body: { received_bytes } });
    expect(expectProblem(await acknowledge(4), 'invalid_request').errors?.[0]?.path).toBe('/body/received_bytes');
    expect((await read(parties, transfer)).progress.received_bytes).toBe(0);
    expect((await acknowledge(3)).status).toBe(204);
  });
});

describe('an end', () => {
  test.each(['rejected', 'cancelled', 'failed'])('for the reason %j is refused, and nothing ends', async (reason) => {
    const { parties, transfer } = await started();
    for (const side of ['sender', 'receiver'] as const) {
      for (const action of ['fail', 'cancel']) {
        const answer = await act(parties[side], transfer, action, { reason, phase: 'peer_offline' });
        expect(expectProblem(answer, 'invalid_request').errors?.[0]?.path).toBe('/body/reason');
      }
    }
    expect(await read(parties, transfer)).toMatchObject({ state: 'PENDING', error: null });
  });

  test.each(['rejected by me', 'failed2', 'Cancelled', 'sink_failed'])(
    'for another reason is told: %j',
    async (reason) => {
      const { parties, transfer } = await started();
      expect(shown(await act(parties.sender, transfer, 'fail', { reason })).error?.code).toBe(reason);
    },
  );

  test.each([
    ['sender', 'fail', { reason: 'source_failed' }, 'source_failed'],
    ['receiver', 'fail', { phase: 'peer_offline' }, 'peer_offline'],
    ['sender', 'fail', {}, 'failed'],
    ['sender', 'cancel', {}, 'cancelled'],
    ['receiver', 'cancel', { reason: 'no room' }, 'no room'],
    ['receiver', 'reject', {}, 'rejected'],
  ] as const)('says which party it was, to both: %s %s', async (side, action, body, code) => {
    const { parties, transfer } = await started();
    const streams = [parties.sender, parties.receiver].map((device) => site.listen(device, site.one));
    await Promise.all(streams.map((stream) => stream.next('ready')));
    const error = { code, detail: null, by_device_id: parties[side].id };
    expect(shown(await act(parties[side], transfer, action, body)).error).toEqual(error);
    for (const stream of streams) expect((await stream.next('transfer:updated')).data.transfer.error).toEqual(error);
    const listed = await parties.receiver.on(site.two).call('listTransfers');
    expect(listed.body.transfers[0]?.error).toEqual(error);
  });

  test('that the service brought about names no party', async () => {
    const { parties, transfer } = await started();
    const removing = { method: 'DELETE', path: `/api/devices/${parties.receiver.id}`, headers: parties.third.headers };
    expect((await request(site.one, removing)).status).toBe(204);
    expect((await read(parties, transfer)).error).toEqual({ code: 'device_removed', detail: null, by_device_id: null });
  });

  test('of a record of before says that nobody is known', async () => {
    const { parties, transfer } = await started();
    await act(parties.sender, transfer, 'cancel');
    const key = makeKeys(site.prefix).transfer(parties.user, transfer.transfer_id);
    await site.redis.hset(key, 'error', '{"code":"cancelled","detail":null}');
    expect((await read(parties, transfer)).error).toEqual({ code: 'cancelled', detail: null, by_device_id: null });
  });

  test('that was cancelled cannot be made a refusal afterwards', async () => {
    const { parties, transfer } = await started();
    await act(parties.sender, transfer, 'fail', { reason: 'over' });
    const refused = await act(parties.receiver, transfer, 'reject');
    expect(refused.body).toMatchObject({ status: 409, code: 'invalid_transition', state: 'FAILED' });
  });
});
