-------------------------------- MODULE lease --------------------------------
\* This model shows who lives and who cleans up after the dead. It has one replica with a stream, and two that watch it and
\* each other. Time goes in beats (2 s). A running replica beats once in each; a paused one does not, for as long as it
\* likes. The model does not count counters: only whether a counter changed since somebody read it matters.
\*
\* Beat          services/sync/replicas/replica.ts                          #beat
\* Renewed       services/sync/replicas/lua/lease-renew.lua
\* NewId         services/sync/replicas/replica.ts                          #takeNewId; lua/lease-start.lua
\* Observed      services/sync/replicas/failure-detection/failure-detector.ts  observe, dead, orphans
\* Claim         services/sync/replicas/lua/lease-reap.lua                  with the counter
\* TakeOver      services/sync/replicas/lua/lease-reap.lua                  with the dead reaper
\* Reconcile     services/sync/presence/lua/presence-reconcile.lua
\* Forget        services/sync/replicas/reaper.ts                           #reconcile: the account leaves the set
\* Finish        services/sync/replicas/reaper.ts                           finishReaping
\* Add           services/sync/replicas/lua/account-add.lua                 in another slot than the route
\* Attach        services/sync/streams/lua/stream-open.lua, stream-attach.lua  the route, under a new id too
EXTENDS Naturals, FiniteSets, TLC

CONSTANT Troubles      \* how often a replica is paused or killed

Watchers == {"a", "b"}
DEAD_AFTER == 2       \* readings; DEAD_AFTER_MS of failure-detector.ts makes three
Ids == {"v1", "v2"}   \* the ids of the watched replica: the one that it starts with, and the next
All == Watchers \union Ids

VARIABLES
  how,      \* how[r]: "runs", "paused", "killed"; r a watcher or "v"
  beaten,   \* the replicas that have beaten in this beat of time
  slept,    \* the replicas that slept through a beat since their last reading
  own,      \* the present id of the watched replica
  lease,    \* ids with a counter
  reaping,  \* reaping[id]: its reaper; "" none
  changed,  \* changed[w][id]: the counter of id changed since w read it
  still,    \* still[w][id]: for how many readings in a row w has seen it stand still
  sees,     \* sees[w]: the leases and reapers that w last read
  route,    \* ids under which the store has the route of the stream
  set,      \* ids whose set has the account
  online,   \* what was last announced about the device
  job,      \* job[w]: what the reaper w does: [id, step]
  troubles,
  slow      \* for how many beats the watched replica was paused or unheard; it may be taken for dead

vars == <<how, beaten, slept, own, lease, reaping, changed, still, sees, route, set, online, job, troubles, slow>>

Everybody == Watchers \union {"v"}
NoJob == [id |-> "", step |-> ""]

Init ==
  /\ how = [r \in Everybody |-> "runs"] /\ beaten = {} /\ slept = {} /\ own = "v1"
  /\ lease = Watchers \union {"v1"}
  /\ reaping = [id \in All |-> ""]
  /\ changed = [w \in Watchers |-> [id \in All |-> FALSE]]
  /\ still = [w \in Watchers |-> [id \in All |-> 0]]
  /\ sees = [w \in Watchers |-> [lease |-> Watchers \union {"v1"}, reaping |-> reaping]]
  /\ route = {"v1"} /\ set = {"v1"} /\ online = TRUE
  /\ job = [w \in Watchers |-> NoJob]
  /\ troubles = Troubles /\ slow = 0

\* When all running replicas have beaten, the next beat begins. `slow` counts the beats that the watched replica missed.
\* Others see nothing of an account that is added and not attached. So it makes no difference to them how many beats the
\* adding takes, and here it takes none.
Tick ==
  /\ \A r \in Everybody : how[r] = "runs" => r \in beaten
  /\ how["v"] = "runs" /\ own \in lease => own \in set
  /\ slept' = (slept \union {r \in Watchers : how[r] = "paused" /\ r \notin beaten})
  /\ slow' = IF "v" \in beaten THEN slow ELSE IF slow < DEAD_AFTER THEN slow + 1 ELSE slow
  /\ beaten' = {}
  /\ UNCHANGED <<how, own, lease, reaping, changed, still, sees, route, set, online, job, troubles>>

Renew(id) ==
  /\ id \in lease
  /\ changed' = [w \in Watchers |-> [changed[w] EXCEPT ![id] = TRUE]]

