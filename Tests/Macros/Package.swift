// swift-tools-version: 6.2

import PackageDescription

// A package of its own, as an app's would be: only what uses the macros builds swift-syntax.
let package = Package(
    name: "MacroTests",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Sync", path: "../..", traits: ["Macros"]),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"700.0.0"),
    ],
    targets: [
        // The sources of the macros, which a plugin cannot be tested through.
        .target(
            name: "EntityMacros",
            dependencies: [
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
            ],
            exclude: ["Plugin.swift"],
            swiftSettings: [.define("Macros"), .enableUpcomingFeature("ExistentialAny")]),
        .testTarget(
            name: "EntityTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "FixtureTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "IsolatedTests",
            dependencies: [
                .product(name: "Sync", package: "Sync"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: [.defaultIsolation(MainActor.self)]),
        .testTarget(
            name: "EntityMacrosTests",
            dependencies: [
                "EntityMacros",
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
            ]),
    ]
)
