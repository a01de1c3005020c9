import type { Db } from '../redis/db.ts';
import type { Replica } from '../replicas/replica.ts';
import { type IceSettings, makeIce } from './ice.ts';
import { makeSignalHandlers } from './routes.ts';
import { makeSignals } from './signals.ts';

interface SignalsModuleParts {
  db: Db;
  ice: IceSettings;
  replica: Pick<Replica, 'isDeadChannel' | 'lateMs'>;
}

/** Makes WebRTC between two devices of an account: their signals, and the ICE servers that they use. */
export function makeSignalsModule({ db, ice, replica }: SignalsModuleParts) {
  const sendSignal = makeSignals({ ...db, replica });
  return { handlers: makeSignalHandlers({ sendSignal, iceFor: makeIce(ice) }) };
}
