-------------------------------- MODULE login --------------------------------
\* One login request: polls of one device, a decision, a broker that may fail, leases that lapse.
\*
\* Decide        services/sync/signin/lua/login-decide.lua
\* Lease         services/sync/signin/lua/login-poll.lua         the lease with its fencing number
\* Lapse         services/sync/signin/lua/login-poll.lua         LEASE_MS
\* Expire        services/sync/signin/prelude/login.lua          ended
\* Expect        services/sync/signin/polling/claims.ts          expect: written before the mint
\* Mint          services/sync/signin/polling/consume.ts         mint: the key is the request
\* MintFails     services/sync/signin/polling/consume.ts         the answer of the broker is lost, or it is a fault
\* Refuse        services/sync/signin/polling/session-of.ts      who approved may not any more; consume.ts: the broker says no
\* Finish        services/sync/signin/lua/login-finish.lua
\* Answer        services/sync/signin/polling/polling.ts
\* Check         services/sync/signin/polling/claims.ts          check
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Polls, Faults

VARIABLES
  state,      \* pending, approved, consumed, denied, expired
  fence,      \* the number of the newest lease
  leased,     \* a lease is running
  over,       \* the time of the request is over
  poll,       \* poll[p]: [step, fence, says]
  sessions,   \* sessions that the broker made of this request, by key
  claim,      \* the check that the session is used is scheduled
  removed,    \* the check has signed the device out
  delivered,  \* polls that answered with the session
  decided,    \* decisions that were answered as carried out
  faults

vars == <<state, fence, leased, over, poll, sessions, claim, removed, delivered, decided, faults>>

Idle == [step |-> "idle", fence |-> 0, says |-> ""]
Init ==
  /\ state = "pending" /\ fence = 0 /\ leased = FALSE /\ over = FALSE
  /\ poll = [p \in Polls |-> Idle] /\ sessions = {} /\ claim = FALSE /\ removed = FALSE
  /\ delivered = {} /\ decided = {} /\ faults = Faults

To(p, step) == poll' = [poll EXCEPT ![p].step = step]

Decide(decision) ==
  /\ state = "pending" /\ ~over
  /\ state' = decision /\ decided' = decided \union {decision}
  /\ UNCHANGED <<fence, leased, over, poll, sessions, claim, removed, delivered, faults>>

TimeIsOver ==
  /\ ~over /\ over' = TRUE
  /\ UNCHANGED <<state, fence, leased, poll, sessions, claim, removed, delivered, decided, faults>>

Expire ==
  /\ over /\ (state = "pending" \/ (state = "approved" /\ ~leased))
  /\ state' = "expired"
  /\ UNCHANGED <<fence, leased, over, poll, sessions, claim, removed, delivered, decided, faults>>

Lease(p) ==
  /\ poll[p].step = "idle" /\ state = "approved" /\ ~leased /\ ~over
  /\ fence' = fence + 1 /\ leased' = TRUE
  /\ poll' = [poll EXCEPT ![p] = [step |-> "leased", fence |-> fence + 1, says |-> ""]]
  /\ UNCHANGED <<state, over, sessions, claim, removed, delivered, decided, faults>>

\* The holder is slow, paused or dead.
Lapse ==
  /\ leased /\ faults > 0 /\ leased' = FALSE /\ faults' = faults - 1
  /\ UNCHANGED <<state, fence, over, poll, sessions, claim, removed, delivered, decided>>

Expect(p) ==
  /\ poll[p].step = "leased" /\ claim' = TRUE /\ To(p, "expected")
  /\ UNCHANGED <<state, fence, leased, over, sessions, removed, delivered, decided, faults>>

Mint(p) ==
  /\ poll[p].step = "expected"
  /\ sessions' = sessions \union {"request"}
  /\ poll' = [poll EXCEPT ![p].step = "finishes", ![p].says = "consumed"]
  /\ UNCHANGED <<state, fence, leased, over, claim, removed, delivered, decided, faults>>

MintFails(p) ==
  /\ poll[p].step = "expected" /\ faults > 0 /\ faults' = faults - 1
  /\ sessions' \in {sessions, sessions \union {"request"}}
  /\ poll' = [poll EXCEPT ![p].step = "finishes", ![p].says = "approved"]
  /\ UNCHANGED <<state, fence, leased, over, claim, removed, delivered, decided>>

