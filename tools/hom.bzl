# tools/hom.bzl -- the rules every BUILD file uses: strict warnings, and headers found as <hom/PACKAGE/FILE.h>
#
#     load("//tools:hom.bzl", "hom_library", "hom_test")
#
#     hom_library(
#         name = "core",
#         srcs = ["tensor.cc"],
#         hdrs = ["tensor.h"],            # #include <hom/core/tensor.h>, installed by tools/install
#         internal_hdrs = ["buffers.h"],  # #include <hom/core/buffers.h>, never installed
#         deps = ["//tools/libs:hana"],
#     )

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
] + select({
    "//tools:clang": [],
    # g++ 12 warns wrongly about std::string's operator+ at -O2; clang does not know the flag.
    "//conditions:default": ["-Wno-restrict"],
}) + select({
    # -c opt brings its own -O2 -DNDEBUG and -c dbg must stay at -O0.
    "//tools:fastbuild": ["-O1"],
    "//conditions:default": [],
})

def _include_prefix():
    package = native.package_name()
    return "hom/" + package if package else "hom"

def hom_library(name, srcs = [], hdrs = [], internal_hdrs = [], deps = [], copts = [], tags = [], **kwargs):
    """A part of the library.

    Args:
      name: as cc_library. A library named like its folder is what users of the folder depend on.
      srcs: .cc files. Headers do not belong here: they would not be found under <hom/...>.
      hdrs: public headers, included as <hom/PACKAGE/FILE.h> and installed.
      internal_hdrs: headers included the same way but not installed; no public header may include one.
      deps: as cc_library.
      copts: added after the project's own.
      tags: as cc_library.
      **kwargs: as cc_library (visibility, data, linkopts, alwayslink ...).
    """
    for file in srcs:
        if file.endswith(".h"):
            fail("%s: list the header %s in hdrs or internal_hdrs" % (name, file))
    if internal_hdrs:
        native.cc_library(
            name = name + "_internal",
            hdrs = internal_hdrs,
            include_prefix = _include_prefix(),
            # tools/install leaves out the headers of targets with this tag.
            tags = ["internal_headers"],
            testonly = kwargs.get("testonly", None),
            visibility = kwargs.get("visibility", None),
            deps = deps,
        )
        deps = deps + [":%s_internal" % name]
    native.cc_library(
        name = name,
        srcs = srcs,
        hdrs = hdrs,
        copts = _COPTS + copts,
        include_prefix = _include_prefix(),
        # Everything is linked statically: one program, one copy of each system archive.
        linkstatic = True,
        tags = tags,
        deps = deps,
        **kwargs
    )

def hom_test(name, srcs, deps = [], copts = [], size = "small", **kwargs):
    """A GoogleTest program; main, gtest and gmock come along.

    Args:
      name: as cc_test.
      srcs: .cc files, and headers that only this test uses.
      deps: as cc_test.
      copts: added after the project's own.
      size: as cc_test: small is at most a minute, medium 5, large 15.
      **kwargs: as cc_test (data, args, tags, shard_count ...).
    """
    native.cc_test(
        name = name,
        size = size,
        srcs = srcs,
        copts = _COPTS + copts,
        linkstatic = True,
        deps = deps + ["//tools/libs:gtest_main"],
        **kwargs
    )

def hom_binary(name, srcs, deps = [], copts = [], **kwargs):
    """A program.

    Args:
      name: as cc_binary.
      srcs: .cc files, and headers that only this program uses.
      deps: as cc_binary.
      copts: added after the project's own.
      **kwargs: as cc_binary (data, args, linkopts, visibility ...).
    """
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _COPTS + copts,
        linkstatic = True,
        deps = deps,
        **kwargs
    )
