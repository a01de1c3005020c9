import { DeviceId } from '../../../shared/contract/vocabulary/fields.ts';

const PATTERN = new RegExp((DeviceId as { pattern?: string }).pattern ?? '$^');

/** Returns whether the text has the form of a device id. The device itself may not exist. */
export const isDeviceId = (text: string): boolean => PATTERN.test(text);
