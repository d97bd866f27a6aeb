import Foundation
import SyncCore
import SyncTesting

@testable import SyncTesting

/// A folder with a model and scenario files, deleted with the value.
final class ScenarioFolder: Sendable {
    let url: URL

    /// - Parameter model: The text of `model.json`.
    init(model: String = ScenarioFolder.model) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("scenarios-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data(model.utf8).write(to: url.appendingPathComponent("model.json"))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    static let model = """
        { "entities": {
          "Band": {
            "attributes": { "id": "integer", "name": "string", "foundedAt": "date" },
            "relationships": {
              "label": { "entity": "Label", "inverse": "bands" },
              "songs": { "entity": "Song", "many": true, "ordered": true, "inverse": "band", "deleteRule": "cascade" } } },
          "Label": {
            "attributes": { "id": "integer", "name": "string" },
            "relationships": { "bands": { "entity": "Band", "many": true, "inverse": "label" } } },
          "Song": {
            "attributes": { "id": "string", "title": "string" },
            "relationships": { "band": { "entity": "Band", "inverse": "songs" } } },
          "Venue": {
            "attributes": { "venueID": { "type": "integer", "primaryKey": true }, "hallName": "string" },
            "relationships": {
              "parent": { "entity": "Venue", "inverse": "rooms" },
              "rooms": { "entity": "Venue", "many": true, "inverse": "parent" } } } } }
        """

    /// Writes a file of cases.
    @discardableResult
    func write(_ cases: [JSONValue], to name: String = "scenarios.json") throws -> URL {
        try write(text: (["format": 1, "cases": .array(cases)] as JSONValue).scenarioText, to: name)
    }

    @discardableResult
    func write(text: String, to name: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
        return file
    }

    /// Runs one case with these fields and a name.
    func run(
        _ fields: JSONValue, features: ScenarioFeatures = .standard, options: ScenarioRunner.Options = .init()
    ) async throws -> ScenarioReport.CaseResult? {
        guard case .object(let members) = fields else { return nil }
        let file = try write([.object([.init("name", "the-case")] + members)])
        return await ScenarioRunner(features: features, options: options).run(paths: [file]).results.first
    }
}
