interface LanParts {
  address: string;
  port: number;
  replicaPorts: readonly number[];
  /** Null without a broker of ours. */
  brokerPort: number | null;
}
export function startLan(parts: LanParts): Promise<{ fingerprint: string; stop(): void }>;
