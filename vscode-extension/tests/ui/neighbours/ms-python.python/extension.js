// What the Python extension offers to others, with the interpreters that the test names in the environment.
const vscode = require('vscode');

exports.activate = () => {
  const interpreters = (process.env.TEST_INTERPRETERS ?? '').split(':');
  let chosen = 0;
  const changed = new vscode.EventEmitter();
  const pick = (index) => {
    chosen = index;
    changed.fire({ path: interpreters[chosen] });
  };
  vscode.commands.registerCommand('test.pick', () => pick(1));
  vscode.commands.registerCommand('test.pickAgain', () => pick(chosen));
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: interpreters[chosen] }),
      resolveEnvironment: async (environment) => ({ executable: { uri: vscode.Uri.file(environment.path) } }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
  };
};
