import { readFileSync } from 'node:fs';
import type { Rfc9180, Vectors } from './vector-checks.ts';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../shared/client/vectors/${name}.json`, import.meta.url), 'utf8'));

export const sealedVectors = (): Vectors => read('sealed') as Vectors;
export const rfcVectors = (): Rfc9180 => read('rfc9180') as Rfc9180;
