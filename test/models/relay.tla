-------------------------------- MODULE relay --------------------------------
\* The bytes of one file of `Size` units. A sender goes where it is told, and each receiver replaces the one before. Chunks
\* of a replaced sender come late. The store of the bytes may lose them; the record does not. A unit is named by its offset,
\* so what a receiver has is right if it has 0 .. Size - 1 in order.
\*
\* Enter         services/sync/relay/lua/relay-open.lua          side w: the token of the sender
\* SendChunk     services/sync/relay/upload/upload.ts            #send
\* Commit        services/sync/relay/lua/relay-commit.lua        in one transaction with the chunk
\* Read          services/sync/relay/lua/relay-open.lua          side r: the token of the receiver, `skips`
\* Take          services/sync/relay/download/receiver.ts        drops an overlap, stops at a gap
\* Report        services/sync/relay/lua/relay-take.lua          `taken`, `got`
\* Aside         services/sync/relay/lua/relay-take.lua          without a token
\* Create        services/sync/relay/lua/relay-create.lua        the stream of the next generation, before the record
\* Record        services/sync/relay/generations.ts              rewind: transfer-generation.lua
\* Delivered     services/sync/relay/download/downloads.ts       setDelivered, when `got` is the size
\* Evict         services/sync/relay/lua/relay-evict.lua
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS Size, Generations, Faults

VARIABLES
  record,     \* the account's record: [g, offset, delivered]
  store,      \* [g, base, end, cut, chunks, w, r, got, skips] of the relay; g = 0: nothing there; cut: what is dropped;
              \* made: the newest generation that was made, known to its maker
  sender,     \* [token, g, at]: its request; token 0: none
  late,       \* chunks on their way: [token, g, start]
  reader,     \* [token, g, at, from]: its request; token 0: none
  device,     \* units that the receiving device has, over all its requests
  next,       \* the next token
  forgot,     \* the store forgot that a range was read that began after what was taken
  faults

vars == <<record, store, sender, late, reader, device, next, forgot, faults>>

NoStore == [g |-> 0, base |-> 0, end |-> 0, cut |-> 0, chunks |-> {}, w |-> 0, r |-> 0, got |-> 0, skips |-> FALSE,
            made |-> 0]
NoSender == [token |-> 0, g |-> 0, at |-> 0]
NoReader == [token |-> 0, g |-> 0, at |-> 0]
Tokens == 2 + Faults

Init ==
  /\ record = [g |-> 1, delivered |-> FALSE]
  /\ store = [NoStore EXCEPT !.g = 1, !.made = 1]
  /\ sender = NoSender /\ late = {} /\ reader = NoReader /\ device = {} /\ next = 1 /\ forgot = FALSE /\ faults = Faults

\* The sender learns the generation from the event relay:rewind, and asks where to go on.
Enter ==
  /\ sender.token = 0 /\ next <= Tokens /\ store.g # 0 /\ store.g = record.g /\ store.end < Size
  /\ sender' = [token |-> next, g |-> store.g, at |-> store.end]
  /\ store' = [store EXCEPT !.w = next] /\ next' = next + 1
  /\ UNCHANGED <<record, late, reader, device, forgot, faults>>

SendChunk ==
  /\ sender.token # 0 /\ sender.at < Size
  /\ late' = late \union {[token |-> sender.token, g |-> sender.g, start |-> sender.at]}
  /\ sender' = [sender EXCEPT !.at = sender.at + 1]
  /\ UNCHANGED <<record, store, reader, device, next, forgot, faults>>

\* A chunk finds only the stream of its generation. A refused chunk is cut off again.
Commit(chunk) ==
  /\ chunk \in late /\ late' = late \ {chunk}
  /\ IF chunk.g = store.g /\ chunk.token = store.w /\ chunk.start = store.end
     THEN store' = [store EXCEPT !.chunks = @ \union {chunk.start}, !.end = chunk.start + 1]
     ELSE UNCHANGED store
  \* The sender of the chunk learns that it was refused, and asks again.
  /\ sender' = IF sender.token = chunk.token /\ store' = store THEN NoSender ELSE sender
  /\ UNCHANGED <<record, reader, device, next, forgot, faults>>

\* The offset at which the device goes on: it has everything before its first missing unit.
First == IF 0 .. Size - 1 \subseteq device THEN Size ELSE CHOOSE i \in 0 .. Size - 1 : i \notin device /\ \A j \in 0 .. i - 1 : j \in device

\* A request may also ask for a range after what the device has.
Read(from) ==
  /\ reader.token = 0 /\ next <= Tokens /\ store.g = record.g /\ from < Size /\ ~record.delivered
  /\ from \in {First, First + 1}
  /\ reader' = [token |-> next, g |-> store.g, at |-> from] /\ next' = next + 1
  /\ store' = [store EXCEPT !.r = next, !.skips = from > store.got]
  /\ UNCHANGED <<record, sender, late, device, forgot, faults>>

