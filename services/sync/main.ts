import { runService } from '../../shared/service-kit/run-service.ts';
import { startApp } from './app.ts';
import { loadConfig } from './config/config.ts';

void runService(async () => startApp(loadConfig()));
