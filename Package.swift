// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

/// Warnings are errors if `SYNC_WARNINGS_AS_ERRORS` is set, as by `.ci/run`. An app may use a later compiler with more
/// warnings, and Xcode rejects this setting for a package that it suppresses the warnings of.
let warnings: [SwiftSetting] =
    Context.environment["SYNC_WARNINGS_AS_ERRORS"] == nil
    ? [] : [.treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning)]

/// The settings of every target. Imports are internal unless they are part of the API.
let ours: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + warnings

// Apps for Apple platforms need the privacy manifest. On other systems, it would only add a resource bundle.
#if canImport(Darwin)
    let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
#else
    let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#endif

let package = Package(
    name: "Sync",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
    products: [
        .library(name: "Sync", targets: ["Sync"]),
        .library(name: "SyncTesting", targets: ["SyncTesting"]),
        .library(name: "SyncTools", targets: ["SyncTools"]),
        .executable(name: "syncdb", targets: ["syncdb"]),
    ],
    traits: [
        .default(enabledTraits: ["CommandLine", "TwoWay"]),
        .trait(
            name: "CommandLine",
            description: "The program syncdb. Without this trait, swift-argument-parser is not fetched."),
        .trait(
            name: "Macros",
            description: "Swift types as entities: @Entity. Without this trait, swift-syntax is not fetched."),
        .trait(
            name: "TwoWay",
            description: "The two-way engine and the services. Without this trait, they are not built."),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"700.0.0"),
    ],
    targets: [
        .systemLibrary(name: "CPrefetch"),
        .target(name: "CCurl"),
        .target(name: "SyncCore", dependencies: ["CPrefetch"], swiftSettings: ours),
        .target(name: "SyncStore", dependencies: ["CPrefetch", "SyncCore"], swiftSettings: ours),
        .target(
            name: "SyncSQLite",
            dependencies: [
                "SyncCore", "SyncStore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: ours),
        .target(
            name: "SyncService",
            dependencies: [
                "CCurl", "SyncCalls", "SyncCore", "SyncStore",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: ours),
        .macro(
            name: "SyncMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftDiagnostics", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftParser", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftSyntax", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax", condition: .when(traits: ["Macros"])),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax", condition: .when(traits: ["Macros"])),
            ],
            swiftSettings: ours),
        .target(name: "SyncCalls", dependencies: ["SyncCore", "SyncStore"], swiftSettings: ours),
        .target(
            name: "Sync",
            dependencies: [
                "SyncCalls", "SyncCore", "SyncStore", "SyncSQLite",
                .target(name: "SyncService", condition: .when(traits: ["TwoWay"])),
                .target(name: "SyncMacros", condition: .when(traits: ["Macros"])),
            ],
            exclude: privacyManifest.excluded, resources: privacyManifest.resources,
            swiftSettings: ours),
        .target(
            name: "SyncTesting", dependencies: ["Sync", "SyncCore", "SyncSQLite", "SyncService"], swiftSettings: ours),
        .target(
            name: "SyncTools",
            dependencies: [
                "Sync", "SyncCalls", "SyncCore", "SyncStore", "SyncSQLite", "SyncService",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: ours),
        .systemLibrary(
            name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .executableTarget(
            name: "syncdb",
            dependencies: [
                "CZlib", "Sync", "SyncTesting", "SyncTools",
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["CommandLine"])),
            ],
            swiftSettings: ours),
        .target(name: "TestSize", path: "Tests/TestSize", swiftSettings: ours),
        .target(
            name: "TestWork",
            dependencies: [
                "Sync", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tests/TestWork", swiftSettings: ours),
        .target(
            name: "MemoryStore", dependencies: ["SyncCalls", "SyncCore", "SyncStore", "SyncTesting"],
            path: "Tests/MemoryStore", swiftSettings: ours),
        .testTarget(
            name: "SyncCoreTests", dependencies: ["SyncCore", "SyncTesting", "TestSize"], swiftSettings: ours),
        .testTarget(
            name: "SyncStoreTests", dependencies: ["MemoryStore", "Sync", "SyncStore", "SyncCore", "TestSize"],
            swiftSettings: ours),
        .testTarget(
            name: "SyncSQLiteTests",
            dependencies: [
                "MemoryStore", "SyncSQLite", "SyncStore", "SyncCore", "SyncTesting", "TestSize",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: ours),
        .testTarget(
            name: "SyncTests",
            dependencies: [
                "Sync", "SyncCalls", "SyncStore", "SyncTesting", "SyncTools", "TestSize", "TestWork",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: ours),
        .executableTarget(
            name: "CrashingDevice", dependencies: ["Sync", "SyncTools", .product(name: "GRDB", package: "GRDB.swift")],
            path: "Tests/CrashingDevice", swiftSettings: ours),
        .testTarget(
            name: "SyncServiceTests",
            dependencies: [
                "CrashingDevice", "MemoryStore",
                "SyncService", "SyncTesting", "SyncTools", "Sync", "SyncStore", "SyncSQLite", "SyncCore", "TestSize",
                "TestWork",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: ours),
        .testTarget(
            name: "SyncToolsTests",
            dependencies: ["SyncTools", "Sync", "SyncService", "SyncCore", "TestSize"], swiftSettings: ours),
        .testTarget(
            name: "SyncTestingTests",
            dependencies: [
                "MemoryStore", "SyncTesting", "Sync", "SyncSQLite", "SyncStore", "SyncCore", "TestSize",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: ours),
        .testTarget(
            name: "syncdbTests",
            dependencies: [
                "syncdb", "Sync", "SyncTesting", "SyncTools", "TestSize", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: ours),
    ]
)
