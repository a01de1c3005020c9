import { openApiDocument } from '../../../../services/sync/http/documents/openapi/document.ts';
import { BatonError } from '../../../../shared/contract/errors.ts';

test('bytes that can be had later are a 503, and those outside the file a 416', () => {
  expect(new BatonError('range_not_available').status).toBe(416);
  expect(new BatonError('range_not_available', undefined, { retryAfterSeconds: 5 }).status).toBe(503);
});

test('the document of the interface names both', () => {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, { responses: object }>> };
  const route = paths['/api/relay/{transfer_id}/{index}/{generation}']?.['get'];
  const naming = Object.entries(route?.responses ?? {}).filter(([, answer]) =>
    JSON.stringify(answer).includes('range_not_available'),
  );
  expect(naming.map(([status]) => status)).toEqual(['416', '503']);
});
