import type { messageRoutes } from '../../../shared/contract/modules/messages.ts';
import type { HandlersOf } from '../http/handler.ts';
import type { Messages } from './messages.ts';

export const makeMessageHandlers = (messages: Messages): HandlersOf<typeof messageRoutes> => ({
  sendMessage: async ({ caller, body, operation, releaseSlot }) => {
    const { answer, isConfirmed } = await messages.send(caller, body, operation, releaseSlot);
    return { status: isConfirmed ? 201 : 202, body: answer };
  },

  listMessages: async ({ caller }) => ({ status: 200, json: `{"messages":${await messages.list(caller)}}` }),

  ackMessages: async ({ caller, body, releaseSlot }) => ({
    status: 200,
    body: { acked: await messages.acknowledge(caller, body.message_ids, releaseSlot) },
  }),
});