Take ==
  /\ reader.token # 0 /\ reader.g = store.g /\ reader.at \in store.chunks
  /\ device' = device \union {reader.at} /\ reader' = [reader EXCEPT !.at = @ + 1]
  /\ UNCHANGED <<record, store, sender, late, next, forgot, faults>>

\* Taken bytes are dropped, except for a tail, which is left out here because it only saves rewinds.
Report ==
  /\ reader.token # 0 /\ reader.token = store.r /\ reader.g = store.g /\ reader.at > store.base
  /\ store' = [store EXCEPT !.got = IF store.skips \/ reader.at <= store.got THEN store.got ELSE reader.at,
                            !.cut = IF reader.at > @ THEN reader.at ELSE @,
                            !.chunks = {i \in store.chunks : i >= reader.at}]
  /\ store' # store
  /\ UNCHANGED <<record, sender, late, reader, device, next, forgot, faults>>

\* The device got units on another path, and says up to where it has everything, whatever request is reading.
Aside(upTo) ==
  /\ faults > 0 /\ faults' = faults - 1 /\ store.g # 0 /\ upTo > First
  /\ device' = device \union 0 .. upTo - 1
  /\ store' = [store EXCEPT !.got = IF upTo > @ THEN upTo ELSE @, !.cut = IF upTo > @ THEN upTo ELSE @,
                            !.chunks = {i \in store.chunks : i >= upTo}]
  /\ UNCHANGED <<record, sender, late, reader, next, forgot>>

\* relay.ts, ack; downloads.ts
Delivered ==
  /\ store.got = Size /\ store.g = record.g /\ ~record.delivered
  /\ record' = [record EXCEPT !.delivered = TRUE]
  /\ UNCHANGED <<store, sender, late, reader, device, next, forgot, faults>>

\* A reader finds nothing where it reads, and nobody will send it. It makes the next generation, which begins there. A
\* replaced reader makes none.
NeedsRewind ==
  /\ reader.token # 0 /\ reader.at < Size
  /\ \/ store.g # reader.g /\ store.g <= record.g
     \/ store.g = reader.g /\ reader.token = store.r /\ reader.at < store.end /\ reader.at \notin store.chunks

Create ==
  /\ NeedsRewind /\ record.g < Generations
  /\ LET g == record.g + 1
         skips == store.g # 0 /\ store.got < reader.at IN
     /\ store' = [NoStore EXCEPT !.made = g, !.g = g, !.base = reader.at, !.end = reader.at, !.cut = reader.at, !.r = reader.token,
                                 !.got = IF skips THEN store.got ELSE reader.at, !.skips = skips]
     /\ reader' = [reader EXCEPT !.g = g]
  /\ UNCHANGED <<record, sender, late, device, next, forgot, faults>>

\* The record follows, by the same request or by whoever finds the stream (generations.ts, #recordMissing).
Record ==
  /\ store.made > record.g
  /\ record' = [record EXCEPT !.g = store.made]
  /\ sender' = NoSender
  /\ UNCHANGED <<store, late, reader, device, next, forgot, faults>>

-----------------------------------------------------------------------------
LoseStore ==
  /\ faults > 0 /\ faults' = faults - 1 /\ store.g # 0
  /\ store' = [NoStore EXCEPT !.made = store.made] /\ forgot' = (forgot \/ store.skips)
  /\ UNCHANGED <<record, sender, late, reader, device, next>>

SenderGoes ==
  /\ faults > 0 /\ faults' = faults - 1 /\ sender.token # 0 /\ sender' = NoSender
  /\ UNCHANGED <<record, store, late, reader, device, next, forgot>>

\* The client or the replica of the reader dies. The device keeps what it has.
ReaderGoes ==
  /\ faults > 0 /\ faults' = faults - 1 /\ reader.token # 0 /\ reader' = NoReader
  /\ UNCHANGED <<record, store, sender, late, device, next, forgot>>

Next ==
  \/ Enter \/ SendChunk \/ Take \/ Report \/ Delivered \/ Create \/ Record
  \/ LoseStore \/ SenderGoes \/ ReaderGoes
  \/ \E chunk \in late : Commit(chunk)
  \/ \E from \in 0 .. Size - 1 : Read(from)
  \/ \E upTo \in 1 .. Size : Aside(upTo)
Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* Proves G19: the bytes that the store has and has not dropped are one piece up to their end, whoever sent them and however
\* late.
OnePiece == \A i \in store.cut .. store.end - 1 : i \in store.chunks

\* Proves G19: a file that counts as delivered is whole at its receiver, even over several requests and generations. There
\* is one exception: a store that lost everything forgot that a range was read, and a receiver that goes on at N counts as
\* having what lies before N.
DeliveredIsWhole == record.delivered => (device = 0 .. Size - 1 \/ forgot)

\* Proves G19: a generation in the record has or had its stream, so a new generation never counts as lost.
StreamBeforeRecord == store.g = 0 \/ store.g >= record.g
=============================================================================
