"""op-lint under Bazel: `op_lint_aspect` reads, `op_lint_check` judges."""

load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

OpLintInfo = provider(
    doc = "What was read of a target and of those that it depends on.",
    fields = {"facts": "depset of files of facts", "sources": "depset of what they were read from"},
)

_SOURCES = ("c", "cc", "cpp", "cxx", "cu", "cuh", "hip", "mm", "h", "hh", "hpp", "hxx", "inc", "inl", "py")

def _own_sources(rule):
    """The source files (and not generated binaries) that a target lists."""
    found = []
    for attribute in ("srcs", "hdrs", "textual_hdrs"):
        for target in getattr(rule.attr, attribute, []):
            found += [file for file in target.files.to_list() if file.extension in _SOURCES]
    return found

def _op_lint_aspect_impl(target, ctx):
    dependencies = [
        dependency[OpLintInfo]
        for dependency in getattr(ctx.rule.attr, "deps", [])
        if OpLintInfo in dependency
    ]
    sources = _own_sources(ctx.rule)
    headers = target[CcInfo].compilation_context.headers if CcInfo in target else depset()
    own = []
    if sources:
        # Only the workspace's own headers: op-lint needs none of torch's, and reads none of the system's.
        context = [file for file in headers.to_list() if not file.path.startswith("external/")]
        facts = ctx.actions.declare_file(ctx.label.name + ".facts")
        arguments = ctx.actions.args()
        arguments.add("facts")
        arguments.add_all(["--root", ".", "--alone", "-o", facts])
        arguments.add_all(context, before_each = "--context")
        arguments.add_all(sources)
        ctx.actions.run(
            executable = ctx.executable._op_lint,
            arguments = [arguments],
            inputs = depset(sources + context + ctx.files._settings),
            outputs = [facts],
            mnemonic = "OpLintFacts",
            progress_message = "Reading registrations of %{label}",
        )
        own = [facts]
    return [OpLintInfo(
        facts = depset(own, transitive = [each.facts for each in dependencies]),
        sources = depset(sources, transitive = [each.sources for each in dependencies]),
    )]

op_lint_aspect = aspect(
    implementation = _op_lint_aspect_impl,
    attr_aspects = ["deps"],
    attrs = {
        "_op_lint": attr.label(default = "//:op_lint_tool", executable = True, cfg = "exec"),
        "_settings": attr.label(default = "//:op_lint_settings", allow_files = True),
    },
)

def _op_lint_check_impl(ctx):
    facts = depset(transitive = [dependency[OpLintInfo].facts for dependency in ctx.attr.deps])
    sources = depset(transitive = [dependency[OpLintInfo].sources for dependency in ctx.attr.deps])
    report = ctx.actions.declare_file(ctx.label.name + ".sarif")
    arguments = ctx.actions.args()
    arguments.add_all(["check", "--root", ".", "--exit-zero", "--no-cache"])
    arguments.add_all(["--torch-version", ctx.attr.torch_version])
    arguments.add_all(["--output-format", "sarif", "--output-file", report])
    arguments.add_all(facts, before_each = "--facts")
    ctx.actions.run(
        executable = ctx.executable._op_lint,
        arguments = [arguments],
        inputs = depset(ctx.files._settings, transitive = [facts, sources]),
        outputs = [report],
        mnemonic = "OpLintCheck",
        progress_message = "Checking registrations of %{label}",
    )
    return [DefaultInfo(files = depset([report]))]

op_lint_check = rule(
    implementation = _op_lint_check_impl,
    attrs = {
        "deps": attr.label_list(aspects = [op_lint_aspect]),
        "torch_version": attr.string(default = "2.13.0"),
        "_op_lint": attr.label(default = "//:op_lint_tool", executable = True, cfg = "exec"),
        "_settings": attr.label(default = "//:op_lint_settings", allow_files = True),
    },
)
