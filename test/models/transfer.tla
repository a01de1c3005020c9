------------------------------- MODULE transfer -------------------------------
\* The states of one transfer: its sender, its receiver, another device of the account, and the replica itself (expiry, a
\* device that was signed out). Anybody sends anything at any time, so the behaviours include requests that are repeated,
\* come late or come twice.
\*
\* Act           services/sync/transfers/lua/transfer-act.lua
\* Expire        services/sync/transfers/lua/transfer-expire.lua
\* LoseTail      a primary without the last step takes over
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS Most,    \* steps that come, including copies
          Losses

Parties == {"sender", "receiver", "other", "system"}
Actions == {"accept", "reject", "p2p", "relay", "complete", "fail", "cancel"}
Over == {"DONE", "FAILED", "CANCELLED", "gone"}

VARIABLES
  t,       \* the record: state, accepted, relay, why
  before,  \* the record before the last step
  count, losses,
  said,    \* what was answered: [by, action, state]
  told     \* the states that both parties were told, in the order of the log

vars == <<t, before, count, losses, said, told>>

Record(state, accepted, relay, why) == [state |-> state, accepted |-> accepted, relay |-> relay, why |-> why]
Init ==
  /\ t = Record("PENDING", FALSE, FALSE, "") /\ before = t
  /\ count = 0 /\ losses = Losses /\ said = {} /\ told = <<>>

IsOver == t.state \in Over
May(by, action) ==
  CASE by = "system" -> action = "cancel"
    [] by = "other" -> FALSE
    [] by = "sender" -> action \in {"relay", "p2p", "fail", "cancel"}
    [] by = "receiver" -> action \in {"accept", "reject", "complete", "p2p", "fail", "cancel"}

Happened(by, action) ==
  CASE action = "accept" -> t.accepted /\ t.state \notin {"FAILED", "CANCELLED"}
    [] action = "reject" -> t.state = "CANCELLED" /\ t.why = "rejected"
    [] action = "p2p" -> t.state = "P2P_ACTIVE"
    [] action = "relay" -> t.state = "RELAY_ACTIVE" \/ (t.state = "PENDING" /\ t.relay)
    [] action = "complete" -> t.state = "DONE"
    [] action = "fail" -> t.state = "FAILED"
    [] action = "cancel" -> t.state = "CANCELLED" \/ (IsOver /\ by = "system")

\* The state to which the action leads from here; "" none.
Target(action) ==
  CASE action = "accept" -> IF t.state # "PENDING" THEN "" ELSE IF t.relay THEN "RELAY_ACTIVE" ELSE "ACCEPTED"
    [] action = "reject" -> IF t.state = "PENDING" THEN "CANCELLED" ELSE ""
    [] action = "p2p" -> IF IsOver THEN "" ELSE "P2P_ACTIVE"
    [] action = "relay" -> IF IsOver THEN "" ELSE IF t.state = "PENDING" THEN "PENDING" ELSE "RELAY_ACTIVE"
    [] action = "complete" -> IF t.state \in {"P2P_ACTIVE", "RELAY_ACTIVE"} THEN "DONE" ELSE ""
    [] action = "fail" -> IF IsOver THEN "" ELSE "FAILED"
    [] action = "cancel" -> IF IsOver THEN "" ELSE "CANCELLED"

Changed(action) ==
  LET to == Target(action) IN
  Record(to, t.accepted \/ to \notin {"PENDING", "FAILED", "CANCELLED"}, t.relay \/ action = "relay",
         IF action = "reject" THEN "rejected" ELSE t.why)

Act(by, action) ==
  /\ count < Most /\ count' = count + 1 /\ t.state # "gone"
  /\ LET may == May(by, action)
         happened == may /\ Happened(by, action)
         changes == may /\ ~happened /\ Target(action) # "" IN
     /\ t' = IF changes THEN Changed(action) ELSE t
     /\ before' = IF changes THEN t ELSE before
     /\ told' = IF changes THEN Append(told, t'.state) ELSE told
     /\ said' = IF changes \/ happened
                THEN said \union {[by |-> by, action |-> action, state |-> t'.state]} ELSE said
  /\ UNCHANGED losses

Expire ==
  /\ t.state # "gone" /\ t' = [t EXCEPT !.state = "gone"] /\ before' = t
  /\ told' = IF IsOver THEN told ELSE Append(told, "FAILED")
  /\ UNCHANGED <<count, losses, said>>

\* A state that was told stays told: each stream is told of ids that the log has lost.
LoseTail ==
  /\ losses > 0 /\ t # before /\ losses' = losses - 1
  /\ t' = before /\ UNCHANGED <<before, count, said, told>>

Next == Expire \/ LoseTail \/ \E by \in Parties, action \in Actions : Act(by, action)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
WasLost == losses < Losses
Ends == {"DONE", "FAILED", "CANCELLED"}

\* Proves G12: a transfer has one end. Nothing follows it, and no two answers name different ends, except for what a
\* failover lost.
EndIsLast == WasLost \/ \A i \in 1 .. Len(told) : told[i] \in Ends => i = Len(told)
OneEnd == WasLost \/ \A a, b \in said : (a.state \in Ends /\ b.state \in Ends) => a.state = b.state

\* Proves G12: both parties are told each state in one log, so the last word is the record's.
BothAgree == (WasLost \/ told = <<>> \/ t.state = "gone") \/ told[Len(told)] = t.state

\* Proves G12: no other device takes a step, and only the receiver accepts, rejects and completes.
OnlyParties ==
  \A a \in said : a.by # "other" /\ (a.action \in {"accept", "reject", "complete"} => a.by = "receiver")

\* Proves G12: a step that was answered leads to an end that it allows. A receiver that completed is not told of a
\* refusal.
DoneIsComplete == WasLost \/ \A a \in said : (a.action = "complete" => a.state = "DONE") /\ (a.action = "reject" => a.state = "CANCELLED")
=============================================================================
