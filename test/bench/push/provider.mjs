import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/*
 * A push service in a process of its own that takes every push after this many milliseconds: `provider.mjs <key>
 * <certificate> <ms>`. It tells its port, and later what it got, whenever it is asked.
 */

const [key, cert, ms] = process.argv.slice(2);
let [taken, atOnce, most] = [0, 0, 0];

const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (req, res) => {
  most = Math.max(most, ++atOnce);
  req.resume();
  setTimeout(() => {
    taken += 1;
    atOnce -= 1;
    res.writeHead(201).end();
  }, Number(ms));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => {
  process.send({ taken, most });
  most = atOnce;
});
process.on('disconnect', () => process.exit());
