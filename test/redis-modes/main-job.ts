import type { Presence } from '../../shared/contract/modules/presence.ts';
import { makeDevice, randomUser } from '../support/device.ts';
import { expectPromised } from '../support/promised.ts';
import type { ReplicaProcess } from '../support/replicas.ts';

export interface Replicas {
  one: ReplicaProcess;
  two: ReplicaProcess;
}

/** The lifetime is long enough for one read, and short enough to wait for. */
export const CLIPBOARD_ENV = { APP_CLIPBOARD_TTL_SECONDS: '5' };

/**
 * Describes the purpose of Baton as tests, for any kind of store. They need two replicas with `CLIPBOARD_ENV`; the last
 * one kills `two` and asks `restart` for another.
 */
export function describeMainJob(replicas: () => Replicas, restart: () => Promise<void>): void {
  const startPair = async () => {
    const { one, two } = replicas();
    const user = randomUser();
    const laptop = makeDevice({ user, name: 'Laptop' });
    const phone = makeDevice({ user, name: 'Phone' });
    const onLaptop = laptop.listen(one);
    await onLaptop.next('ready');
    const onPhone = phone.listen(two);
    await onPhone.next('ready');
    return { one, two, laptop, phone, onLaptop, onPhone };
  };

  test('devices on different replicas see each other and pass a message, which is acknowledged', async () => {
    const { one, two, laptop, phone, onLaptop, onPhone } = await startPair();
    await onLaptop.next('presence', ({ data }) => data.devices.some(({ name, online }) => name === 'Phone' && online));
    const { body: sent } = await laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: 'hello' } });
    const { data: message } = await onPhone.next('message');
    await phone.on(two).call('ackMessages', { body: { message_ids: [message.message_id] } });
    const { data: delivered } = await onLaptop.next('message:delivered');

    expect(sent.to).toEqual([{ device_id: phone.id, name: 'Phone', online: true, pushed: false }]);
    expect(message).toMatchObject({ from_device_id: laptop.id, content: 'hello', redelivered: false });
    expect(delivered).toMatchObject({ message_ids: [sent.message_id], by_device_id: phone.id });
    await Promise.all([onLaptop.stop(), onPhone.stop()]);
  });

  test('the clipboard crosses from one replica to the other and clears itself', async () => {
    const { one, two, laptop, phone, onLaptop, onPhone } = await startPair();
    await laptop.on(one).call('setClipboard', { body: { content: 'a text', content_type: 'text/plain' } });
    await onPhone.next('clipboard');
    const { body: there } = await phone.on(two).call('getClipboard');
    await Promise.all([onPhone.next('clipboard:cleared'), onLaptop.next('clipboard:cleared')]);
    const { body: gone } = await phone.on(two).call('getClipboard');
    await laptop.on(one).call('setClipboard', { body: { content: 'another', content_type: 'text/plain' } });
    await phone.on(two).call('clearClipboard');
    await onLaptop.next('clipboard:cleared');

    expect(there).toMatchObject({ content: 'a text', source_device_name: 'Laptop' });
    expect(gone).toMatchObject({ content: '', source_device_name: null });
    await Promise.all([onLaptop.stop(), onPhone.stop()]);
  });

  test('a new name reaches the other replica, as an event and in presence', async () => {
    const { two, phone, onLaptop, onPhone } = await startPair();
    await phone.on(two).call('renameDevice', { params: { device_id: phone.id }, body: { name: 'Pocket' } });
    const { data: renamed } = await onLaptop.next('device:renamed');
    await onLaptop.next('presence', ({ data }) => data.devices.some(({ name, online }) => name === 'Pocket' && online));

    expect(renamed.device).toMatchObject({ device_id: phone.id, name: 'Pocket' });
    await Promise.all([onLaptop.stop(), onPhone.stop()]);
  });

  test('a file is offered, signalled about, accepted, told of and completed, and both devices know', async () => {
    const { one, two, laptop, phone, onLaptop, onPhone } = await startPair();
    const { body: offered } = await laptop
      .on(one)
      .call('initTransfer', { body: { to: 'Phone', files: [{ name: 'a.txt', size: 3 }] } });
    const params = { transfer_id: offered.transfer.transfer_id };
    await onPhone.next('transfer:incoming');
    await laptop
      .on(one)
      .call('sendSignal', { body: { to: 'Phone', kind: 'offer', payload: { sdp: 'v=0' }, ...params } });
    const { data: signal } = await onPhone.next('signal');
    await phone.on(two).call('acceptTransfer', { params });
    await phone.on(two).call('p2pTransfer', { params });
    await laptop
      .on(one)
      .call('phaseTransfer', { params, body: { phase: 'transferring', progress: { sent_bytes: 3 } } });
    await onPhone.next('transfer:updated', ({ data }) => data.transfer.progress.sent_bytes === 3);
    await phone.on(two).call('completeTransfer', { params });
    await onLaptop.next('transfer:updated', ({ data }) => data.transfer.state === 'DONE');
    const { body: read } = await laptop.on(two).call('getTransfer', { params });
    const { body: list } = await phone.on(one).call('listTransfers');

    expect(signal).toMatchObject({ from_name: 'Laptop', kind: 'offer', payload: { sdp: 'v=0' } });
    expect(read.transfer.state).toBe('DONE');
    expect(list.transfers.map(({ transfer_id, state }) => [transfer_id, state])).toEqual([
      [params.transfer_id, 'DONE'],
    ]);
    await Promise.all([onLaptop.stop(), onPhone.stop()]);
  });

  // Proves G1.
  test('a stream goes on at the other replica where it stopped, with no gap and nothing twice', async () => {
    const { one, laptop, phone, onLaptop, onPhone } = await startPair();
    const send = (i: number) => laptop.on(one).call('sendMessage', { body: { to: 'Phone', content: String(i) } });
    for (let i = 0; i < 5; i++) await send(i);
    await onPhone.next('message', ({ data }) => data.content === '4');
    await onPhone.stop();
    for (let i = 5; i < 10; i++) await send(i);

    const again = phone.listen(one, onPhone.stream.lastEventId ?? '');
    const { data: ready } = await again.next('ready');
    await again.next('message', ({ data, id }) => data.content === '9' && id !== null);

    const fresh = again.events.filter(({ name, id }) => name === 'message' && id !== null);
    expect(ready.resumed).toBe(true);
    expect(fresh.map(({ data }) => (data as { content: string }).content)).toEqual(['5', '6', '7', '8', '9']);
    await Promise.all([onLaptop.stop(), again.stop()]);
  });

  // Proves G6.
  test('the devices of a killed replica are offline for the others within ten seconds', async () => {
    await expectPromised(10_000, async () => {
      const { two, onLaptop, onPhone } = await startPair();
      const phoneIs = ({ data }: { data: Presence }, isOnline: boolean) =>
        data.devices.some(({ name, online }) => name === 'Phone' && online === isOnline);
      await onLaptop.next('presence', (event) => phoneIs(event, true));

      const killedAt = performance.now();
      await two.kill();
      const isGone = (event: { data: Presence; at: number }) => event.at > killedAt && phoneIs(event, false);
      const { at } = await onLaptop.next('presence', isGone, 40_000);
      await Promise.all([onLaptop.stop(), onPhone.stop()]);
      await restart();
      return at - killedAt;
    });
  }, 120_000);
}
