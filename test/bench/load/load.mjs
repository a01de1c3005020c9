import { CIRCLE_TASKS } from './circles.mjs';
import { FLEET_TASKS } from './fleet.mjs';

/*
 * A process that holds clients. It does the tasks of its parent, one at a time.
 */

const TASKS = {
  ...CIRCLE_TASKS,
  ...FLEET_TASKS,
  /** Returns this process's own processor time so far, in microseconds. */
  async usage() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

process.on('message', ({ task, given }) => {
  TASKS[task](given).then(
    (result) => process.send({ result: result ?? null }),
    (error) => process.send({ failed: error.stack }),
  );
});
process.on('disconnect', () => process.exit());
process.on('SIGTERM', () => process.exit());
process.send({ started: true });
