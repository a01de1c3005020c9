const SIZE = 16;
/** The order is blue, green, red, opacity. */
const COLOUR = [0xb0, 0x5a, 0x1e, 0xff];

/** Whether a point belongs to the baton, from the lower left to the upper right. `y` counts from below, as in the format. */
const isBaton = (x: number, y: number): boolean => Math.abs(x - y) <= 2 && x + y >= 5 && x + y <= 25;

/** Makes an icon file (ICO) with one image of 16 by 16 points, 32 bits each, and the mask that old readers expect. */
export function makeIcon(): Buffer {
  const points = Array.from({ length: SIZE * SIZE }, (_, at) =>
    isBaton(at % SIZE, Math.floor(at / SIZE)) ? COLOUR : [0, 0, 0, 0],
  );
  const header = Buffer.alloc(40);
  header.writeUInt32LE(header.length, 0);
  header.writeInt32LE(SIZE, 4);
  // The format counts the rows of the mask as well.
  header.writeInt32LE(2 * SIZE, 8);
  header.writeUInt16LE(1, 12);
  header.writeUInt16LE(32, 14);
  const image = Buffer.concat([header, Buffer.from(points.flat()), Buffer.alloc(SIZE * 4)]);
  const directory = Buffer.alloc(22);
  // The type, which is an icon, and the number of images.
  directory.writeUInt16LE(1, 2);
  directory.writeUInt16LE(1, 4);
  directory.set([SIZE, SIZE], 6);
  directory.writeUInt16LE(1, 10);
  directory.writeUInt16LE(32, 12);
  directory.writeUInt32LE(image.length, 14);
  directory.writeUInt32LE(directory.length, 18);
  return Buffer.concat([directory, image]);
}
