------------------------------- MODULE linking -------------------------------
\* Two new devices are let into the ring at the same time: "x" shows a code, "y" scans the invite of the device that lets it
\* in. The service keeps the chain, and lies about keys, requests, grants and answers. A stranger has photographed both. A
\* request is <<device, attempt>>. A grant is [secret, request, to, n, by]: n is the ring that it names; 0 is a ring of a
\* stranger.
\*
\* Scan          shared/client/sealed/link/link-code.ts     checkKeys; invite.ts: checkInvite
\* Read          shared/client/sealing/rings.ts             change: walks to the newest ring
\* Put           services/sync/keys/lua/keyring-put.lua     a lost race is repeated (change)
\* Seal          shared/client/sealed/link/grant.ts         sealGrant; then services/sync/signin/lua/login-decide.lua
\* Leave         shared/client/sealing/linking.ts           letIn: a refused device leaves the ring again
\* Take          shared/client/sealed/link/grant.ts         openGrant
\* Confirm       shared/client/sealing/rings.ts             pinGranted; pinRing of shared/client/sealed/ring/chain.ts
\* Dies          shared/client/sealing/rings.ts             pinGranted: the approval is kept until the user has answered
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Attempts, Faults

VARIABLES
  ring,     \* the members by their keys, of each ring in the store
  device,   \* device[d]: [step, attempt, grant, pin]: a new device; pin is the newest ring that it believes
  letting,  \* letting[d]: [step, attempt, keys, base]: the program that lets d in, and the ring that it follows
  grants,   \* grants that were sent to the service
  shown,    \* grants whose digits the approving device shows
  faults

vars == <<ring, device, letting, grants, shown, faults>>

New == {"x", "y"}
Keys == New \union {"stranger"}
NoGrant == [secret |-> <<>>, request |-> <<>>, to |-> "", n |-> 0, by |-> ""]
Newest == ring[Len(ring)]

\* A code has a new secret at each attempt; an invite always has the same one.
SecretOf(d) == IF d = "x" THEN <<d, device[d].attempt>> ELSE <<d, 0>>
RequestOf(d) == <<d, device[d].attempt>>

Init ==
  /\ ring = <<{"old"}>> /\ grants = {} /\ shown = {} /\ faults = Faults
  /\ device = [d \in New |-> [step |-> "asks", attempt |-> 1, grant |-> NoGrant, pin |-> 0]]
  /\ letting = [d \in New |-> [step |-> "idle", attempt |-> 0, keys |-> "", base |-> 0]]

Fault == faults > 0 /\ faults' = faults - 1
To(d, step) == letting' = [letting EXCEPT ![d].step = step]

\* The service shows any keys and any request. A code has the fingerprint of the keys, and names the request.
FitsCode(d, keys) == keys = d
\* The digits depend on the secret, the keys and the request, and the new device shows its own.
FitsDigits(d, keys, request) == keys = d /\ request = RequestOf(d)
Scan(d) ==
  /\ device[d].step = "asks" /\ letting[d].step \in {"idle", "done", "failed"}
  /\ letting[d].attempt < device[d].attempt \/ letting[d].step = "failed"
  /\ \E keys \in Keys, request \in {RequestOf(other) : other \in New} :
       /\ IF d = "x" THEN FitsCode(d, keys) /\ request = RequestOf(d) ELSE FitsDigits(d, keys, request)
       /\ letting' = [letting EXCEPT ![d] = [step |-> "reads", attempt |-> device[d].attempt, keys |-> keys, base |-> 0]]
  /\ UNCHANGED <<ring, device, grants, shown, faults>>

Read(d) ==
  /\ letting[d].step = "reads"
  /\ letting' = [letting EXCEPT ![d].step = "puts", ![d].base = Len(ring)]
  /\ UNCHANGED <<ring, device, grants, shown, faults>>

\* The put is a compare-and-set. Its answer may be lost for good; then the program fails, and its user is told.
Put(d) ==
  /\ letting[d].step = "puts"
  /\ IF letting[d].base # Len(ring) THEN To(d, "reads") /\ UNCHANGED <<ring, faults>>
     ELSE /\ ring' = Append(ring, ring[letting[d].base] \union {letting[d].keys})
          /\ \/ letting' = [letting EXCEPT ![d].step = "seals", ![d].base = Len(ring) + 1] /\ UNCHANGED faults
             \/ To(d, "failed") /\ Fault
  /\ UNCHANGED <<device, grants, shown>>

