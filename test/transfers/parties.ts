import type { Transfer } from '../../shared/contract/modules/transfers.ts';
import { makeDevice, randomUser, type TestDevice } from '../support/device.ts';
import type { ReplicaProcess } from '../support/replicas.ts';

/** A sender, a receiver and a third known device of one account. */
export interface Parties {
  user: string;
  sender: TestDevice;
  receiver: TestDevice;
  third: TestDevice;
}

export async function makeParties(replica: ReplicaProcess): Promise<Parties> {
  const user = randomUser();
  const [sender, receiver, third] = ['Sender', 'Receiver', 'Third'].map((name) => makeDevice({ user, name }));
  const parties = { user, sender, receiver, third } as Parties;
  for (const device of [parties.sender, parties.receiver, parties.third]) await device.on(replica).call('listDevices');
  return parties;
}

export const oneFile = [{ name: 'notes.txt', size: 12 }];

export async function offer(parties: Parties, replica: ReplicaProcess, files: object[] = oneFile): Promise<Transfer> {
  const body = { to: 'Receiver', files: files as typeof oneFile };
  return (await parties.sender.on(replica).call('initTransfer', { body })).body.transfer;
}
