// swift-tools-version: 6.2

import PackageDescription

/// The settings of the package Sync.
let ours: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

/// A separate package, so that users of Sync do not resolve or build the dependencies of the benchmarks.
let package = Package(
    name: "SyncBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Sync", path: "../..", traits: ["TwoWay"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "grdb-peer", dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
            path: "Sources/GRDBPeer", swiftSettings: ours),
        .executableTarget(
            name: "sync-benchmarks",
            dependencies: [
                .product(name: "Sync", package: "Sync"), .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/SyncBenchmarks", swiftSettings: ours),
        .executableTarget(
            name: "engine-benchmark",
            dependencies: [
                .product(name: "Sync", package: "Sync"), .product(name: "SyncTesting", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Sources/EngineBenchmark", swiftSettings: ours),
        .executableTarget(
            name: "pool-benchmark", dependencies: [.product(name: "Sync", package: "Sync")],
            path: "Sources/PoolBenchmark", swiftSettings: ours),
    ]
)
