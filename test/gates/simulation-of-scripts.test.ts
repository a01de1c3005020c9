import { testFindings } from './planted-simulation.ts';

testFindings(({ file }) => file.endsWith('.lua'));
