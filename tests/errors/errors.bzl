# tests/errors/errors.bzl -- many small programs as one binary, and headers for a compiler that runs in a test

def error_programs(name, srcs, defines = [], deps = []):
    """One program that holds all of `srcs`, each registered with MISTAKE; its argument chooses.

    Reading hom.h takes longer than compiling a program, so all share one translation unit.

    Args:
      name: of the binary.
      srcs: files of this package.
      defines: macros.
      deps: what the programs use.
    """
    native.cc_library(
        name = name + "_texts",
        textual_hdrs = srcs,
        hdrs = ["fails.h"],
        deps = deps,
    )
    includes = ["#include \"%s/%s\"\\n" % (native.package_name(), file) for file in srcs]
    native.genrule(
        name = name + "_unit",
        outs = [name + "_unit.cc"],
        cmd = "printf '%s' > $@" % "".join(includes),
    )
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = [
            "main.cc",
            name + "_unit.cc",
        ],
        copts = ["-Wall", "-Wextra", "-Werror"],
        linkstatic = True,
        local_defines = defines,
        deps = [":%s_texts" % name],
    )

def _headers_impl(ctx):
    headers = depset(transitive = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps])
    return [DefaultInfo(files = headers, runfiles = ctx.runfiles(transitive_files = headers))]

headers = rule(
    implementation = _headers_impl,
    doc = "All headers that programs on top of `deps` may include, as files.",
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
