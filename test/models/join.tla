-------------------------------- MODULE join --------------------------------
\* This model shows how an append and an attach meet. It has one account and one stream of one client, which comes back
\* as often as it likes. A step that runs in the store is one script; anything between two steps may happen in any order.
\*
\* AppendEvent   services/sync/redis/prelude/log.lua             append_and_notify
\* Deliver       services/sync/streams/delivery/delivery.ts      event
\* Open          services/sync/streams/opening/opening.ts        open: the stream is in the hub before its attach is sent
\* OpenInStore   services/sync/streams/lua/stream-open.lua       the route, the position and the first page in one step
\* OpenAnswer    services/sync/streams/opening/opening.ts        #attach, #sendReady
\* ReadPage      services/sync/streams/delivery/catch-up.ts      #readPage
\* PageInStore   services/sync/streams/lua/log-page.lua
\* PageAnswer    services/sync/streams/delivery/catch-up.ts      #takePage, #writePage
\* Sweep         services/sync/streams/upkeep/sweeper.ts         #tick
\* SweepInStore  services/sync/streams/lua/stream-attach.lua
\* SweepAnswer   services/sync/streams/upkeep/repair.ts          #compare, #readOn
EXTENDS Naturals, Sequences, TLC

CONSTANTS Events,   \* the ids that are ever given, 1 .. Events; random bits ensure that none is given twice
          Kept,     \* entries that the log keeps
          Faults    \* announcements, routes, tails, answers and sockets that may be lost

VARIABLES
  log,      \* ids of the entries that are kept
  next,     \* the id that the next entry gets
  prev,     \* prev[id]: the entry before it; 0: none
  route,    \* the store knows the route of the stream
  bus,      \* announcements on their way, unordered, since one that nobody heard is repeated
  state,    \* the stream's state: services/sync/streams/stream/stream-state.ts
  pos,      \* its position; 0: none
  saw,      \* the positions that it remembers
  got,      \* what the client got on this stream since it was last told to fetch its state again
  missed,   \* an event came while it was not live
  call,     \* a question to the store, or its answer; a record with `kind`
  sweep,    \* the same for the attach by the sweep, which runs alongside
  client,   \* the position that the client has
  faults,   \* how many faults are left
  clean,    \* nothing was lost since the stream opened
  isWrong   \* '' or what the client saw and must not see

vars == <<log, next, prev, route, bus, state, pos, saw, got, missed, call, sweep, client, faults, clean, isWrong>>

None == [kind |-> "none"]
Last == IF log = <<>> THEN 0 ELSE log[Len(log)]
InLog(id) == \E i \in 1 .. Len(log) : log[i] = id
\* services/sync/streams/prelude/position.lua, lost_reason
IsValid(p) == p # 0 /\ (InLog(p) \/ (log # <<>> /\ prev[log[1]] = p))
\* The first entry after a valid position; 0: none. A page holds one entry here, so that a log has several pages.
After(p) == IF \E i \in 1 .. Len(log) : prev[log[i]] = p
            THEN log[CHOOSE i \in 1 .. Len(log) : prev[log[i]] = p] ELSE 0
Page(p) == [lost |-> ~IsValid(p), top |-> Last, entry |-> IF IsValid(p) THEN After(p) ELSE 0,
            ended |-> ~IsValid(p) \/ After(p) = 0 \/ After(p) = Last]

Init ==
  /\ log = <<1>> /\ next = 2 /\ prev = [id \in 1 .. Events |-> 0]
  /\ route = FALSE /\ bus = {} /\ state = "closed" /\ pos = 0 /\ saw = {} /\ got = {} /\ missed = FALSE
  /\ call = None /\ sweep = None /\ client = 0 /\ faults = Faults /\ clean = TRUE /\ isWrong = ""

AppendEvent ==
  /\ next <= Events
  /\ log' = IF Len(log) = Kept THEN Append(Tail(log), next) ELSE Append(log, next)
  /\ prev' = [prev EXCEPT ![next] = Last]
  /\ next' = next + 1
  /\ bus' = IF route THEN bus \union {next} ELSE bus
  /\ UNCHANGED <<route, state, pos, saw, got, missed, call, sweep, client, faults, clean, isWrong>>

\* The stream writes an entry to its client.
Write(id) ==
  /\ pos' = id /\ saw' = saw \union {id} /\ got' = got \union {id} /\ client' = id
  /\ isWrong' = IF prev[id] # pos THEN "a gap" ELSE IF id \in got THEN "twice" ELSE isWrong

