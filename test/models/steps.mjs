/*
 * The steps that a model allows, as lines that checkers of runs read (`steps.txt`). TLC prints each once while it tries every
 * order, so the lines are the model's own. `npm run test:model` compares them with the file.
 */

/** The definitions that each model needs so that TLC notes its steps, and how a note becomes a line. */
const NOTES = {
  transfer: {
    view: 't',
    constants: { Most: 7, Losses: 0 },
    definitions: `
Told(by, action) ==
  IF ~May(by, action) THEN "forbidden" ELSE IF Happened(by, action) THEN "again"
  ELSE IF Target(action) = "" THEN "refused" ELSE "changes"
Words(r) == <<r.state, r.accepted, r.relay, r.why>>
Steps ==
  \\/ \\E by \\in Parties \\ {"other"}, action \\in Actions : Act(by, action) /\\ Note(Words(t) \\o <<by, action, Told(by, action)>> \\o Words(t'))
  \\/ Expire /\\ Note(Words(t) \\o <<"system", "expire", "changes">> \\o Words(t'))`,
    /** A record is its state, with what else is true of it. */
    line(values) {
      const record = ([state, accepted, relay, why]) =>
        state === 'gone' ? state : [state, accepted && 'accepted', relay && 'relay', why].filter(Boolean).join('+');
      return [record(values.slice(0, 4)), ...values.slice(4, 7), record(values.slice(7))];
    },
  },
  login: {
    definitions: `
Has(p) == IF poll'[p].step # "answers" THEN "nothing" ELSE IF state' = state THEN "again" ELSE "session"
Steps ==
  \\/ Decide("approved") /\\ Note(<<state, "approve", "ok", state'>>)
  \\/ Decide("denied") /\\ Note(<<state, "deny", "ok", state'>>)
  \\/ Expire /\\ Note(<<state, "expire", "ok", state'>>)
  \\/ TimeIsOver \\/ Lapse \\/ LapsesAtLast \\/ Check
  \\/ \\E p \\in Polls :
      \\/ Finish(p) /\\ poll[p].says = "consumed" /\\ Note(<<state, "consume", Has(p), state'>>)
      \\/ Finish(p) /\\ poll[p].says # "consumed"
      \\/ Lease(p) \\/ Expect(p) \\/ Mint(p) \\/ MintFails(p) \\/ Refuse(p) \\/ FinishAgain(p) \\/ Answer(p) \\/ Die(p)`,
    line: (values) => values,
  },
  // A request in the form of its record in the store: with its lease, its time, and the place of a fencing number.
  lease: {
    model: 'login',
    constants: { Faults: 4 },
    definitions: `
Place(p) == IF poll[p].fence = fence THEN "newest" ELSE "older"
Ends(p) == IF poll[p].fence = fence /\\ (state = "approved" \\/ state = poll[p].says) THEN "yes" ELSE "no"
Kept == <<state, leased, over>>
Steps ==
  \\/ Decide("approved") /\\ Note(Kept \\o <<"user", "approved", "ok">> \\o Kept')
  \\/ Decide("denied") /\\ Note(Kept \\o <<"user", "denied", "ok">> \\o Kept')
  \\/ Expire /\\ Note(Kept \\o <<"time", "expire", "ok">> \\o Kept')
  \\/ TimeIsOver \\/ Lapse \\/ LapsesAtLast \\/ Check
  \\/ \\E p \\in Polls :
      \\/ Lease(p) /\\ Note(Kept \\o <<"poll", "lease", "fence+" \\o ToString(fence' - fence)>> \\o Kept')
      \\/ Finish(p) /\\ Note(Kept \\o <<Place(p), poll[p].says, Ends(p)>> \\o Kept')
      \\/ Expect(p) \\/ Mint(p) \\/ MintFails(p) \\/ Refuse(p) \\/ FinishAgain(p) \\/ Answer(p) \\/ Die(p)`,
    line(values) {
      const request = ([state, leased, over]) => [state, leased && 'leased', over && 'over'].filter(Boolean).join('+');
      return [request(values.slice(0, 3)), ...values.slice(3, 6), request(values.slice(6))];
    },
  },
  relay: {
    definitions: `
Age(g) == IF store.g = 0 THEN "gone" ELSE IF store.g < g THEN "older" ELSE IF store.g = g THEN "same" ELSE "newer"
Sender(token) == IF token = store.w THEN "newest" ELSE "other"
At(start) == IF start = store.end THEN "end" ELSE "elsewhere"
From(offset) == IF offset > store.got THEN "behind" ELSE "within"
Got == IF store'.got = store.got THEN "stays" ELSE "moves"
Skips == IF store'.skips THEN "skips" ELSE "whole"
Steps ==
  \\/ Enter /\\ Note(<<Age(sender'.g), At(sender'.at), "send", "enters", IF store'.end = store.end THEN "stays" ELSE "grows">>)
  \\/ Report /\\ Note(<<IF store.skips THEN "skips" ELSE "whole", From(reader.at), "report", "taken", Got>>)
  \\/ Create /\\ Note(<<Age(store'.g), IF store.g = 0 THEN "anywhere" ELSE From(store'.base), "create", Skips,
                       IF store'.got = store'.base THEN "base" ELSE IF store'.got = store.got THEN "stays" ELSE "other">>)
  \\/ Record /\\ Note(<<IF store.made > record.g THEN "made" ELSE "unmade", "next", "record", "ok", record'.g - record.g>>)
  \\/ SendChunk \\/ Take \\/ Delivered \\/ LoseStore \\/ SenderGoes \\/ ReaderGoes
  \\/ \\E chunk \\in late :
      LET is == <<Age(chunk.g)>> \\o (IF chunk.g = store.g THEN <<Sender(chunk.token), At(chunk.start)>> ELSE <<"other", "elsewhere">>) IN
        Commit(chunk) /\\ Note(is \\o <<"commit", IF store' = store THEN "refused" ELSE "taken", IF store'.end = store.end THEN "stays" ELSE "grows">>)
  \\/ \\E from \\in 0 .. Size - 1 : Read(from) /\\ Note(<<Age(reader'.g), From(from), "read", Skips, Got>>)
  \\/ \\E upTo \\in 1 .. Size : Aside(upTo) /\\ Note(<<"aside", From(upTo), "report", "taken", Got>>)`,
    line: (values) => values,
  },
  keyring: {
    definitions: `
Seen(ring) ==
  <<IF ring.n = InForce.n THEN "same" ELSE IF ring.n = InForce.n + 1 THEN "next" ELSE "other",
    IF ring.id = InForce.id THEN "itself" ELSE IF ring.before = InForce.id THEN "follows" ELSE "foreign">>
Steps ==
  \\/ Drop \\/ LoseTail \\/ PutBack
  \\/ \\E c \\in Clients :
      \\/ Read(c)
      \\/ LET ring == client[c].ring IN
           Put(c) /\\ Note(Seen(ring) \\o <<"put", IF IsAgain(ring) \\/ Follows(ring) THEN "ok" ELSE "refused",
                           IF rings' = rings THEN "stays" ELSE "grows">>)`,
    line: (values) => values,
  },
};

