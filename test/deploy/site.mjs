import { must, mustSoon } from './docker.mjs';

const FIELDS = '{{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{end}}';

/** Waits until `look` returns something, at most `seconds`. Its last error says why that did not happen. */
export async function until(what, look, seconds = 60) {
  const giveUpAt = Date.now() + seconds * 1000;
  let why = '';
  while (Date.now() < giveUpAt) {
    try {
      const found = await look();
      if (found) return found;
    } catch (error) {
      why = `: ${error.message}`;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come about within ${seconds} s${why}`);
}

/** Uses docker-compose.yml as it is, with images that were made here, under a project and a network of its own. */
export function makeSite({ root, project, env, profiles = [] }) {
  const options = { cwd: root, env: { ...process.env, ...env } };
  const flags = ['compose', '-p', project, ...profiles.flatMap((name) => ['--profile', name])];
  const compose = (...args) => mustSoon('docker', [...flags, ...args], options);
  const containerOf = (service) => `${project}-${service}-1`;
  const inspect = (service, format) => must('docker', ['inspect', '--format', format, containerOf(service)]).trim();
  return {
    compose,
    containerOf,
    inspect,
    url: `http://localhost:${env.BATON_PORT}`,
    /** Runs JavaScript in a container of Baton's image, and returns what it prints. */
    run: (service, script) => must('docker', ['exec', containerOf(service), 'node', '-e', script]).trim(),
    /** Does one act on one container: `kill`, `stop`, `start`. */
    docker: (act, service, ...args) => mustSoon('docker', [act, ...args, containerOf(service)]),
    isHealthy: (service) => inspect(service, FIELDS) === 'running healthy',
    up: () => compose('up', '--detach', '--wait', '--wait-timeout', '180'),
    logs: () => compose('logs', '--no-color', '--tail', '60'),
    down: () => compose('down', '--volumes', '--remove-orphans', '--timeout', '5'),
  };
}
