import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../../deploy/local/setup/tree.mjs';
import { KUBERNETES, makeSchemas, UNCHECKED } from './kubernetes-schemas.mjs';
import { configurationsOf } from './programs.mjs';
import { ACCEPTED, REFUSALS } from './refusals.mjs';
import { CHART, containerOf, manifestsOf, run, SCENARIOS, template, withCopy } from './rendering.mjs';

const built = (path) => import(`${ROOT}dist/${path}`);
const textOf = (path) => readFileSync(join(ROOT, path), 'utf8');

const both = ({ helm3, helm4 }) => Object.entries({ 'Helm 4': helm4, 'Helm 3': helm3 });

function* lintTests(tools) {
  for (const [name, helm] of both(tools)) {
    yield {
      title: `${name} finds nothing to say about any scenario`,
      body: async () => {
        for (const file of Object.values(SCENARIOS)) {
          const { code, out, err } = await run(helm, ['lint', '--strict', '--quiet', CHART, `--values=${file}`]);
          assert.equal(code, 0, `${file}\n${out}${err}`);
        }
      },
    };
  }
}

/** Renders a scenario and validates it as that Kubernetes would. */
async function validate({ kubeconform, podsecurity }, { folder, out }) {
  const schema = `${folder}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json`;
  const args = ['-strict', '-summary', `-skip=${UNCHECKED}`, `-schema-location=${schema}`, '-'];
  const checked = await run(kubeconform, args, { input: out });
  assert.equal(checked.code, 0, `${checked.out}${checked.err}`);
  assert.match(checked.out, /Invalid: 0, Errors: 0/);
  const secure = await run(podsecurity, [], { input: out });
  assert.equal(secure.code, 0, `${secure.out}${secure.err}`);
}

function* renderTests(tools, schemas) {
  for (const [scenario, file] of Object.entries(SCENARIOS)) {
    for (const kubernetes of Object.keys(KUBERNETES)) {
      yield {
        title: `${scenario} on Kubernetes ${kubernetes}: valid manifests, restricted pods, alike with both Helms`,
        body: async () => {
          const [four, three] = await Promise.all(
            both(tools).map(([, helm]) => template(helm, { values: [file], kubernetes })),
          );
          assert.deepEqual(manifestsOf(three), manifestsOf(four));
          await validate(tools, { folder: schemas[kubernetes], out: four.out });
        },
      };
    }
    yield {
      title: `${scenario}: the programs start with what they are given`,
      body: async () => {
        const manifests = manifestsOf(await template(tools.helm4, { values: [file] }));
        const found = await configurationsOf(manifests);
        assert.ok(found.replica);
        const { terminationGracePeriodSeconds: grace } = containerOf(manifests, 'replica').pod;
        const { noticeSeconds, streamsSeconds, transfersSeconds, shutdownSeconds } = found.replica.drain;
        assert.equal(grace, noticeSeconds + Math.max(streamsSeconds, transfersSeconds) + 15);
        assert.equal(shutdownSeconds, grace);
      },
    };
  }
}