\* The service takes the approval and says so, or refuses it, or its answer is lost. It has the grant in any case.
Seal(d) ==
  /\ letting[d].step = "seals"
  /\ LET at == letting[d].attempt
         grant == [secret |-> IF d = "x" THEN <<d, at>> ELSE <<d, 0>>, request |-> <<d, at>>, to |-> letting[d].keys,
                   n |-> letting[d].base, by |-> "old"] IN
       /\ grants' = grants \union {grant}
       /\ \/ To(d, "done") /\ shown' = shown \union {grant} /\ UNCHANGED faults
          \/ To(d, "leaves") /\ Fault /\ UNCHANGED shown
          \/ To(d, "failed") /\ Fault /\ UNCHANGED shown
  /\ UNCHANGED <<ring, device>>

Leave(d) ==
  /\ letting[d].step = "leaves" /\ To(d, "failed")
  /\ ring' = Append(ring, Newest \ {letting[d].keys})
  /\ UNCHANGED <<device, grants, shown, faults>>

\* The grant was sent, or comes from a stranger who has the secret. The service gives it to anybody, as often as it likes.
Opens(d, grant) == grant.to = d /\ grant.secret = SecretOf(d) /\ grant.request = RequestOf(d)
Take(d) ==
  /\ device[d].step = "asks"
  /\ LET strange == [secret |-> SecretOf(d), request |-> RequestOf(d), to |-> d, n |-> 0, by |-> "stranger"] IN
       \E grant \in grants \union {strange} :
         device' = [device EXCEPT ![d].step = IF Opens(d, grant) THEN "asked" ELSE "out",
                                  ![d].grant = IF Opens(d, grant) THEN grant ELSE NoGrant]
  /\ UNCHANGED <<ring, letting, grants, shown, faults>>

\* The user compares the digits with those of the approving device. Then the service shows the rings from any ring on, either
\* those of the account or those of a stranger.
Fits(grant, pin) == IF grant.n = 0 THEN pin = 0 ELSE pin >= grant.n
Confirm(d) ==
  /\ device[d].step = "asked"
  /\ \/ /\ device[d].grant \in shown
        /\ \E pin \in {0, device[d].grant.n - 1, device[d].grant.n} :
             Fits(device[d].grant, pin) /\ device' = [device EXCEPT ![d].step = "in", ![d].pin = pin]
     \/ device[d].grant \notin shown /\ device' = [device EXCEPT ![d].step = "out", ![d].grant = NoGrant]
  /\ UNCHANGED <<ring, letting, grants, shown, faults>>

\* A program dies, and another one goes on with what is stored. The approval is stored until the user has answered. Every later
\* program asks the user or refuses, so the new device stays where it was.
Dies(d) ==
  /\ Fault /\ UNCHANGED <<ring, grants, shown>>
  /\ \/ device[d].step = "asked" /\ UNCHANGED <<device, letting>>
     \/ letting[d].step \in {"reads", "puts", "seals", "leaves"} /\ To(d, "failed") /\ UNCHANGED device

\* The user asks again with the same invite, which a service may accept twice.
Again(d) ==
  /\ d = "y" /\ device[d].step = "out" /\ device[d].attempt < Attempts
  /\ device' = [device EXCEPT ![d].step = "asks", ![d].attempt = @ + 1]
  /\ UNCHANGED <<ring, letting, grants, shown, faults>>

Next ==
  \E d \in New :
    Scan(d) \/ Read(d) \/ Put(d) \/ Seal(d) \/ Leave(d) \/ Take(d) \/ Confirm(d) \/ Dies(d) \/ Again(d)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Proves G37: a ring has no keys except those that the user has brought, by a code or by digits.
OnlyShownKeys == \A n \in 1 .. Len(ring) : ring[n] \subseteq {"old"} \union {d \in New : letting[d].attempt > 0}

\* Proves G37: a device that was let in successfully is in the ring that its grant names, whoever else was let in meanwhile.
DoneIsIn ==
  \A d \in New : letting[d].step = "done" =>
    /\ d \in Newest
    /\ \E grant \in grants : grant.request = <<d, letting[d].attempt>> /\ d \in ring[grant.n]

\* Proves G37: a grant is accepted only for the request that it was made for, and for no other request of the same device.
ForItsRequest == \A d \in New : device[d].step \in {"asked", "in"} => device[d].grant.request = RequestOf(d)

\* Proves G37: a new device believes the ring of its grant, or one that follows. It keeps nothing that the user has not
\* confirmed.
Believes ==
  \A d \in New : device[d].step = "in" =>
    /\ device[d].grant \in shown /\ device[d].grant.n # 0
    /\ device[d].pin >= device[d].grant.n /\ d \in ring[device[d].grant.n]

\* Proves G37: a device that lets another one in can always go on, even if others change the ring meanwhile.
AllEnd ==
  \A d \in New : letting[d].step \notin {"idle", "done", "failed"} => ENABLED (Read(d) \/ Put(d) \/ Seal(d) \/ Leave(d))
=============================================================================
