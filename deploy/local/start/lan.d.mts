export interface Lan {
  readonly fingerprint: string;
  leave(replicaPort: number): void;
  stop(): void;
}
export function startLan(at: {
  address: string;
  port: number;
  replicaPorts: readonly number[];
  brokerPort: number | null;
}): Promise<Lan>;
