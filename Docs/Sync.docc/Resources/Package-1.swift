// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Todos",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Sync", path: "../Sync", traits: ["TwoWay"])],
    targets: [
        .executableTarget(name: "Todos", dependencies: [.product(name: "Sync", package: "Sync")])
    ])
