"""The requests about positions: each takes a view, asks its feature, and converts the answer."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from op_lint.program import parse_name
from op_lint.server import (
    call_hierarchy,
    code_actions,
    code_lens,
    commands,
    completion,
    hover,
    inlay_hints,
    matrix,
    navigation,
    semantic_tokens,
    signature_help,
    symbols,
)
from op_lint.server.protocol import View, offset_of, position, span
from op_lint.server.rename import CannotRenameError, renamable, rename
from op_lint.text import SourceText

if TYPE_CHECKING:
    from op_lint.server.app import Server

_SYMBOL_KINDS = {
    symbols.SymbolKind.BLOCK: types.SymbolKind.Namespace,
    symbols.SymbolKind.OPERATOR: types.SymbolKind.Function,
    symbols.SymbolKind.KERNEL: types.SymbolKind.Method,
}
_ITEM_KINDS = {
    completion.ItemKind.KEY: types.CompletionItemKind.EnumMember,
    completion.ItemKind.OPERATOR: types.CompletionItemKind.Function,
    completion.ItemKind.TYPE: types.CompletionItemKind.Class,
    completion.ItemKind.NAMESPACE: types.CompletionItemKind.Module,
    completion.ItemKind.KERNEL: types.CompletionItemKind.Method,
    completion.ItemKind.RULE: types.CompletionItemKind.Constant,
}


class RequestFailed(JsonRpcException):
    """A request that cannot be answered, with the reason for the person who made it (LSP 3.17, -32803)."""

    CODE = types.LSPErrorCodes.RequestFailed.value


def register(server: Server) -> None:
    """Add the handlers to `server`."""
    _hover(server)
    _navigation(server)
    _symbols(server)
    _calls(server)
    _typing(server)
    _decorations(server)
    _actions(server)
    _commands(server)


async def _at(server: Server, params: Any) -> tuple[View, str, int] | None:
    """The view that knows the latest text, the path and the byte that a request is about."""
    found = await server.fresh(params.text_document.uri)
    if found is None:
        return None
    view, path = found
    return view, path, offset_of(view.snapshot.text(path), params.position, view.encoding)


def _hover(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def on_hover(params: types.HoverParams) -> types.Hover | None:
        found = await _at(server, params)
        if found is None:
            return None
        view, path, offset = found
        text = hover.hover_at(view.snapshot, path, offset, view.link)
        if text is None:
            return None
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text.markdown), view.range(text.place))


def _navigation(server: Server) -> None:
    for method, function in (
        (types.TEXT_DOCUMENT_DEFINITION, navigation.definitions),
        (types.TEXT_DOCUMENT_DECLARATION, navigation.declarations),
        (types.TEXT_DOCUMENT_IMPLEMENTATION, navigation.implementations),
    ):

        async def jump(params: Any, function: Any = function) -> list[types.Location] | None:
            found = await _at(server, params)
            return found[0].locations(function(found[0].snapshot, *found[1:])) if found else None

        server.feature(method)(jump)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(params: types.ReferenceParams) -> list[types.Location] | None:
        found = await _at(server, params)
        if found is None:
            return None
        view, path, offset = found
        wanted = params.context.include_declaration
        return view.locations(navigation.references(view.snapshot, path, offset, with_definitions=wanted))

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlights(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight] | None:
        found = await _at(server, params)
        if found is None:
            return None
        view, path, offset = found
        places = navigation.highlights(view.snapshot, path, offset)
        return [types.DocumentHighlight(view.range(place), types.DocumentHighlightKind.Text) for place in places]

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        found = await _at(server, params)
        if found is None:
            return None
        view, path, offset = found
        name = renamable(view.snapshot, path, offset)
        return types.PrepareRenamePlaceholder(view.range(name[0]), name[1]) if name else None

    @server.feature(types.TEXT_DOCUMENT_RENAME)
    async def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        found = await _at(server, params)
        if found is None:
            return None
        view, path, offset = found
        try:
            return view.workspace_edit(rename(view.snapshot, path, offset, params.new_name))
        except CannotRenameError as error:
            raise RequestFailed(str(error)) from error


def _symbols(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        found = await server.fresh(params.text_document.uri)
        if found is None:
            return None
        view, path = found
        return [_symbol(view, each) for each in symbols.document_symbols(view.snapshot, path)]

    @server.feature(types.WORKSPACE_SYMBOL)
    def workspace_symbols(params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        found = []
        for workspace in server.session.workspaces:
            snapshot = workspace.snapshot
            if snapshot is None:
                continue
            view = server.view(workspace, snapshot)
            for symbol in symbols.workspace_symbols(snapshot, params.query):
                location = view.location(symbol.name_place)
                kind = _SYMBOL_KINDS[symbol.kind]
                found.append(types.WorkspaceSymbol(location, symbol.name, kind, container_name=symbol.detail))
        return found


def _symbol(view: View, symbol: symbols.Symbol) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=_SYMBOL_KINDS[symbol.kind],
        range=view.range(symbol.place),
        selection_range=view.range(symbol.name_place),
        detail=symbol.detail or None,
        children=[_symbol(view, child) for child in symbol.children],
    )


def _calls(server: Server) -> None:
    def item(view: View, node: call_hierarchy.Node) -> types.CallHierarchyItem:
        return types.CallHierarchyItem(
            name=node.name,
            kind=types.SymbolKind.Function,
            uri=view.uri(node.place.path),
            range=view.range(node.place),
            selection_range=view.range(node.name_place),
            detail=node.detail,
            data={"operator": str(node.operator)} if node.operator else None,
        )

    async def asked(given: types.CallHierarchyItem) -> tuple[View, Any] | None:
        found = await server.fresh(given.uri)
        operator = given.data.get("operator") if isinstance(given.data, Mapping) else None
        return (found[0], parse_name(operator)) if found and isinstance(operator, str) else None

    @server.feature(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
    async def prepare(params: types.CallHierarchyPrepareParams) -> list[types.CallHierarchyItem] | None:
        found = await _at(server, params)
        if found is None:
            return None
        return [item(found[0], node) for node in call_hierarchy.nodes_at(found[0].snapshot, *found[1:])] or None

    @server.feature(types.CALL_HIERARCHY_INCOMING_CALLS)
    async def incoming(params: types.CallHierarchyIncomingCallsParams) -> list[types.CallHierarchyIncomingCall] | None:
        found = await asked(params.item)
        if found is None:
            return None
        view, operator = found
        return [
            types.CallHierarchyIncomingCall(item(view, call.node), [view.range(place) for place in call.places])
            for call in call_hierarchy.incoming(view.snapshot, operator)
        ]

    @server.feature(types.CALL_HIERARCHY_OUTGOING_CALLS)
    async def outgoing(params: types.CallHierarchyOutgoingCallsParams) -> list[types.CallHierarchyOutgoingCall] | None:
        found = await asked(params.item)
        if found is None:
            return None
        view, operator = found
        own = list(call_hierarchy.outgoing(view.snapshot, operator))
        return [
            types.CallHierarchyOutgoingCall(
                item(view, call.node),
                [view.range(place) for place in call.places if view.uri(place.path) == params.item.uri],
            )
            for call in own
        ]


def _typing(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=['"', "'", ".", ":", "(", ",", "[", "&"]),
    )
    def complete(params: types.CompletionParams) -> types.CompletionList | None:
        document = server.session.document(params.text_document.uri)
        found = server.latest(params.text_document.uri)
        if document is None or found is None:
            return None
        view, path = found
        text = SourceText(document.data)
        offset = offset_of(text, params.position, view.encoding)
        offer = completion.completions(view.snapshot, path, text, offset)
        if offer is None:
            return None
        replaced = span(text, offer.start, offset, view.encoding)
        items = [
            types.CompletionItem(
                label=each.label,
                kind=_ITEM_KINDS[each.kind],
                detail=each.detail,
                sort_text=f"{each.rank:05}",
                filter_text=each.label,
                text_edit=types.TextEdit(replaced, each.label),
                data={"key": each.key, "uri": params.text_document.uri} if each.key else None,
            )
            for each in offer.items
        ]
        return types.CompletionList(is_incomplete=not offer.is_whole, items=items)

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    def resolve(item: types.CompletionItem) -> types.CompletionItem:
        data = item.data
        if not isinstance(data, Mapping):
            return item
        found = server.latest(str(data.get("uri")))
        text = hover.about_key(found[0].snapshot, str(data.get("key")), None) if found else None
        if text:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
        return item

    @server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, types.SignatureHelpOptions(trigger_characters=["(", ","]))
    def signature(params: types.SignatureHelpParams) -> types.SignatureHelp | None:
        document = server.session.document(params.text_document.uri)
        found = server.latest(params.text_document.uri)
        if document is None or found is None:
            return None
        view, path = found
        text = SourceText(document.data)
        offset = offset_of(text, params.position, view.encoding)
        given = signature_help.help_at(view.snapshot, path, text, offset)
        if not given:
            return None
        signatures = [
            types.SignatureInformation(
                each.label,
                parameters=[types.ParameterInformation(words) for words in each.parameters],
                active_parameter=each.active,
            )
            for each in given
        ]
        best = next((index for index, each in enumerate(given) if each.active < len(each.parameters)), 0)
        return types.SignatureHelp(signatures, active_signature=best, active_parameter=given[best].active)


def _decorations(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens] | None:
        found = await server.fresh(params.text_document.uri)
        if found is None or not found[0].snapshot.settings.code_lens:
            return None
        view, path = found
        made = []
        for lens in code_lens.lenses(view.snapshot, path):
            command = types.Command(lens.title, "op-lint.showTable", arguments=[str(lens.operator)])
            made.append(types.CodeLens(view.range(lens.place), command))
        return made

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint] | None:
        found = await server.fresh(params.text_document.uri)
        if found is None or not found[0].snapshot.settings.inlay_hints:
            return None
        view, path = found
        text = view.snapshot.text(path)
        first = offset_of(text, params.range.start, view.encoding)
        last = offset_of(text, params.range.end, view.encoding)
        return [
            types.InlayHint(position(text, hint.place.end, view.encoding), hint.text, padding_left=True)
            for hint in inlay_hints.hints(view.snapshot, path)
            if first <= hint.place.end <= last
        ]

    @server.feature(
        types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
        types.SemanticTokensLegend(list(semantic_tokens.TYPES), list(semantic_tokens.MODIFIERS)),
    )
    async def tokens(params: types.SemanticTokensParams) -> types.SemanticTokens | None:
        found = await server.fresh(params.text_document.uri)
        if found is None:
            return None
        view, path = found
        data: list[int] = []
        line, column = 0, 0
        for token in semantic_tokens.tokens(view.snapshot, path):
            at = view.range(token.place)
            if at.start.line != at.end.line:
                continue  # a token that goes over lines is one the protocol has no form for
            start = at.start.character - (column if at.start.line == line else 0)
            kind = semantic_tokens.TYPES.index(token.type)
            data += [at.start.line - line, start, at.end.character - at.start.character, kind, int(token.written)]
            line, column = at.start.line, at.start.character
        return types.SemanticTokens(data)


def _actions(server: Server) -> None:
    kinds = [code_actions.QUICK_FIX, code_actions.REWRITE, code_actions.FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction] | None:
        found = await server.fresh(params.text_document.uri)
        if found is None:
            return None
        view, path = found
        text = view.snapshot.text(path)
        start = offset_of(text, params.range.start, view.encoding)
        end = offset_of(text, params.range.end, view.encoding)
        only = params.context.only
        return [
            view.code_action(action, params.context.diagnostics)
            for action in code_actions.actions_at(view.snapshot, path, start, end)
            if only is None or any(action.kind == kind or action.kind.startswith(f"{kind}.") for kind in only)
        ]


def _command(server: Server, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function a command.

    What may be left out may be left out of the arguments; what they have besides is no concern of the command: editors
    add where it was called from.
    """

    def add(handler: Callable[..., Any]) -> Callable[..., Any]:
        parameters = inspect.signature(handler).parameters.values()
        needed = [each.name for each in parameters if each.default is inspect.Parameter.empty]

        @server.command(name)
        async def run(*given: Any) -> Any:
            if len(given) < len(needed):
                raise RequestFailed(f"{name} needs {' and '.join(needed)} in its arguments")
            answer = handler(*given[: len(parameters)])
            return await answer if inspect.isawaitable(answer) else answer

        return handler

    return add


