import type { messageRoutes } from '../../../shared/contract/modules/messages.ts';
import type { HandlersOf } from '../http/handler.ts';
import { AckPace } from './ack-pace.ts';
import type { Messages } from './messages.ts';

export function makeMessageHandlers(messages: Messages): HandlersOf<typeof messageRoutes> {
  const ackPace = new AckPace();
  return {
    sendMessage: async ({ caller, body, operation, releaseSlot }) => {
      const { answer, confirming } = await messages.send(caller, body, operation);
      // From here on the request waits only for replicas of Redis.
      releaseSlot();
      return { status: (await confirming) ? 201 : 202, body: answer };
    },

    listMessages: async ({ caller }) => ({ status: 200, json: `{"messages":${await messages.list(caller)}}` }),

    ackMessages: async ({ caller, body: { message_ids: ids }, releaseSlot }) => {
      if (caller.deviceId !== null) await ackPace.turn(caller.account, ids.length, releaseSlot);
      return { status: 200, body: { acked: await messages.acknowledge(caller, ids) } };
    },
  };
}
