// swift-tools-version: 6.2

import PackageDescription

// Tests of concurrent reads, writes, observations and engine runs, for the Thread Sanitizer. They are a separate
// package, so that not all tests are built a second time. Sources and tests are symbolic links to those of the library.

let language: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let grdb: [Target.Dependency] = [
    .product(name: "GRDB", package: "GRDB.swift"), .product(name: "GRDBSQLite", package: "GRDB.swift"),
]
let http: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
    name: "AtOnce",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .systemLibrary(name: "CPrefetch"),
        .target(name: "CCurl"),
        .target(name: "SyncCore", dependencies: ["CPrefetch"], swiftSettings: language),
        .target(name: "SyncStore", dependencies: ["CPrefetch", "SyncCore"], swiftSettings: language),
        .target(
            name: "SyncSQLite", dependencies: ["SyncCore", "SyncStore"] + grdb, swiftSettings: language),
        .target(
            name: "SyncService", dependencies: ["CCurl", "SyncCalls", "SyncCore", "SyncStore", http],
            swiftSettings: language),
        .target(name: "SyncCalls", dependencies: ["SyncCore", "SyncStore"], swiftSettings: language),
        .target(
            name: "Sync", dependencies: ["SyncCalls", "SyncCore", "SyncStore", "SyncSQLite", "SyncService"],
            swiftSettings: language + [.define("TwoWay")]),
        .target(name: "SyncTesting", dependencies: ["Sync", "SyncService"], swiftSettings: language),
        .target(name: "TestSize", path: "Tests/TestSize", swiftSettings: language),
        .testTarget(
            name: "SyncTests", dependencies: ["Sync", "SyncCalls", "SyncStore", "TestSize"] + grdb,
            sources: [
                "AppDatabase", "Observation", "Readers", "CancellationTests.swift", "Fixtures.swift",
                "OtherProgramTests.swift", "PageTests.swift", "ChunkFlowTests.swift", "ProgressTests.swift",
                "StreamTests.swift", "SyncLimitTests.swift", "TemporaryFolder.swift",
            ],
            swiftSettings: language),
        .testTarget(
            name: "SyncServiceTests",
            dependencies: [
                "SyncService", "SyncTesting", "Sync", "SyncStore", "SyncSQLite", "SyncCore", "TestSize", http,
            ]
                + grdb,
            sources: [
                "ChangesWorld.swift", "ConvergenceTests.swift", "Device.swift", "FailingNetwork.swift",
                "HistoryClock.swift", "HistoryLedger.swift", "HistoryLinks.swift", "HistoryMembers.swift",
                "HistoryReferences.swift", "HistoryTroubles.swift", "HistoryWorld.swift",
                "KintoServer.swift", "KintoWorld.swift", "LoopbackServer.swift", "OneToOneLinks.swift",
                "ParseWorld.swift",
                "PocketBaseServer.swift", "PocketBaseSpace.swift", "PocketBaseWorld.swift", "RandomHistory.swift",
                "RandomHistory+Members.swift", "RandomHistory+Problems.swift", "RandomHistory+References.swift",
                "RESTServer.swift", "RESTStub.swift",
                "RESTWorld.swift", "SeededFaults.swift", "ShadowLog.swift", "SyncConflict+Log.swift",
                "TransportTests.swift",
                "TroubledService.swift", "TwoDeviceTests.swift",
            ],
            swiftSettings: language),
    ]
)
