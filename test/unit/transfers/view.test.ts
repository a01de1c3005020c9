import type { StoredTransfer } from '../../../services/sync/transfers/store.ts';
import { headOf, viewFor } from '../../../services/sync/transfers/view.ts';
import type { Transfer } from '../../../shared/contract/modules/transfers.ts';

const url = (index: number, generation: number) => `/api/relay/t1/${index}/${generation}`;

/**
 * Returns a transfer by the laptop in the form of the store. It has two files, and the second has begun in the relay.
 */
function stored({
  state = 'RELAY_ACTIVE',
  count = 2,
  ...parts
}: { state?: string; count?: number } & Partial<StoredTransfer>) {
  const head = { transfer_id: 't1', state, sender: { device_id: 'laptop' }, file_count: count };
  return {
    openJson: JSON.stringify(head).slice(0, -1),
    files: '[{"index":0},{"index":1}]',
    relayInUse: true,
    generations: new Map([[1, { generation: 3, base: 512 }]]),
    ...parts,
  };
}

function view(device: string, transfer: StoredTransfer, offsets?: ReadonlyMap<number, number>): Partial<Transfer> {
  return JSON.parse(viewFor(device, transfer, offsets)) as Partial<Transfer>;
}

test('a party sees the transfer with its files', () => {
  const transfer = stored({ relayInUse: false });
  expect(view('laptop', transfer)).toEqual({ ...headOf(transfer), files: [{ index: 0 }, { index: 1 }] });
  expect(view('phone', transfer)).toEqual(view('laptop', transfer));
});

test('a transfer whose long list was not read has neither files nor addresses', () => {
  const transfer = stored({ files: null });
  for (const device of ['laptop', 'phone']) expect(view(device, transfer)).toEqual(headOf(transfer));
});

describe('once the relay is in use', () => {
  test('the sender sees where each file is to be uploaded, and from which byte on', () => {
    const { uploads, downloads } = view('laptop', stored({}));
    expect(uploads).toEqual([
      { index: 0, upload_url: url(0, 0), offset: 0 },
      { index: 1, upload_url: url(1, 3), offset: 512 },
    ]);
    expect(downloads).toBeUndefined();
  });

  test('an upload goes on behind the bytes that the relay has, also where that is at the start', () => {
    const { uploads } = view('laptop', stored({}), new Map([[1, 2_048]]));
    expect(uploads?.map(({ offset }) => offset)).toEqual([0, 2_048]);
    const anew = view('laptop', stored({}), new Map([[1, 0]]));
    expect(anew.uploads?.map(({ offset }) => offset)).toEqual([0, 0]);
  });

  test('the receiver sees where each file is to be downloaded', () => {
    const { uploads, downloads } = view('phone', stored({}));
    expect(downloads).toEqual([
      { index: 0, download_url: url(0, 0) },
      { index: 1, download_url: url(1, 3) },
    ]);
    expect(uploads).toBeUndefined();
  });

  test.each([
    ['is live', 'RELAY_ACTIVE', 17],
    ['has ended with its whole list', 'DONE', 16],
  ])('a transfer that %s has the addresses of all of its files', (_, state, count) => {
    const transfer = stored({ state, count });
    expect(view('laptop', transfer).uploads?.map(({ index }) => index)).toEqual([...Array(count).keys()]);
    expect(view('phone', transfer).downloads?.map(({ index }) => index)).toEqual([...Array(count).keys()]);
  });

  test.each(['DONE', 'FAILED', 'CANCELLED'])('a transfer whose list was cut with its end has none: %s', (state) => {
    const transfer = stored({ state, count: 17 });
    for (const device of ['laptop', 'phone'])
      expect(view(device, transfer)).toEqual({ ...headOf(transfer), files: [{ index: 0 }, { index: 1 }] });
  });
});
