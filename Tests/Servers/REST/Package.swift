// swift-tools-version: 6.2

import PackageDescription

/// The settings of the tested package: warnings are errors.
let ours: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let package = Package(
    name: "RESTServer",
    platforms: [.macOS(.v14)],
    dependencies: [.package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1")],
    targets: [
        .executableTarget(
            name: "RESTServer",
            dependencies: [.product(name: "Hummingbird", package: "hummingbird")],
            swiftSettings: ours)
    ]
)
