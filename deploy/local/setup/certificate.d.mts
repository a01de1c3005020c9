export function makeCertificate(options: { folder: string; hosts: readonly string[] }): {
  key: Buffer;
  cert: Buffer;
  keyFile: string;
  certFile: string;
};
