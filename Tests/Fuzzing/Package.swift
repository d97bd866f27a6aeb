// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody builds it who does not ask for it. SyncCore, SyncStore, SyncSQLite, SyncCalls and Sync
// are the sources of the library itself (links in Sources), built with the instrumentation that guides the fuzzer; GRDB is
// built plainly, since its branches are not what is looked for.

let language: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let instrumented: [SwiftSetting] = language + [.unsafeFlags(["-sanitize=fuzzer,address"])]
// The address sanitizer is not for the linker gold.
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]

/// What runs one fuzz target: its folder is `Sources/<name>`.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name, dependencies: ["CLibFuzzer", "FuzzSupport"] + dependencies, swiftSettings: instrumented,
        linkerSettings: linked)
}

let package = Package(
    name: "Fuzzing",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .systemLibrary(name: "CPrefetch"),
        .target(name: "SyncCore", dependencies: ["CPrefetch"], swiftSettings: instrumented),
        .target(name: "SyncStore", dependencies: ["SyncCore"], swiftSettings: instrumented),
        .target(
            name: "SyncSQLite",
            dependencies: [
                "CPrefetch", "SyncCore", "SyncStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: instrumented),
        .target(name: "SyncCalls", dependencies: ["SyncCore", "SyncStore"], swiftSettings: instrumented),
        // Without what asks services.
        .target(
            name: "Sync", dependencies: ["SyncCalls", "SyncCore", "SyncStore", "SyncSQLite"],
            exclude: ["Engine", "Exports.swift"],
            swiftSettings: instrumented),
        .target(name: "CLibFuzzer"),
        .target(name: "FuzzSupport", dependencies: ["CLibFuzzer", "SyncCore"], swiftSettings: instrumented),
        fuzzer("FuzzReader", ["SyncCore"]),
        fuzzer("FuzzMapper", ["SyncCore"]),
        fuzzer("FuzzSync", ["SyncCalls", "SyncCore", "SyncSQLite", "Sync"]),
    ]
)
