import { makeClipboardModule } from '../clipboard/module.ts';
import { makeDevicesModule } from '../devices/module.ts';
import { makeDueModule } from '../due/module.ts';
import { makeKeysModule } from '../keys/module.ts';
import { makeMessagesModule } from '../messages/module.ts';
import { makePushModule } from '../push/module.ts';
import { makeRelayModule, type RelayModule } from '../relay/module.ts';
import { makePresence } from '../presence/module.ts';
import { makeSignalsModule } from '../signals/module.ts';
import { makeTransfersModule } from '../transfers/module.ts';
import { makeLate } from './late.ts';
import type { Host } from './host.ts';
import type { StoreAndBus } from './store-and-bus.ts';

/** Makes the modules of known devices, of what they say to each other, and of pushes that wake them. */
function makeMail(host: Host, { store, db, replica }: StoreAndBus) {
  const { config, metrics, onFailure } = host;
  const due = makeDueModule({
    db,
    repairMs: config.due.repairSeconds * 1000,
    isUp: () => store.isUp,
    metrics,
    onFailure,
  });
  const push = makePushModule({
    db,
    settings: config.push,
    transferSeconds: config.transfers.redeliverySeconds,
    deadChannels: replica.deadChannels,
    scheduleDue: due.schedule,
    metrics,
    onFailure,
  });
  const pushQueue = push.queue;
  const presence = makePresence({ db, graceMs: config.hub.offlineGraceMs, replica, metrics });
  const { devices, handlers: deviceHandlers } = makeDevicesModule({
    db,
    readPresence: presence.read,
    pushQueue,
  });
  const messages = makeMessagesModule({
    db,
    confirm: store.confirm,
    replica,
    pushQueue,
    onAccepted: () => metrics.messages_total.inc(),
  });
  const clipboard = makeClipboardModule({
    db,
    ttlMs: config.clipboard.ttlSeconds * 1000,
    scheduleDue: due.schedule,
    onWritten: () => metrics.clipboard_writes_total.inc(),
  });
  const keyring = makeKeysModule({
    db,
    service: config.http.serviceId,
    confirm: store.confirm,
    scheduleDue: due.schedule,
    metrics,
  });
  const signals = makeSignalsModule({ db, ice: config.ice, replica });
  return { due, push, presence, devices, deviceHandlers, messages, clipboard, keyring, signals };
}

/** Makes transfers and the relay of their bytes, which call each other. */
function makeFiles(
  { config, logger, metrics, onFailure }: Host,
  { store, db, replica }: StoreAndBus,
  { due, push }: ReturnType<typeof makeMail>,
) {
  const redeliveryMs = config.transfers.redeliverySeconds * 1000;
  const lateRelay = makeLate<Pick<RelayModule['relay'], 'drop' | 'offsets'>>('the relay');
  const { transfers, handlers: transferHandlers } = makeTransfersModule({
    db,
    replica,
    redeliveryMs,
    pushQueue: push.queue,
    scheduleDue: due.schedule,
    onState: (state) => metrics.transfers_total.inc({ state }),
    dropRelayed: (account, id, generations) => lateRelay.get().drop(account, id, generations),
    relayOffsets: (id, generations) => lateRelay.get().offsets(id, generations),
    onFailure,
  });
  const relay = makeRelayModule({
    db,
    settings: config.relay,
    idleMs: redeliveryMs,
    transfers,
    bus: { channel: () => replica.channel, publish: store.publish },
    reachability: store.reachability,
    logger,
    metrics,
    onFailure,
  });
  lateRelay.set(relay.relay);
  return { transfers, transferHandlers, relay };
}

/** Makes the modules that serve signed-in devices. */
export function makeModules(host: Host, storeAndBus: StoreAndBus) {
  const mail = makeMail(host, storeAndBus);
  return { ...mail, ...makeFiles(host, storeAndBus, mail) };
}

export type Modules = ReturnType<typeof makeModules>;
