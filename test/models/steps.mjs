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
    /** A record is its state, and what else is true of it. */
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
      \\/ Lease(p) \\/ Expect(p) \\/ Mint(p) \\/ MintFails(p) \\/ FinishAgain(p) \\/ Answer(p) \\/ Die(p)`,
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

/** The models whose steps are kept. */
export const NOTED = Object.keys(NOTES);

/** Returns a module for TLC, and its configuration, that prints the steps of a model. */
export function notingModule(name, config) {
  const { definitions, view, constants = {} } = NOTES[name];
  const text = `---- MODULE ${name}Steps ----
EXTENDS ${name}, Sequences
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

/** Returns the lines of what TLC printed. It breaks long values into lines. */
export function linesIn(name, output) {
  const found = [...output.matchAll(/<<\s*"@",(.*?)>>/gs)].map(([, values]) =>
    JSON.parse(`[${values.replaceAll(/\bTRUE\b/g, 'true').replaceAll(/\bFALSE\b/g, 'false')}]`),
  );
  return found.map((values) => [name, ...NOTES[name].line(values)].join(' ')).toSorted();
}