function* refusalTests({ helm4, helm3 }) {
  for (const [title, scenario, set, says] of REFUSALS) {
    yield {
      title: `refused: ${title}`,
      body: async () => {
        const { code, err } = await template(helm4, { values: [SCENARIOS[scenario]], set });
        assert.notEqual(code, 0, 'it was rendered');
        assert.ok(err.includes(says), `it says\n${err}`);
      },
    };
  }
  for (const [title, scenario, set] of ACCEPTED) {
    yield {
      title: `accepted: ${title}`,
      body: async () => {
        const manifests = manifestsOf(await template(helm4, { values: [SCENARIOS[scenario]], set }));
        assert.ok(containerOf(manifests, 'replica'));
      },
    };
  }
  yield {
    title: 'each refusal is provoked by a test',
    body: async () => {
      const sentences = textOf('helm/baton/templates/_refuse.tpl')
        .split('\n')
        .filter((line) => /^(?!\{\{-|\{\{\/\*)\S/.test(line));
      const untested = sentences.filter((line) => {
        const start = line.split('{{')[0];
        return !REFUSALS.some(([, , , says]) => line.startsWith(says) || (start && says.startsWith(start)));
      });
      assert.deepEqual(untested, []);
    },
  };
  yield {
    title: 'the values as they are say all that is missing, at once, with both Helms',
    body: async () => {
      for (const helm of [helm4, helm3]) {
        const { code, err } = await template(helm);
        assert.notEqual(code, 0);
        for (const word of ['image.repository', 'publicUrl', 'identity.mode', 'redis.hosts', 'networkPolicy.edge']) {
          assert.ok(err.includes(`- ${word} is empty`), `${word}: ${err}`);
        }
      }
    },
  };
  yield {
    title: 'refused: a Kubernetes that is too old',
    body: async () => {
      const { code, err } = await template(helm4, { values: [SCENARIOS.minimal], kubernetes: '1.29.9' });
      assert.notEqual(code, 0);
      assert.match(err, /incompatible with Kubernetes/);
    },
  };
}

/** Tells which of the two routes takes a request: the one with the most exact match, by the rules of Gateway API. */
function routeOf(routes, path, asked = 'GET') {
  const matches = routes.flatMap(({ metadata, spec }) =>
    spec.rules.flatMap(({ matches: all, backendRefs }) =>
      all.map(({ path: { type, value }, method = asked }) => ({
        ...{ type, value, method, name: metadata.name, backend: backendRefs[0].name },
      })),
    ),
  );
  const isMatch = ({ type, value, method }) =>
    method === asked &&
    (type === 'Exact' ? value === path : path === value || path.startsWith(value.replace(/\/?$/, '/')));
  const rank = ({ type, value }) => (type === 'Exact' ? 1_000 : value.length);
  return matches.filter(isMatch).sort((a, b) => rank(b) - rank(a))[0];
}

function* programTests({ helm4 }) {
  yield {
    title: 'an edge asks the broker for every route that needs a caller, and for no public one',
    body: async () => {
      const { ROUTES } = await built('shared/contract/routes.js');
      const rendered = manifestsOf(await template(helm4, { values: [SCENARIOS['gateway-envoy']] }));
      const routes = rendered.filter(({ kind }) => kind === 'HTTPRoute');
      for (const { method, path, identity } of Object.values(ROUTES)) {
        const { name, backend } = routeOf(routes, path.replaceAll(/\{\w+\}/g, 'x'), method);
        assert.equal(name, identity === 'public' ? 'baton-public' : 'baton', `${method} ${path}`);
        assert.equal(backend, 'baton', path);
      }
      for (const path of ['/login', '/login/callback']) assert.equal(routeOf(routes, path).backend, 'baton-broker');
      assert.equal(routeOf(routes, '/forward-auth').backend, 'baton');
    },
  };
  yield {
    title: 'ports and paths of probes are those of the programs',
    body: async () => {
      const { SETTINGS: replica } = await built('services/sync/config/settings.js');
      const { SETTINGS: broker } = await built('services/broker/config/settings.js');
      const manifests = manifestsOf(await template(helm4, { values: [SCENARIOS.production] }));
      const portsOf = (name) => containerOf(manifests, name).container.ports.map(({ containerPort }) => containerPort);
      assert.deepEqual(portsOf('replica'), [replica.APP_PORT.default, replica.APP_ADMIN_PORT.default].map(Number));
      assert.deepEqual(portsOf('broker'), [broker.BROKER_PORT.default, broker.BROKER_ADMIN_PORT.default].map(Number));
      const admin = textOf('shared/service-kit/http/admin.ts');
      for (const name of ['replica', 'broker']) {
        const { container } = containerOf(manifests, name);
        for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
          assert.ok(admin.includes(`app.get('${container[probe].httpGet.path}'`), probe);
        }
      }
      assert.ok(textOf('services/broker/app.ts').includes(`app.get('/healthz'`));
    },
  };
  yield {
    title: 'the address of each kind of store is read as it was meant',
    body: async () => {
      const addressOf = async (name) => {
        const rendered = manifestsOf(await template(helm4, { values: [SCENARIOS[name]] }));
        const { replica, broker } = await configurationsOf(rendered);
        // A password is only read when somebody asks for it.
        const seen = (address) => address && JSON.parse(JSON.stringify(address));
        return {
          replica: seen(replica.redis.address),
          relay: seen(replica.relay.address),
          broker: seen(broker?.redis.address),
        };
      };
      const { replica, relay, broker } = await addressOf('production');
      assert.equal(replica.mode, 'sentinel');
      assert.deepEqual(replica.nodes.at(-1), { host: 'sentinel-2.stores.svc.', port: 26_380 });
      assert.deepEqual([replica.master, replica.db, replica.tls], ['baton', 2, true]);
      assert.deepEqual(replica.user, { username: 'baton', password: 'pass/wo+rd==' });
      assert.deepEqual(replica.sentinelUser, { username: 'reader', password: 'ot/her' });
      assert.deepEqual(broker.user, { username: 'broker', password: 'a?b@c:d#e%20' });
      assert.deepEqual(broker.sentinelUser, replica.sentinelUser);
      assert.deepEqual(relay.user, { username: 'relay', password: 're/lay+' });
      const cluster = await addressOf('cluster-tls');
      assert.equal(cluster.replica.mode, 'cluster');
      assert.equal(cluster.replica.user.username, 'ba:ton@home');
      assert.deepEqual(cluster.broker.nodes.at(-1), { host: 'fd00::3', port: 7_000 });
      assert.deepEqual((await addressOf('small')).replica.user, { username: null, password: null });
      assert.deepEqual((await addressOf('minimal')).replica.nodes, [{ host: 'redis.stores.svc', port: 6_379 }]);
    },
  };
  yield {
    title: 'the values in helm/baton/README.md can be installed',
    body: async () => {
      const [, text] = /```yaml\n(image: [^`]+)```/.exec(textOf('helm/baton/README.md'));
      const manifests = manifestsOf(await template(helm4, { set: parse(text) }));
      assert.ok((await configurationsOf(manifests)).replica.production);
    },
  };
  yield {
    title: 'the chart carries the version of the package',
    body: async () => {
      assert.equal(parse(textOf('helm/baton/Chart.yaml')).appVersion, JSON.parse(textOf('package.json')).version);
    },
  };
}

function* validationTests(tools, schemas) {
  const planted = {
    'a field that there is not': ['minReadySeconds:', 'minReadyTime:'],
    'a number as text': ['minReadySeconds: 25', 'minReadySeconds: "soon"'],
    'a field of a route that there is not': ['backendRefs:', 'backends:'],
    'a pod that may be root': ['runAsNonRoot: true', 'runAsNonRoot: false'],
  };
  for (const [name, [from, to]] of Object.entries(planted)) {
    yield {
      title: `validation refuses ${name}`,
      body: async () => {
        const { out } = await template(tools.helm4, { values: [SCENARIOS.production] });
        assert.ok(out.includes(from));
        const folder = schemas['1.37.2'];
        await assert.rejects(
          validate(tools, { folder, out: out.replaceAll(from, to) }),
          /Invalid: [1-9]|[1-9] refused/,
        );
      },
    };
  }
}

function* wholeTests({ helm4, 'helm-unittest': unittest }) {
  yield {
    title: 'the suites of unit/ hold',
    body: async () => {
      const { code, out, err } = await run(unittest, ['--strict', '-f', '../../test/chart/unit/*.yaml', CHART]);
      assert.equal(code, 0, `${out}${err}`);
      console.log(out.trim().split('\n').slice(-6).join('\n'));
    },
  };
  yield {
    title: 'rules and dashboards that lie in the chart become objects as they stand',
    body: async () =>
      withCopy(async (chart) => {
        const rule = { alert: 'A', expr: 'up == 0', annotations: { summary: '{{ $labels.pod }} is away' } };
        writeFileSync(
          join(chart, 'files/rules/one.yaml'),
          JSON.stringify({ groups: [{ name: 'one', rules: [rule] }] }),
        );
        writeFileSync(join(chart, 'files/dashboards/over.json'), '{"title": "{{ pod }}"}\n');
        const manifests = manifestsOf(await template(helm4, { chart, values: [SCENARIOS.production] }));
        const rules = manifests.find(({ kind }) => kind === 'PrometheusRule');
        assert.deepEqual(rules.spec.groups.find(({ name }) => name === 'one').rules, [rule]);
        const board = manifests.find(({ metadata }) => metadata.name === 'baton-dashboard-over');
        assert.equal(board.data['over.json'], '{"title": "{{ pod }}"}\n');
        assert.equal(board.metadata.labels.grafana_dashboard, '1');
      }),
  };
  yield {
    title: 'every alert is in the PrometheusRule, with the address of its runbook, and every dashboard has a ConfigMap',
    body: async () => {
      const manifests = manifestsOf(await template(helm4, { values: [SCENARIOS.production] }));
      const { groups } = manifests.find(({ kind }) => kind === 'PrometheusRule').spec;
      const ours = parse(textOf('helm/baton/files/rules/baton.yaml')).groups;
      const moved = (rule) => ({
        ...rule,
        annotations: { ...rule.annotations, runbook_url: `https://git.example/baton/${rule.annotations.runbook_url}` },
      });
      assert.deepEqual(
        groups,
        ours.map((group) => ({ ...group, rules: group.rules.map(moved) })),
      );
      const boards = manifests.filter(({ metadata }) => metadata.name.startsWith('baton-dashboard-'));
      const names = readdirSync(join(ROOT, 'helm/baton/files/dashboards'));
      assert.deepEqual(boards.flatMap(({ data }) => Object.keys(data)).sort(), names.sort());
    },
  };
  yield {
    title: 'it is a part of another chart, which can leave it out',
    body: async () =>
      withCopy(async (chart, folder) => {
        const outer = join(folder, 'outer');
        mkdirSync(join(outer, 'charts'), { recursive: true });
        cpSync(chart, join(outer, 'charts/baton'), { recursive: true });
        const dependency = { name: 'baton', version: '0.1.0', condition: 'baton.enabled' };
        const about = { apiVersion: 'v2', name: 'outer', version: '1.0.0', dependencies: [dependency] };
        writeFileSync(join(outer, 'Chart.yaml'), JSON.stringify(about));
        const values = { global: { other: 1 }, baton: parse(readFileSync(SCENARIOS.minimal, 'utf8')) };
        const render = async (enabled) => {
          writeFileSync(join(outer, 'values.yaml'), JSON.stringify({ ...values, baton: { ...values.baton, enabled } }));
          return manifestsOf(await template(helm4, { chart: outer }));
        };
        assert.ok(containerOf(await render(true), 'replica'));
        assert.deepEqual(await render(false), []);
      }),
  };
}

/** Returns every test, as `{title, body}`. */
export async function makeTests(tools) {
  const schemas = makeSchemas();
  return [
    ...lintTests(tools),
    ...wholeTests(tools),
    ...validationTests(tools, schemas),
    ...programTests(tools),
    ...renderTests(tools, schemas),
    ...refusalTests(tools),
  ];
}
