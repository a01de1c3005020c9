import { SCENARIOS } from '../rendering.mjs';
import { leadLife } from './life.mjs';
import { prepareCluster } from './release.mjs';
import { tryScenario } from './scenarios.mjs';
import { switchScaling } from './switch.mjs';

/**
 * Returns sequences of steps, each in a namespace of its own: `{title, steps}`, where `steps` prepares the namespace
 * and returns the steps.
 */
export async function makeSequences({ cluster, tools: { helm3, helm4 } }) {
  await prepareCluster(cluster.api);
  const lives = Object.entries({ 'Helm 4': helm4, 'Helm 3': helm3 }).flatMap(([name, helm]) => {
    const namespace = name.toLowerCase().replace(' ', '-');
    return [
      { title: name, steps: () => leadLife({ cluster, helm, namespace }) },
      {
        title: `${name}, autoscaling switched on later`,
        steps: () => switchScaling({ cluster, helm, namespace: `${namespace}-switch` }),
      },
    ];
  });
  const scenarios = Object.keys(SCENARIOS).map((scenario) => ({
    title: scenario,
    steps: () => tryScenario({ cluster, helm: helm4, scenario }),
  }));
  return [...lives, ...scenarios];
}
