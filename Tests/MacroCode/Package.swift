// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

// The sources of the macros, which cannot be tested through their plugin. The target is a macro, so that its tests use
// the same swift-syntax as the plugin. The package is separate, because Tests/Macros is built like an app.
let package = Package(
    name: "MacroCode",
    platforms: [.macOS(.v14)],
    dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"700.0.0")],
    targets: [
        .macro(
            name: "EntityMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ],
            swiftSettings: [.define("Macros"), .enableUpcomingFeature("ExistentialAny")]),
        .testTarget(
            name: "EntityMacrosTests",
            dependencies: [
                "EntityMacros",
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
            ]),
    ]
)