Deliver(id) ==
  /\ id \in bus /\ state # "closed"
  /\ bus' = bus \ {id}
  /\ IF state # "live" THEN missed' = TRUE /\ UNCHANGED <<state, pos, saw, got, client, isWrong>>
     ELSE IF prev[id] = pos THEN Write(id) /\ UNCHANGED <<state, missed>>
     ELSE IF id \in saw THEN UNCHANGED <<state, pos, saw, got, client, missed, isWrong>>
     ELSE state' = "catchingUp" /\ UNCHANGED <<pos, saw, got, client, missed, isWrong>>
  /\ UNCHANGED <<log, next, prev, route, call, sweep, faults, clean>>

\* A replica that does not hold the stream ignores what comes for it.
Unheard(id) ==
  /\ id \in bus /\ state = "closed" /\ bus' = bus \ {id}
  /\ UNCHANGED <<log, next, prev, route, state, pos, saw, got, missed, call, sweep, client, faults, clean, isWrong>>

Open ==
  /\ state = "closed" /\ call = None /\ sweep = None
  /\ state' = "opening" /\ pos' = client /\ saw' = {} /\ got' = {} /\ missed' = FALSE
  \* A lost entry may still be announced.
  /\ clean' = (\A id \in bus : id <= Last)
  /\ call' = [kind |-> "open"]
  /\ UNCHANGED <<log, next, prev, route, bus, sweep, client, faults, isWrong>>

OpenInStore ==
  /\ call.kind = "open" /\ state = "opening"
  /\ route' = TRUE
  /\ call' = [kind |-> "opened"] @@ Page(pos)
  /\ UNCHANGED <<log, next, prev, bus, state, pos, saw, got, missed, sweep, client, faults, clean, isWrong>>

\* A page is followed by the next one, or the stream is live.
Follow(page) ==
  IF page.ended /\ ~missed THEN state' = "live" /\ call' = None
  ELSE state' = "catchingUp" /\ call' = None

OpenAnswer ==
  /\ call.kind = "opened"
  /\ IF call.lost
     THEN \* `ready` with "resumed":false: the client fetches its state again
          /\ pos' = call.top /\ saw' = saw \union {call.top} /\ got' = {} /\ client' = call.top /\ UNCHANGED isWrong
     ELSE IF call.entry = 0 THEN UNCHANGED <<pos, saw, got, client, isWrong>> ELSE Write(call.entry)
  /\ Follow(call)
  /\ UNCHANGED <<log, next, prev, route, bus, missed, sweep, faults, clean>>

ReadPage ==
  /\ state = "catchingUp" /\ call = None
  /\ missed' = FALSE /\ call' = [kind |-> "read"]
  /\ UNCHANGED <<log, next, prev, route, bus, state, pos, saw, got, sweep, client, faults, clean, isWrong>>

PageInStore ==
  /\ call.kind = "read"
  /\ call' = [kind |-> "page"] @@ Page(pos)
  /\ UNCHANGED <<log, next, prev, route, bus, state, pos, saw, got, missed, sweep, client, faults, clean, isWrong>>

PageAnswer ==
  /\ call.kind = "page"
  /\ IF call.lost
     THEN state' = "opening" /\ call' = [kind |-> "open"] /\ UNCHANGED <<pos, saw, got, client, isWrong>>
     ELSE /\ IF call.entry = 0 THEN UNCHANGED <<pos, saw, got, client, isWrong>> ELSE Write(call.entry)
          /\ Follow(call)
  /\ UNCHANGED <<log, next, prev, route, bus, missed, sweep, faults, clean>>

Sweep ==
  /\ state \in {"live", "behind"} /\ sweep = None
  /\ sweep' = [kind |-> "attach", before |-> pos]
  /\ UNCHANGED <<log, next, prev, route, bus, state, pos, saw, got, missed, call, client, faults, clean, isWrong>>

SweepInStore ==
  /\ sweep.kind = "attach" /\ state # "closed"
  /\ route' = TRUE
  /\ sweep' = [kind |-> "attached", before |-> sweep.before, top |-> Last]
  /\ UNCHANGED <<log, next, prev, bus, state, pos, saw, got, missed, call, client, faults, clean, isWrong>>