\* The watched replica beats. Without a lease it takes a new id, and attaches its stream there afterwards.
Beat ==
  /\ how["v"] = "runs" /\ "v" \notin beaten
  /\ beaten' = beaten \union {"v"}
  /\ IF own \in lease THEN Renew(own) /\ slow' = 0 /\ UNCHANGED <<own, lease>>
     ELSE /\ own' = "v2" /\ lease' = lease \union {"v2"} /\ UNCHANGED changed /\ slow' = 0
  /\ UNCHANGED <<how, slept, reaping, still, sees, route, set, online, job, troubles>>

\* The account goes into the set of the replica before the route of a stream, because a reaper finds only what is there
\* (opening.ts, repair.ts).
Add ==
  /\ how["v"] = "runs" /\ own \in lease /\ own \notin set
  /\ set' = set \union {own}
  /\ UNCHANGED <<how, beaten, slept, own, lease, reaping, changed, still, sees, route, online, job, troubles, slow>>

\* The stream opens, the sweep, or a new id: the route goes where the replica hears. The route under the old id is
\* replaced.
Attach ==
  /\ how["v"] = "runs" /\ own \in lease /\ route # {own}
  /\ own \in set
  /\ route' = {own} /\ online' = TRUE
  /\ UNCHANGED <<how, beaten, slept, own, lease, reaping, changed, still, sees, set, job, troubles, slow>>

\* A watcher renews its own lease, and reads all. If it slept in between, what it saw before proves nothing. A watcher
\* without a lease comes back under another id, which has the same name here, since it holds no stream. In each beat the
\* watched replica comes first, then "a", then "b". Their other steps come in between, so this loses nothing and leaves a
\* quarter of the states.
Observed(w) ==
  /\ how[w] = "runs" /\ w \notin beaten
  /\ LET before == IF w = "a" THEN "v" ELSE "a" IN before \in beaten \/ how[before] # "runs"
  /\ beaten' = beaten \union {w} /\ slept' = slept \ {w}
  /\ lease' = lease \union {w}
  /\ reaping' = [reaping EXCEPT ![w] = ""]
  /\ still' = [still EXCEPT ![w] = [id \in All |->
       IF id = w \/ id \notin lease \/ id \notin sees[w].lease \/ changed[w][id] \/ w \in slept THEN 0
       ELSE IF still[w][id] < DEAD_AFTER THEN still[w][id] + 1 ELSE still[w][id]]]
  /\ sees' = [sees EXCEPT ![w] = [lease |-> lease', reaping |-> reaping']]
  /\ changed' = [u \in Watchers |-> IF u = w THEN [id \in All |-> FALSE]
                                   ELSE [changed[u] EXCEPT ![w] = TRUE]]
  /\ job' = IF w \in lease THEN job ELSE [job EXCEPT ![w] = NoJob]
  /\ UNCHANGED <<how, own, route, set, online, troubles, slow>>

IsAlive(w) == how[w] = "runs" /\ w \in lease

Claim(w, id) ==
  /\ IsAlive(w) /\ id # w /\ job[w] = NoJob
  /\ id \in sees[w].lease /\ still[w][id] >= DEAD_AFTER
  /\ id \in lease /\ ~changed[w][id]
  /\ lease' = lease \ {id}
  /\ reaping' = [reaping EXCEPT ![id] = w]
  /\ job' = [job EXCEPT ![w] = [id |-> id, step |-> "claimed"]]
  /\ UNCHANGED <<how, beaten, slept, own, changed, still, sees, route, set, online, troubles, slow>>

TakeOver(w, id) ==
  /\ IsAlive(w) /\ job[w] = NoJob
  /\ sees[w].reaping[id] # "" /\ (sees[w].reaping[id] = w \/ sees[w].reaping[id] \notin sees[w].lease)
  /\ reaping[id] = sees[w].reaping[id] /\ id \notin lease
  /\ reaping' = [reaping EXCEPT ![id] = w]
  /\ job' = [job EXCEPT ![w] = [id |-> id, step |-> "claimed"]]
  /\ UNCHANGED <<how, beaten, slept, own, lease, changed, still, sees, route, set, online, troubles, slow>>