def _commands(server: Server) -> None:
    def views() -> list[View]:
        """What is known of each workspace now."""
        known = [(each, each.snapshot) for each in server.session.workspaces]
        found = [server.view(workspace, snapshot) for workspace, snapshot in known if snapshot is not None]
        if not found:
            raise RequestFailed("nothing was read yet: wait a moment, or open a file")
        return found

    def view_of(operator: object) -> View:
        """The workspace that knows an operator, else the first."""
        if not isinstance(operator, str):
            raise RequestFailed('the operator is to be a string, as in "aten::add.Tensor"')
        name = parse_name(operator)
        found = views()
        return next((each for each in found if name in each.snapshot.program.operators), found[0])

    @_command(server, commands.TABLE)
    def table(operator: str) -> dict[str, Any]:
        view = view_of(operator)
        try:
            return commands.table(view.snapshot, operator, view.locate)
        except commands.CommandError as error:
            raise RequestFailed(str(error)) from error

    @_command(server, commands.WHY)
    def why(operator: str, call: Any = None) -> dict[str, Any]:
        view = view_of(operator)
        try:
            return commands.why(view.snapshot, operator, call or {}, view.locate)
        except commands.CommandError as error:
            raise RequestFailed(str(error)) from error

    @_command(server, commands.MATRIX)
    async def whole_matrix(query: Any = None) -> list[dict[str, Any]]:
        try:
            wanted = msgspec.convert(query or {}, matrix.MatrixQuery)
        except msgspec.ValidationError as error:
            raise RequestFailed(f"this asks for no matrix: {error}") from error
        found = []
        for view in views():
            rows = []
            for row in matrix.matrix(view.snapshot, wanted, view.locate):
                rows.append(row)
                await asyncio.sleep(0)  # thousands of rows take a while: what is typed meanwhile comes first
            found.append({**matrix.heading(view.snapshot, wanted), "operators": rows})
        return found

    @_command(server, commands.INFORMATION)
    def information() -> list[dict[str, Any]]:
        processes = list(server.session.process_ids)
        return [{**commands.information(each.snapshot), "processes": processes} for each in views()]

    @_command(server, commands.RESTART)
    def restart() -> None:
        server.restart()
