import { DeviceId } from '../../../shared/contract/vocabulary/fields.ts';

const PATTERN = new RegExp((DeviceId as { pattern?: string }).pattern ?? '$^');

/** Whether the text has the form of a device id; it says nothing about whether there is such a device. */
export const isDeviceId = (text: string): boolean => PATTERN.test(text);
