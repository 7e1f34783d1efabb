import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'out/', 'bundled/', '**/node_modules/', '**/*.mjs', '**/*.js'] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './src/view/tsconfig.json', './tests/ui/tsconfig.json'],
        tsconfigRootDir: fileURLToPath(new URL('.', import.meta.url)),
      },
    },
    rules: {
      // Numbers in messages read as they are.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // node:test's functions give promises that it waits for itself.
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'suite', 'describe', 'it'] }] },
      ],
      eqeqeq: 'error',
    },
  },
);