\* Routes of ids that are being reaped count as gone. The reaper has read the table after its claim (reaper.ts, #reap).
Reconcile(w) ==
  /\ IsAlive(w) /\ job[w].step = "claimed" /\ sees[w].reaping[job[w].id] = w
  /\ LET open == {id \in route : sees[w].reaping[id] = ""} IN
       /\ online' = (open # {})
       /\ route' = open
  /\ job' = [job EXCEPT ![w].step = "reconciled"]
  /\ UNCHANGED <<how, beaten, slept, own, lease, reaping, changed, still, sees, set, troubles, slow>>

Forget(w) ==
  /\ IsAlive(w) /\ job[w].step = "reconciled"
  /\ set' = set \ {job[w].id}
  /\ job' = [job EXCEPT ![w].step = "forgotten"]
  /\ UNCHANGED <<how, beaten, slept, own, lease, reaping, changed, still, sees, route, online, troubles, slow>>

\* The sample of the set is empty. `set` comes before `reaping`, because what is left in the set is reconciled first.
Finish(w) ==
  /\ IsAlive(w)
  /\ job[w].step = "forgotten" \/ (job[w].step = "claimed" /\ sees[w].reaping[job[w].id] = w /\ job[w].id \notin set)
  /\ reaping' = [reaping EXCEPT ![job[w].id] = ""]
  /\ job' = [job EXCEPT ![w] = NoJob]
  /\ UNCHANGED <<how, beaten, slept, own, lease, changed, still, sees, route, set, online, troubles, slow>>

-----------------------------------------------------------------------------
\* Watchers are alike, so "a" is the one that may die, and "b" the one that may be paused, and lives.
Pause(r) ==
  /\ r \in {"v", "b"} /\ (r = "v" => own = "v1") /\ troubles > 0 /\ troubles' = troubles - 1
  /\ how[r] = "runs" /\ how' = [how EXCEPT ![r] = "paused"]
  /\ UNCHANGED <<beaten, slept, own, lease, reaping, changed, still, sees, route, set, online, job, slow>>

Resume(r) ==
  /\ how[r] = "paused" /\ how' = [how EXCEPT ![r] = "runs"]
  /\ UNCHANGED <<beaten, slept, own, lease, reaping, changed, still, sees, route, set, online, job, troubles, slow>>

Kill(r) ==
  /\ r \in {"v", "a"} /\ troubles > 0 /\ troubles' = troubles - 1
  /\ how[r] # "killed" /\ how' = [how EXCEPT ![r] = "killed"]
  /\ UNCHANGED <<beaten, slept, own, lease, reaping, changed, still, sees, route, set, online, job, slow>>

Reaps(w) == Reconcile(w) \/ Forget(w) \/ Finish(w) \/ \E id \in All : Claim(w, id) \/ TakeOver(w, id)

Next ==
  \/ Tick \/ Beat \/ Add \/ Attach
  \/ \E w \in Watchers : Observed(w) \/ Reaps(w)
  \/ \E r \in Everybody : Pause(r) \/ Resume(r) \/ Kill(r)

GoesOn ==
  /\ WF_vars(Tick) /\ WF_vars(Beat) /\ WF_vars(Add) /\ WF_vars(Attach)
  /\ \A w \in Watchers : WF_vars(Observed(w)) /\ WF_vars(Reaps(w))
  /\ \A r \in Everybody : WF_vars(Resume(r))

Spec == Init /\ [][Next]_vars /\ GoesOn

-----------------------------------------------------------------------------
\* A replica that beats is never taken for dead, whoever is paused. Only a replica that was silent for long enough is.
\* Graces, which hide a reload (G7), are left out here; tests and the checker of histories cover them.
TheLivingKeepTheirLease == [][("v1" \in lease /\ "v1" \notin lease') => slow >= DEAD_AFTER - 1]_vars

\* Proves G6: an id never has both a lease and a reaper, so a replica that counts as gone knows that it does.
LeaseOrReaper == \A id \in All : ~(id \in lease /\ reaping[id] # "")

\* Proves G6: the device of a killed replica is announced offline, even if its reaper dies or was paused.
GhostsEnd == (how["v"] = "killed") ~> ~online

\* Proves G1: an open stream is routed in the end, to where its replica hears.
OpenIsRouted == (how["v"] # "killed" /\ troubles = 0) ~> (how["v"] = "killed" \/ (own \in lease /\ route = {own} /\ online))
=============================================================================
