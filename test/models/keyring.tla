------------------------------- MODULE keyring -------------------------------
\* The rings of one account. Clients that have checked the previous ring put them, a member removes them, and a
\* failover loses them. A ring is [n, id, before]: its number, its hash, and the hash of the ring that it follows.
\*
\* Read          services/sync/keys/lua/keyring-head.lua   the rules check the signature against what was read
\* Put           services/sync/keys/lua/keyring-put.lua
\* Again         services/sync/keys/lua/keyring-put.lua    the same ring again, after a lost answer
\* Drop          services/sync/keys/lua/keyring-drop.lua   signed by a member of the ring in force
\* LoseTail      a primary without the last write takes over
\* PutBack       services/sync/keys/README.md              a client that has more rings than the store puts them back
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Clients, Most, Drops, Losses

VARIABLES
  rings,     \* the chain in the store; the last ring is in force
  client,    \* client[c]: [step, ring]: the ring that it is about to put
  told,      \* rings that were answered as put
  made,      \* how many rings were made
  wasLost,   \* rings that a failover lost
  dropped,   \* rings that were removed by a member
  drops, losses

vars == <<rings, client, told, made, wasLost, dropped, drops, losses>>

None == [n |-> 0, id |-> 0, before |-> 0]
InForce == IF rings = <<>> THEN None ELSE rings[Len(rings)]
Idle == [step |-> "idle", ring |-> None]

Init ==
  /\ rings = <<>> /\ client = [c \in Clients |-> Idle] /\ told = {} /\ made = 0
  /\ wasLost = {} /\ dropped = {} /\ drops = Drops /\ losses = Losses

Read(c) ==
  /\ client[c].step = "idle" /\ made < Most
  /\ made' = made + 1
  /\ client' = [client EXCEPT ![c] =
       [step |-> "puts", ring |-> [n |-> InForce.n + 1, id |-> made + 1, before |-> InForce.id]]]
  /\ UNCHANGED <<rings, told, wasLost, dropped, drops, losses>>

Follows(ring) == InForce.n = ring.n - 1 /\ InForce.id = ring.before
IsAgain(ring) == InForce.n = ring.n /\ InForce.id = ring.id

\* The answer may be lost, and the same ring is sent again.
Put(c) ==
  /\ client[c].step = "puts"
  /\ LET ring == client[c].ring IN
     IF IsAgain(ring) \/ Follows(ring)
     THEN /\ rings' = IF IsAgain(ring) THEN rings ELSE Append(rings, ring)
          /\ \/ told' = told \union {ring} /\ client' = [client EXCEPT ![c] = Idle]
             \/ UNCHANGED <<told, client>>
     ELSE /\ client' = [client EXCEPT ![c] = Idle] /\ UNCHANGED <<rings, told>>
  /\ UNCHANGED <<made, wasLost, dropped, drops, losses>>

Drop ==
  /\ drops > 0 /\ rings # <<>> /\ drops' = drops - 1
  /\ rings' = <<>> /\ dropped' = dropped \union {rings[i] : i \in 1 .. Len(rings)}
  /\ UNCHANGED <<client, told, made, wasLost, losses>>

LoseTail ==
  /\ losses > 0 /\ rings # <<>> /\ losses' = losses - 1
  /\ wasLost' = wasLost \union {InForce}
  /\ rings' = SubSeq(rings, 1, Len(rings) - 1)
  /\ UNCHANGED <<client, told, made, dropped, drops>>

PutBack ==
  \E ring \in told \intersect wasLost :
    /\ Follows(ring) /\ rings' = Append(rings, ring) /\ wasLost' = wasLost \ {ring}
    /\ UNCHANGED <<client, told, made, dropped, drops, losses>>

Next == Drop \/ LoseTail \/ PutBack \/ \E c \in Clients : Read(c) \/ Put(c)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Proves G32: the rings are one chain. Each is a successor that a member of the previous ring has signed.
OneChain ==
  \A i \in 1 .. Len(rings) :
    /\ rings[i].n = i
    /\ rings[i].before = (IF i = 1 THEN 0 ELSE rings[i - 1].id)

\* Proves G32: a ring that was answered is in the chain, unless a member removed it, or a failover lost it or what it follows.
AnsweredIsKept ==
  \A ring \in told : (\E i \in 1 .. Len(rings) : rings[i] = ring) \/ ring \in dropped \/ ring \in wasLost

\* Proves G32: only one of the rings that follow the same ring was put. There are more only after a failover or a
\* removal.
OneSucceeds ==
  (losses = Losses /\ drops = Drops) => \A a, b \in told : a.before = b.before => a = b
=============================================================================
