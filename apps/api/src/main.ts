import 'reflect-metadata';
import { createLogger, loadApiConfig, runProcess } from '@app/runtime';
import { createApp } from './app.js';

runProcess(async () => {
  const config = loadApiConfig();
  return createApp(config, await createLogger('api', config.logLevel));
});
