import Foundation
import SyncCore

/// Files that the model tests read.
enum ModelFixtures {
    /// The folder of the package.
    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let folder = package.appendingPathComponent("Fixtures/Models")
    static let schema = package.appendingPathComponent("Docs/schema.schema.json")

    /// All schema files of the fixtures. A test checks that there are some.
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".json") }.sorted()

    /// The models of the shared corpus, if `SYNC_CONFORMANCE` names its folder.
    static let corpus = ProcessInfo.processInfo.environment["SYNC_CONFORMANCE"].map {
        URL(fileURLWithPath: $0).appendingPathComponent("models")
    }

    static func model(_ name: String) throws -> SyncModel {
        try SyncModel(contentsOf: folder.appendingPathComponent(name))
    }

    static func json(_ url: URL) throws -> JSONValue { try JSONValue(parsing: Data(contentsOf: url)) }
}

extension SyncModel {
    init(schemaData text: String) throws { try self.init(schemaData: Data(text.utf8)) }

    /// Creates a Core Data model with these elements.
    init(coreDataElements xml: String) throws {
        try self.init(
            coreDataModel: Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(xml)\n</model>\n".utf8))
    }
}
