import { register } from 'node:module';

/* Runs one of the two accounts in a process of its own: `child.mjs attacker|account`. It does the tasks of its parent. */

register('../chaos/typescript-hooks.mjs', import.meta.url);
const { serveTasks } = await import('./load/tasks.ts');
const role = process.argv[2];
const { TASKS } = role === 'attacker' ? await import('./attacker/attacker.ts') : await import('./account/account.ts');
serveTasks(TASKS);
