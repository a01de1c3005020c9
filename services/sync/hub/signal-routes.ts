import type { signalRoutes } from '../../../shared/contract/signal.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { makeIce } from './ice.ts';
import type { SendSignalTo } from './signal.ts';

interface SignalHandlerParts {
  sendSignal: SendSignalTo;
  iceFor: ReturnType<typeof makeIce>;
}

export const makeSignalHandlers = ({ sendSignal, iceFor }: SignalHandlerParts): HandlersOf<typeof signalRoutes> => ({
  sendSignal: async ({ caller: { account, deviceId }, body, operation }) => ({
    status: 202,
    // The guard lets no caller without a device get here.
    body: { delivered: await sendSignal({ account, deviceId: deviceId as string }, body, operation) },
  }),

  getIceServers: ({ caller }) => ({ status: 200, body: iceFor(caller.deviceId as string) }),
});
