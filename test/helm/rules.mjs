import { HOOK_RULES } from './hook-rules.mjs';
import { NETWORK_RULES } from './network-rules.mjs';
import { POD_RULES } from './pod-rules.mjs';
import { SCALING_RULES } from './scaling-rules.mjs';
import { SELECTOR_RULES } from './selector-rules.mjs';
import { SETTING_RULES } from './setting-rules.mjs';

/**
 * What rendered manifests promise, whatever the values. `problems` returns a line for each manifest that breaks the rule.
 * @type {{title: string, problems: (manifests: object[]) => string[]}[]}
 */
export const RULES = [
  ...POD_RULES,
  ...SETTING_RULES,
  ...SELECTOR_RULES,
  ...NETWORK_RULES,
  ...SCALING_RULES,
  ...HOOK_RULES,
];
