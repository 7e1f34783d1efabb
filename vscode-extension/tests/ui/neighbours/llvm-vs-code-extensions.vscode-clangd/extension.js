// As a C++ server does: a hover on every word, and completions everywhere.
const vscode = require('vscode');

exports.activate = () => {
  vscode.languages.registerHoverProvider('cpp', {
    provideHover(document, position) {
      const word = document.getWordRangeAtPosition(position);
      return word && new vscode.Hover(`clangd knows ${document.getText(word)}`, word);
    },
  });
  vscode.languages.registerCompletionItemProvider('cpp', {
    provideCompletionItems: () => [new vscode.CompletionItem('clangd_item')],
  });
};
