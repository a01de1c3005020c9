import type { signalRoutes } from '../../../shared/contract/modules/signal.ts';
import type { HandlersOf } from '../http/handler.ts';
import { deviceCallerOf } from '../identity/caller.ts';
import type { makeIce } from './ice.ts';
import type { SendSignalTo } from './signals.ts';

interface SignalHandlerParts {
  sendSignal: SendSignalTo;
  iceFor: ReturnType<typeof makeIce>;
}

export const makeSignalHandlers = ({ sendSignal, iceFor }: SignalHandlerParts): HandlersOf<typeof signalRoutes> => ({
  sendSignal: async ({ caller, body }) => ({
    status: 202,
    body: { delivered: await sendSignal(deviceCallerOf(caller), body) },
  }),

  getIceServers: ({ caller }) => ({ status: 200, body: iceFor(caller.deviceId as string) }),
});
