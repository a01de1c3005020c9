------------------------------- MODULE members -------------------------------
\* This model shows who belongs to an account, as its devices see it. Members sign rings, one member is a thief, and a service
\* that lies and helps the thief shows the rings. A ring is the sequence of all rings up to it, so two rings are the same only
\* if all rings before them are. Its last entry names the members, and who signed it. The proofs are about one honest device,
\* "own". The other one is modelled without its notes, so it does more than a real one.
\*
\* Change        shared/client/sealing/rings.ts             change. The service answers what it likes: a ring may be in its
\*                                                          hands while its device was told that another one was faster
\* Take          shared/client/sealed/ring/chain.ts         walkChain
\* Follows       shared/client/sealed/ring/ring.ts          checkNext
\* Hear          shared/client/sealed/keyring.ts            noteRemoved: the news that the thief was removed
\* Receive       shared/client/sealed/content/body.ts       ringNamed, and noteSeen of keyring.ts
\* Lie           shared/client/sealed/ring/named-rings.ts   the thief names a ring of nobody
\* MaySeal       shared/client/sealed/keyring.ts            checkMaySeal
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Most

VARIABLES
  pin,      \* pin[d]: the newest ring that an honest device has taken
  kept,     \* a ring whose device was told that another one was faster; the service may show it all the same
  named,    \* [by, ring]: rings that members have named, and that are not in the chain of "own"
  removed,  \* the thief is noted as removed: as a member until a ring is without it, otherwise for good
  knows,    \* "own" was told that the thief is out, by a ring or by the news
  heard     \* the ring that the other device named last

vars == <<pin, kept, named, removed, knows, heard>>

Honest == {"own", "other"}
Thief == "thief"
Newcomer == "new"
Nowhere == <<>>

Last(ring) == ring[Len(ring)]
Members(ring) == Last(ring).members
IsIn(ring, chain) == ring # Nowhere /\ Len(ring) <= Len(chain) /\ SubSeq(chain, 1, Len(ring)) = ring

\* The account key is new when anybody leaves. Its maker has it, and so do the members since.
IsRotated(before, ring) == Members(before) \ Members(ring) # {}
RECURSIVE Holders(_)
Holders(ring) ==
  LET before == SubSeq(ring, 1, Len(ring) - 1) IN
  IF before = Nowhere \/ IsRotated(before, ring) THEN Members(ring) \union {Last(ring).by}
  ELSE Holders(before) \union Members(ring)

\* The rings that members have named and that still count.
Open(said, ring) == {c \in said : c.by \in Members(ring) /\ ~IsIn(c.ring, ring)}
Allows(ring, said) ==
  /\ "own" \in Members(ring) /\ Open(said, ring) = {}
  /\ removed = "no" \/ Thief \notin Members(ring)
MaySeal == Allows(pin["own"], named)

Init ==
  /\ \E members \in {Honest, Honest \union {Thief}} : pin = [d \in Honest |-> <<[members |-> members, by |-> "own"]>>]
  /\ kept = {} /\ named = {} /\ removed = "no" /\ knows = FALSE /\ heard = Nowhere

Pin(d, ring) ==
  /\ pin' = [pin EXCEPT ![d] = ring]
  /\ IF d # "own" THEN UNCHANGED <<named, removed, knows>>
     ELSE /\ named' = {c \in named : ~IsIn(c.ring, ring)}
          /\ removed' = IF removed = "member" /\ Thief \notin Members(ring) THEN "no" ELSE removed
          /\ knows' = (knows \/ Thief \in Members(pin[d]) \ Members(ring))

After(ring, members, by) == Append(ring, [members |-> members, by |-> by])
Mends(members) == Open(named, pin["own"]) = {} \/ \E c \in Open(named, pin["own"]) : c.by \notin members
Change(d, members) ==
  /\ d \in Members(pin[d]) /\ Len(pin[d]) < Most /\ members # Members(pin[d]) /\ (d = "own" => Mends(members))
  /\ LET ring == After(pin[d], members, d) IN
       \/ Pin(d, ring) /\ UNCHANGED kept
       \/ kept = {} /\ kept' = {ring} /\ UNCHANGED <<pin, named, removed, knows>>
  /\ UNCHANGED heard

\* No device lets in a device that is known to be out, because no id is given twice.
Was(who, ring) == \E n \in 1 .. Len(ring) : who \in ring[n].members
LetIn(d, who) ==
  /\ ~Was(who, pin[d]) /\ ~(knows /\ d = "own" /\ who = Thief)
  /\ Change(d, Members(pin[d]) \union {who})
Remove(d) == Change(d, Members(pin[d]) \ {Thief})

\* The rings that the thief signs on a chain: without itself, without the other device, and with both of them again.
Forgeries(ring) == {Members(ring) \ {Thief}, Members(ring) \ {"other"}, Members(ring) \union {"other", Thief}}
Forged == UNION {{After(pin[d], members, Thief) : members \in Forgeries(pin[d])} : d \in Honest}

\* The rings of a device, up to any number.
Shown == UNION {{SubSeq(pin[d], 1, n) : n \in 1 .. Len(pin[d])} : d \in Honest}

Follows(ring, next) ==
  /\ Len(next) = Len(ring) + 1
  /\ IsIn(ring, next)
  /\ Last(next).by \in Members(ring)
  /\ Last(next).by \in Members(next)
Take(d) ==
  \E ring \in kept \union Forged \union Shown :
    Len(ring) <= Most /\ Follows(pin[d], ring) /\ Pin(d, ring) /\ UNCHANGED <<kept, heard>>

Hear ==
  /\ removed = "no" /\ knows' = TRUE
  /\ removed' = IF Thief \in Members(pin["own"]) THEN "member" ELSE "other"
  /\ UNCHANGED <<pin, kept, named, heard>>

\* The newest ring that a member named counts.
Note(by, ring) ==
  /\ by \in Members(pin["own"]) /\ ~IsIn(ring, pin["own"])
  /\ named' = IF \E c \in named : c.by = by /\ Len(c.ring) >= Len(ring) THEN named
              ELSE {c \in named : c.by # by} \union {[by |-> by, ring |-> ring]}
  /\ UNCHANGED <<pin, kept, removed, knows>>
Receive == Note("other", pin["other"]) /\ heard' = pin["other"]
Lie == Note(Thief, Nowhere) /\ UNCHANGED heard

Next ==
  \/ Hear \/ Receive \/ Lie
  \/ \E d \in Honest : LetIn(d, Thief) \/ LetIn(d, Newcomer) \/ Remove(d) \/ Take(d)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
HasHeard == heard # Nowhere /\ "other" \in Members(pin["own"])
IsWithout(ring) == Thief \notin Members(ring) /\ Was(Thief, ring)

\* Proves G35: a device seals nothing for a removed device, once it was told of the removal, or once another member has named a
\* ring without that device.
NothingForRemoved == MaySeal /\ (knows \/ (HasHeard /\ IsWithout(heard))) => Thief \notin Holders(pin["own"])

\* Proves G36: a device that has received a text of another member has the ring of that text in its chain, or has stopped.
OneChainOrStopped == MaySeal /\ HasHeard => IsIn(heard, pin["own"])

\* Proves G36: a thief stops the others only until it is removed, which each of them can do.
LiarsAreRemoved ==
  LET ring == pin["own"]
      members == Members(ring) \ {Thief} IN
  "own" \in members /\ Thief \in Members(ring) /\ (\A c \in named : c.by = Thief) =>
    Mends(members) /\ Allows(After(ring, members, "own"), named)
=============================================================================