IsBehind == sweep.top # pos /\ (pos = sweep.before \/ sweep.top \notin saw)

SweepAnswer ==
  /\ sweep.kind = "attached" /\ sweep' = None
  /\ state' = IF state = "behind" \/ (state = "live" /\ IsBehind) THEN "catchingUp" ELSE state
  /\ UNCHANGED <<log, next, prev, route, bus, pos, saw, got, missed, call, client, faults, clean, isWrong>>

-----------------------------------------------------------------------------
\* Something goes wrong.

Fault == faults > 0 /\ faults' = faults - 1 /\ clean' = FALSE

LoseAnnouncement(id) ==
  /\ Fault /\ id \in bus /\ bus' = bus \ {id}
  /\ UNCHANGED <<log, next, prev, route, state, pos, saw, got, missed, call, sweep, client, isWrong>>

\* services/sync/redis/bus/announcer.ts, repeat: nobody knows whether the announcement was heard.
Repeat(id) ==
  /\ faults > 0 /\ faults' = faults - 1
  /\ id < next /\ route /\ id \notin bus /\ bus' = bus \union {id}
  /\ clean' = (clean /\ InLog(id))
  /\ UNCHANGED <<log, next, prev, route, state, pos, saw, got, missed, call, sweep, client, isWrong>>

LoseRoute ==
  /\ Fault /\ route /\ route' = FALSE
  /\ UNCHANGED <<log, next, prev, bus, state, pos, saw, got, missed, call, sweep, client, isWrong>>

\* Another primary takes over without the last entry.
LoseTail ==
  /\ Fault /\ Len(log) > 1 /\ log' = SubSeq(log, 1, Len(log) - 1)
  /\ UNCHANGED <<next, prev, route, bus, state, pos, saw, got, missed, call, sweep, client, isWrong>>

\* A read fails: catch-up.ts, onFailure. The sweep goes on with the stream.
LosePage ==
  /\ Fault /\ call.kind \in {"read", "page"} /\ call' = None /\ state' = "behind"
  /\ UNCHANGED <<log, next, prev, route, bus, pos, saw, got, missed, sweep, client, isWrong>>

\* The answer of an attach is lost, whether the store ran it or not.
LoseAttach ==
  /\ Fault /\ sweep # None /\ sweep' = None
  /\ UNCHANGED <<log, next, prev, route, bus, state, pos, saw, got, missed, call, client, isWrong>>

\* The socket closes, or the replica is killed. The row stays until somebody removes it.
Close ==
  /\ Fault /\ state # "closed" /\ state' = "closed" /\ call' = None /\ sweep' = None
  /\ UNCHANGED <<log, next, prev, route, bus, pos, saw, got, missed, client, isWrong>>

Next ==
  \/ AppendEvent \/ Open \/ OpenInStore \/ OpenAnswer \/ ReadPage \/ PageInStore \/ PageAnswer
  \/ Sweep \/ SweepInStore \/ SweepAnswer
  \/ \E id \in 1 .. Events : Deliver(id) \/ Unheard(id) \/ LoseAnnouncement(id) \/ Repeat(id)
  \/ LoseRoute \/ LoseTail \/ LosePage \/ LoseAttach \/ Close

\* The parts that go on by themselves. They need no event, and no announcement that is heard.
GoesOn ==
  /\ WF_vars(Open) /\ WF_vars(OpenInStore) /\ WF_vars(OpenAnswer)
  /\ WF_vars(ReadPage) /\ WF_vars(PageInStore) /\ WF_vars(PageAnswer)
  /\ SF_vars(Sweep) /\ SF_vars(SweepInStore) /\ SF_vars(SweepAnswer)

Spec == Init /\ [][Next]_vars /\ GoesOn

-----------------------------------------------------------------------------
\* Proves G1: events come in order, nothing is left out unless the client was told, and nothing comes twice on one
\* stream.
InOrder == isWrong = ""

\* Proves G1: an append finds the route, or the attach finds the entry. A live stream that lost nothing is at the end, or
\* an announcement of something later is on its way to it.
JoinHolds == (state = "live" /\ clean) => (pos = Last \/ \E id \in bus : id > pos)

\* Proves G1, G18: once nothing more goes wrong and nothing more comes, the client reaches the end of the log by the
\* sweep alone, even if the position was lost and no further event tells of it.
Arrives == <>[](client = Last /\ state = "live")
=============================================================================
