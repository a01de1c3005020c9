import { RING_MODELS } from './ring-mutants.mjs';

/*
 * The models, each with its faults: the texts that are replaced, and the property that must break.
 */
export const MODELS = {
  join: [
    {
      title: 'an attach in two steps: the page first, the route afterwards',
      breaks: 'JoinHolds',
      changes: [
        [
          '  /\\ route\' = TRUE\n  /\\ call\' = [kind |-> "opened"] @@ Page(pos)\n  /\\ UNCHANGED <<log, next, prev, bus, state',
          '  /\\ call\' = [kind |-> "opened"] @@ Page(pos)\n  /\\ UNCHANGED <<log, next, prev, route, bus, state',
        ],
        [
          '  /\\ Follow(call)\n  /\\ UNCHANGED <<log, next, prev, route, bus, missed, sweep, faults, clean>>\n\nReadPage',
          "  /\\ Follow(call) /\\ route' = TRUE\n  /\\ UNCHANGED <<log, next, prev, bus, missed, sweep, faults, clean>>\n\nReadPage",
        ],
      ],
    },
    {
      title: 'a stream that is not live forgets that an event came',
      breaks: 'JoinHolds',
      changes: [["THEN missed' = TRUE /\\ UNCHANGED", "THEN missed' = FALSE /\\ UNCHANGED"]],
    },
    {
      title: 'an event is taken whatever came before it',
      breaks: 'InOrder',
      changes: [['ELSE IF prev[id] = pos THEN Write(id)', 'ELSE IF id > pos THEN Write(id)']],
    },
    {
      title: 'an event that was seen is taken again',
      breaks: 'InOrder',
      changes: [['ELSE IF prev[id] = pos THEN Write(id)', 'ELSE IF prev[id] = pos \\/ id \\in saw THEN Write(id)']],
    },
    {
      title: 'an attach replays nothing of what the stream missed',
      breaks: 'Arrives',
      changes: [['entry |-> IF IsValid(p) THEN After(p) ELSE 0,', 'entry |-> 0,']],
    },
    {
      title: 'a page is read without proof of the position',
      breaks: 'Arrives',
      changes: [
        ['[lost |-> ~IsValid(p),', '[lost |-> p = 0,'],
        ['entry |-> IF IsValid(p) THEN After(p) ELSE 0,', 'entry |-> After(p),'],
      ],
    },
    {
      title: 'the sweep compares nothing',
      breaks: 'Arrives',
      changes: [['IsBehind == sweep.top # pos /\\', 'IsBehind == FALSE /\\']],
    },
    {
      title: 'the sweep takes a position behind the end for one that is right',
      breaks: 'Arrives',
      changes: [['IsBehind == sweep.top # pos /\\', 'IsBehind == sweep.top > pos /\\']],
    },
    {
      title: 'the sweep leaves out streams whose read failed',
      breaks: 'Arrives',
      changes: [['/\\ state \\in {"live", "behind"} /\\ sweep = None', '/\\ state = "live" /\\ sweep = None']],
    },
  ],
  lease: [
    {
      title: 'the time that a watcher slept through counts',
      breaks: 'TheLivingKeepTheirLease',
      // With two readings, a single missed beat is enough in any case.
      changes: [
        ['DEAD_AFTER == 2', 'DEAD_AFTER == 3'],
        [
          ' \\/ changed[w][id] \\/ w \\in slept THEN 0\n',
          ' \\/ changed[w][id] THEN 0\n       ELSE IF w \\in slept THEN DEAD_AFTER\n',
        ],
      ],
    },
    {
      title: 'a claim does not compare the counter',
      breaks: 'TheLivingKeepTheirLease',
      changes: [['/\\ id \\in lease /\\ ~changed[w][id]', '/\\ id \\in lease']],
    },
    {
      title: 'a renewal makes a lost lease anew',
      breaks: 'LeaseOrReaper',
      changes: [
        [
          'ELSE /\\ own\' = "v2" /\\ lease\' = lease \\union {"v2"}',
          "ELSE /\\ own' = own /\\ lease' = lease \\union {own}",
        ],
      ],
    },
    {
      title: 'a claim does not lapse with its reaper',
      breaks: 'GhostsEnd',
      changes: [['(sees[w].reaping[id] = w \\/ sees[w].reaping[id] \\notin sees[w].lease)', 'sees[w].reaping[id] = w']],
    },
    {
      title: 'the claim is ended before the account is reconciled',
      breaks: 'GhostsEnd',
      changes: [['/\\ job[w].step = "forgotten" \\/', '/\\ job[w].step = "claimed" \\/']],
    },
    {
      title: 'a reaper counts routes by a table from before its claim',
      breaks: 'GhostsEnd',
      changes: [
        [
          '/\\ IsAlive(w) /\\ job[w].step = "claimed" /\\ sees[w].reaping[job[w].id] = w\n',
          '/\\ IsAlive(w) /\\ job[w].step = "claimed"\n',
        ],
      ],
    },
    {
      title: 'a stream is attached beside the adding of its account',
      breaks: 'GhostsEnd',
      changes: [['route # {own}\n  /\\ own \\in set\n', 'route # {own}\n']],
    },
    {
      title: 'nobody reaps',
      breaks: 'GhostsEnd',
      changes: [['Claim(w, id) ==\n  /\\ IsAlive(w)', 'Claim(w, id) ==\n  /\\ FALSE /\\ IsAlive(w)']],
    },
  ],
  login: [
    {
      title: 'a lease is ended whatever its fencing number',
      breaks: 'OneSession',
      changes: [['LET isMine == fence = poll[p].fence', 'LET isMine == TRUE']],
    },
    {
      title: 'the mint has a key of the poll',
      breaks: 'OneSession',
      changes: [
        [
          '/\\ poll[p].step = "expected"\n  /\\ sessions\' = sessions \\union {"request"}',
          '/\\ poll[p].step = "expected"\n  /\\ sessions\' = sessions \\union {p}',
        ],
      ],
    },
    {
      title: 'the session is given before the request is ended',
      breaks: 'DeliveredIsConsumed',
      changes: [['step = IF is /\\ poll[p].says = "consumed" THEN', 'step = IF poll[p].says = "consumed" THEN']],
    },
    {
      title: 'a request that has ended is ended again otherwise',
      breaks: 'EndsOnce',
      changes: [['state\' = IF isMine /\\ state = "approved" THEN', "state' = IF isMine THEN"]],
    },
    {
      title: 'a decision is not compared with the state',
      breaks: 'DecidedOnce',
      changes: [['/\\ state = "pending" /\\ ~over\n', '/\\ state \\in {"pending", "approved"} /\\ ~over\n']],
    },
    {
      title: 'the check is scheduled after the mint',
      breaks: 'NobodysSessionEnds',
      changes: [
        [
          '/\\ poll[p].step = "leased" /\\ claim\' = TRUE /\\ To(p, "expected")',
          '/\\ poll[p].step = "leased" /\\ claim\' = claim /\\ To(p, "expected")',
        ],
        [
          '/\\ poll[p].step = "answers" /\\ To(p, "done")\n',
          '/\\ poll[p].step = "answers" /\\ To(p, "done") /\\ claim\' = TRUE\n',
        ],
        [
          '/\\ UNCHANGED <<state, fence, leased, over, sessions, claim, removed, decided, faults>>',
          '/\\ UNCHANGED <<state, fence, leased, over, sessions, removed, decided, faults>>',
        ],
      ],
    },
  ],
  relay: [
    {
      title: 'a chunk is taken from a sender that was replaced',
      breaks: 'OnePiece',
      changes: [['chunk.token = store.w /\\ chunk.start = store.end\n', 'chunk.start >= store.end\n']],
    },
    {
      title: 'a chunk is taken wherever it begins',
      breaks: 'OnePiece',
      changes: [[' /\\ chunk.start = store.end\n', '\n']],
    },
    {
      title: 'a chunk goes into whatever generation there is',
      breaks: 'OnePiece',
      changes: [
        [
          'IF chunk.g = store.g /\\ chunk.token = store.w /\\ chunk.start = store.end\n',
          'IF store.g # 0 /\\ chunk.start >= store.end\n',
        ],
      ],
    },
    {
      title: 'nobody notes that a range was skipped',
      breaks: 'DeliveredIsWhole',
      changes: [['!.skips = from > store.got]', '!.skips = FALSE]']],
    },
    {
      title: 'a rewind forgets that a range was skipped',
      breaks: 'DeliveredIsWhole',
      changes: [['skips == store.g # 0 /\\ store.got < reader.at IN', 'skips == FALSE IN']],
    },
    {
      title: 'a rewind begins behind what its reader lacks',
      breaks: 'OnePiece',
      changes: [
        [
          '!.g = g, !.base = reader.at, !.end = reader.at, !.cut',
          '!.g = g, !.base = reader.at, !.end = reader.at + 1, !.cut',
        ],
      ],
    },
    {
      title: 'a receiver takes what lies behind a gap',
      breaks: 'DeliveredIsWhole',
      changes: [
        [
          "/\\ reader.token # 0 /\\ reader.g = store.g /\\ reader.at \\in store.chunks\n  /\\ device' = device \\union {reader.at} /\\ reader' = [reader EXCEPT !.at = @ + 1]\n",
          "/\\ reader.token # 0 /\\ reader.g = store.g\n  /\\ \\E i \\in store.chunks : /\\ i >= reader.at\n       /\\ device' = device \\union {i} /\\ reader' = [reader EXCEPT !.at = i + 1]\n",
        ],
      ],
    },
    {
      title: 'the record is written before the stream',
      breaks: 'StreamBeforeRecord',
      changes: [
        [
          '  /\\ UNCHANGED <<record, sender, late, device, next, forgot, faults>>\n\n\\* The record follows',
          "  /\\ record' = [record EXCEPT !.g = @ + 2]\n  /\\ UNCHANGED <<sender, late, device, next, forgot, faults>>\n\n\\* The record follows",
        ],
      ],
    },
  ],
  transfer: [
    {
      title: 'a transfer that is over can be cancelled',
      breaks: 'OneEnd',
      changes: [['[] action = "cancel" -> IF IsOver THEN "" ELSE "CANCELLED"', '[] action = "cancel" -> "CANCELLED"']],
    },
    {
      title: 'a transfer that is over goes on from device to device',
      breaks: 'EndIsLast',
      changes: [['[] action = "p2p" -> IF IsOver THEN "" ELSE "P2P_ACTIVE"', '[] action = "p2p" -> "P2P_ACTIVE"']],
    },
    {
      title: 'a step is compared with what was read before',
      breaks: 'OneEnd',
      changes: [
        [
          'Target(action) ==\n',
          'Target(action) == IF action = "complete" /\\ before.state = "P2P_ACTIVE" THEN "DONE" ELSE\n',
        ],
      ],
    },
    {
      title: 'another device takes a step',
      breaks: 'OnlyParties',
      changes: [['[] by = "other" -> FALSE', '[] by = "other" -> action = "cancel"']],
    },
    {
      title: 'the sender completes',
      breaks: 'OnlyParties',
      changes: [
        [
          'action \\in {"relay", "p2p", "fail", "cancel"}',
          'action \\in {"relay", "p2p", "fail", "cancel", "complete"}',
        ],
      ],
    },
    {
      title: 'a rejection that comes after an end is answered as one',
      breaks: 'DoneIsComplete',
      changes: [
        ['[] action = "reject" -> t.state = "CANCELLED" /\\ t.why = "rejected"', '[] action = "reject" -> IsOver'],
      ],
    },
    {
      title: 'a step is announced to nobody',
      breaks: 'BothAgree',
      changes: [
        [
          "told' = IF changes THEN Append(told, t'.state) ELSE told",
          'told\' = IF changes /\\ action # "fail" THEN Append(told, t\'.state) ELSE told',
        ],
      ],
    },
  ],
  ...RING_MODELS,
};