\* The refusal comes before the mint, or is the broker's answer. A session that another poll has made meanwhile stays.
Refuse(p) ==
  /\ poll[p].step \in {"leased", "expected"}
  /\ poll' = [poll EXCEPT ![p].step = "finishes", ![p].says = "denied"]
  /\ UNCHANGED <<state, fence, leased, over, sessions, claim, removed, delivered, decided, faults>>

\* Runs in the store. `is` is the answer.
Finish(p) ==
  /\ poll[p].step = "finishes"
  /\ LET isMine == fence = poll[p].fence
         is == isMine /\ (state = "approved" \/ state = poll[p].says) IN
       /\ poll' = [poll EXCEPT ![p].step = IF is /\ poll[p].says = "consumed" THEN "answers" ELSE "done"]
       /\ state' = IF isMine /\ state = "approved" THEN poll[p].says ELSE state
       /\ leased' = IF isMine /\ state = "approved" THEN FALSE ELSE leased
  /\ UNCHANGED <<fence, over, sessions, claim, removed, delivered, decided, faults>>

\* The store ended the request, and its answer was lost. The same call comes again (consume.ts, finish).
FinishAgain(p) ==
  /\ poll[p].step \in {"answers", "done"} /\ poll[p].says = "consumed" /\ faults > 0 /\ faults' = faults - 1
  /\ p \notin delivered /\ To(p, "finishes")
  /\ UNCHANGED <<state, fence, leased, over, sessions, claim, removed, delivered, decided>>

Answer(p) ==
  /\ poll[p].step = "answers" /\ To(p, "done")
  /\ delivered' = delivered \union {p}
  /\ UNCHANGED <<state, fence, leased, over, sessions, claim, removed, decided, faults>>

\* The replica dies, or its client leaves.
Die(p) ==
  /\ poll[p].step \notin {"idle", "done"} /\ faults > 0 /\ faults' = faults - 1 /\ To(p, "done")
  /\ UNCHANGED <<state, fence, leased, over, sessions, claim, removed, delivered, decided>>

\* This comes two minutes later, when no lease is running. If the device has the session, it has made a request by then.
Check ==
  /\ claim /\ ~leased /\ over /\ state # "approved"
  /\ \A p \in Polls : poll[p].step \in {"idle", "done"}
  /\ claim' = FALSE /\ removed' = (delivered = {})
  /\ UNCHANGED <<state, fence, leased, over, poll, sessions, delivered, decided, faults>>

Next ==
  \/ Decide("approved") \/ Decide("denied") \/ TimeIsOver \/ Expire \/ Lapse \/ Check
  \/ \E p \in Polls : Lease(p) \/ Expect(p) \/ Mint(p) \/ MintFails(p) \/ Refuse(p) \/ Finish(p) \/ FinishAgain(p) \/ Answer(p) \/ Die(p)

\* A lease that nobody ends lapses eventually.
LapsesAtLast == leased /\ (\A p \in Polls : poll[p].step \in {"idle", "done"}) /\ leased' = FALSE
                /\ UNCHANGED <<state, fence, over, poll, sessions, claim, removed, delivered, decided, faults>>

Spec ==
  /\ Init /\ [][Next \/ LapsesAtLast]_vars
  /\ WF_vars(TimeIsOver) /\ WF_vars(Expire) /\ WF_vars(Check) /\ WF_vars(LapsesAtLast)
  /\ \A p \in Polls : WF_vars(Expect(p)) /\ WF_vars(Mint(p)) /\ WF_vars(Finish(p)) /\ WF_vars(Answer(p))

-----------------------------------------------------------------------------
\* Proves G11: a login request makes one session, and one poll has it.
OneSession == Cardinality(sessions) <= 1 /\ Cardinality(delivered) <= 1

\* Proves G11: a poll that has a session has one that exists, of a request that was approved and consumed.
DeliveredIsConsumed == delivered # {} => (state = "consumed" /\ sessions # {} /\ decided = {"approved"})

\* Proves G11: a decision is made once, and an end stays as it is.
DecidedOnce == Cardinality(decided) <= 1 /\ (sessions # {} => decided = {"approved"})
EndsOnce == [][(state \in {"consumed", "denied", "expired"}) => (state' = state)]_vars

\* Proves G11: a session that no poll has is signed out again. The request may expire during a mint whose lease lapsed.
NobodysSessionEnds == (sessions # {}) ~> (delivered # {} \/ removed)
=============================================================================
