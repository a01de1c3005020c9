/* Reads QR codes from the camera: with the browser's own detector if there is one, else with a small library. */

interface Detector {
  detect(source: HTMLVideoElement): Promise<{ rawValue: string }[]>;
}

interface DetectorClass {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats(): Promise<string[]>;
}

type Look = (video: HTMLVideoElement) => Promise<string | null>;

const LOOK_EVERY_MS = 150;
/** Codes on a screen before a camera are large: more points only take longer. */
const LOOKED_AT_PX = 640;

async function ownLook(): Promise<Look | null> {
  const { BarcodeDetector: Found } = window as Window & { BarcodeDetector?: DetectorClass };
  if (Found === undefined || !(await Found.getSupportedFormats()).includes('qr_code')) return null;
  const detector = new Found({ formats: ['qr_code'] });
  return async (video) => (await detector.detect(video))[0]?.rawValue ?? null;
}

async function libraryLook(): Promise<Look> {
  const { decodeQR } = await import('qr/decode.js');
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, LOOKED_AT_PX / Math.max(video.videoWidth, video.videoHeight));
    [canvas.width, canvas.height] = [Math.round(video.videoWidth * scale), Math.round(video.videoHeight * scale)];
    if (context === null || canvas.width === 0) return null;
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    try {
      return decodeQR(context.getImageData(0, 0, canvas.width, canvas.height));
    } catch {
      // No code in this picture.
      return null;
    }
  };
}

/** Shows the camera in `video` and resolves with the first text that `isWanted`. Rejects when there is no camera. */
export async function scan(
  video: HTMLVideoElement,
  isWanted: (text: string) => boolean,
  signal: AbortSignal,
): Promise<string> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' } });
  const stop = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  try {
    signal.throwIfAborted();
    const element = video;
    element.srcObject = stream;
    await element.play();
    const look = (await ownLook()) ?? (await libraryLook());
    for (;;) {
      signal.throwIfAborted();
      const text = await look(element);
      if (text !== null && isWanted(text)) return text;
      await new Promise((resolve) => {
        setTimeout(resolve, LOOK_EVERY_MS);
      });
    }
  } finally {
    stop();
  }
}
