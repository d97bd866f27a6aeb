// swift-tools-version: 6.2

import PackageDescription

// Apps that use Sync, in a separate package. `.ci/check-examples` builds and runs it.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Sync", path: "..", traits: ["Macros", "TwoWay"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(name: "TwoWay", dependencies: [.product(name: "Sync", package: "Sync")]),
        .executableTarget(name: "TaskList", dependencies: [.product(name: "Sync", package: "Sync")]),
        .target(
            name: "IssueServer",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ]),
        .executableTarget(name: "issue-server", dependencies: ["IssueServer"]),
        .target(
            name: "Observability",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]),
        // The tests are those of `Docs/Servers.md`, in `Tests/SyncServiceTests` of Sync.
        .target(
            name: "TenantServer",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "ObservabilityTests",
            dependencies: [
                "Observability",
                .product(name: "SyncTesting", package: "Sync"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]),
        .testTarget(name: "IssueServerTests", dependencies: ["IssueServer"]),
    ]
)
