import { parseArgs } from 'node:util';
import { makeAsk } from './doctor/ask.mjs';
import { probeFlow } from './doctor/flow.mjs';
import { probeHeaders } from './doctor/headers.mjs';
import { probeReach } from './doctor/reach.mjs';

/*
 * Probes a running edge from outside, as an attacker would. It changes nothing except one QR sign-in that nobody
 * approves. Exit code 0: nothing wrong was found. 1: something was. 2: the edge could not be asked.
 */

const USAGE = `npm run doctor -- <url> ...          the public address of each edge, such as https://baton.example
  --token <access token>             of a signed-in device; or DOCTOR_TOKEN, which no process list shows
  --cookie <name=value>              the session cookie instead; or DOCTOR_COOKIE
  --replica <url>                    of a replica: must not be reachable from here; may be repeated
  --insecure                         take any certificate
  --quick                            leave out what takes half a minute
Without a session much cannot be seen: what an edge adds to requests of users, the stream, uploads.`;

function optionsOf(args, env) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        token: { type: 'string' },
        cookie: { type: 'string' },
        replica: { type: 'string', multiple: true, default: [] },
        insecure: { type: 'boolean', default: false },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const wrong = [...positionals, ...values.replica].find((url) => !URL.canParse(url) || !/^https?:/.test(url));
    if (wrong !== undefined) return { problem: `${wrong} is not an http(s) address` };
    const token = values.token ?? env.DOCTOR_TOKEN;
    const cookie = values.cookie ?? env.DOCTOR_COOKIE;
    const session = token ? { Authorization: `Bearer ${token}` } : cookie ? { Cookie: cookie } : null;
    return { ...values, urls: positionals, session };
  } catch (error) {
    return { problem: error.message };
  }
}

const counts = { passed: 0, failed: 0, warned: 0, untested: 0 };
const say = (text) => process.stdout.write(`${text}\n`);

/** Reports a check. `verdict`: true, false, 'warn', or null for not tested. `details` are printed unless it is true. */
function report(verdict, what, details) {
  const [count, word] =
    verdict === true
      ? ['passed', 'ok  ']
      : verdict === null
        ? ['untested', 'skip']
        : verdict === 'warn'
          ? ['warned', 'warn']
          : ['failed', 'FAIL'];
  counts[count]++;
  say(`${word}  ${what}`);
  if (verdict !== true) for (const detail of details) say(`      ${detail}`);
}

/** Examines an edge. False when nothing answers there, or the session is not valid. */
async function examine(base, { session, replicas, insecure, quick }) {
  say(`\n${base}`);
  const ask = makeAsk({ base, insecure });
  const health = await ask({ path: '/healthz' });
  if (health.status === 0) {
    say(`      cannot be reached: ${health.failure}`);
    return false;
  }
  report(health.status === 200, '/healthz answers', [`answered ${health.status}`]);
  if (session !== null) {
    const me = await ask({ path: '/api/me', headers: session });
    if (me.status !== 200) {
      say(`      the session is not taken: /api/me answered ${me.status} ${me.body?.code ?? me.failure ?? ''}`);
      return false;
    }
  }
  await probeReach({ ask, base, session, replicas, insecure, report });
  await probeHeaders({ ask, session, report });
  await probeFlow({ ask, base, insecure, session, quick, report });
  return true;
}

const options = optionsOf(process.argv.slice(2), process.env);
if (options.problem !== undefined || options.help || options.urls.length === 0) {
  if (options.problem !== undefined) process.stderr.write(`${options.problem}\n`);
  process.stderr.write(`${USAGE}\n`);
  process.exit(options.help ? 0 : 2);
}
let asked = true;
for (const url of options.urls) {
  asked = (await examine(url.replace(/\/+$/, ''), { ...options, replicas: options.replica })) && asked;
}
say(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.warned} warnings, ${counts.untested} not tested`);
process.exitCode = counts.failed > 0 ? 1 : asked ? 0 : 2;
