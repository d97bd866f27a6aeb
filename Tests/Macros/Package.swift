// swift-tools-version: 6.2

import PackageDescription

// A separate package, like that of an app. Only packages that use the macros build swift-syntax.
let package = Package(
    name: "MacroTests",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Sync", path: "../..", traits: ["Macros", "TwoWay"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .testTarget(
            name: "EntityTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "SyncTesting", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "FixtureTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "MainActorTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        // Modules that declare types with the same names as Sync.
        .target(name: "Fluent", path: "StandIns/Fluent"),
        .target(name: "SwiftData", path: "StandIns/SwiftData"),
        .testTarget(
            name: "SelectorTests",
            dependencies: ["Fluent", "SwiftData", .product(name: "Sync", package: "Sync")]),
    ]
)
