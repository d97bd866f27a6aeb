// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that only the fuzzing builds it. SyncCore, SyncStore, SyncSQLite, SyncCalls and Sync are the
// sources of the library (symbolic links in Sources), built with the instrumentation that guides the fuzzer. GRDB is
// not instrumented, since its branches are not tested.

let language: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let instrumented: [SwiftSetting] = language + [.unsafeFlags(["-sanitize=fuzzer,address"])]
// The linker gold does not support the address sanitizer.
let linked: [LinkerSetting] = [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]

/// Returns the target of a fuzzer, whose folder is `Sources/<name>`.
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
        .target(name: "SyncStore", dependencies: ["CPrefetch", "SyncCore"], swiftSettings: instrumented),
        .target(
            name: "SyncSQLite",
            dependencies: [
                "SyncCore", "SyncStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: instrumented),
        .target(name: "SyncCalls", dependencies: ["SyncCore", "SyncStore"], swiftSettings: instrumented),
        // Without the trait TwoWay.
        .target(
            name: "Sync", dependencies: ["SyncCalls", "SyncCore", "SyncStore", "SyncSQLite"],
            swiftSettings: instrumented),
        .target(name: "CLibFuzzer"),
        .target(name: "FuzzSupport", dependencies: ["CLibFuzzer", "SyncCore"], swiftSettings: instrumented),
        fuzzer("FuzzReader", ["SyncCore"]),
        fuzzer("FuzzMapper", ["SyncCore"]),
        fuzzer("FuzzSync", ["SyncCalls", "SyncCore", "SyncSQLite", "Sync"]),
    ]
)