/** Returns the notes of this name, and their model. Notes that name no model belong to the model of the same name. */
const noteOf = (name) => ({ model: name, ...NOTES[name] });
export const NOTED = Object.keys(NOTES).map((name) => ({ name, model: noteOf(name).model }));

/** Returns a module for TLC that prints the steps of a model, and its configuration. */
export function notingModule(name, config) {
  const { model, definitions, view, constants = {} } = noteOf(name);
  const text = `---- MODULE ${name}Steps ----
EXTENDS ${model}, Sequences
ASSUME TLCSet(1, {})
Note(values) == values \\in TLCGet(1) \\/ (PrintT(<<"@">> \\o values) /\\ TLCSet(1, TLCGet(1) \\union {values}))
${definitions.trim()}
View == ${view ?? 'vars'}
====
`;
  const kept = config
    .replace(/^SPECIFICATION .*$/m, 'INIT Init\nNEXT Steps\nVIEW View')
    .replaceAll(/^(INVARIANTS?|PROPERT(?:Y|IES)) .*$/gm, '');
  const set = Object.entries(constants).reduce(
    (made, [constant, value]) => made.replace(new RegExp(`^( *${constant} = ).*$`, 'm'), `$1${value}`),
    kept,
  );
  return { text, config: set };
}

/** Returns the lines that TLC printed. TLC breaks long values into several lines. */
export function linesIn(name, output) {
  const found = [...output.matchAll(/<<\s*"@",(.*?)>>/gs)].map(([, values]) =>
    JSON.parse(`[${values.replaceAll(/\bTRUE\b/g, 'true').replaceAll(/\bFALSE\b/g, 'false')}]`),
  );
  return found.map((values) => [name, ...NOTES[name].line(values)].join(' ')).toSorted();
}
