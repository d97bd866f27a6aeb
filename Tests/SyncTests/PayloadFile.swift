import Foundation
import Sync

/// A payload file, and the model and entity that scenarios sync it with.
struct PayloadFile: Sendable, Hashable, CustomStringConvertible {
    var file: URL
    var entity: String
    var model: URL
    /// The key path to the records in the file.
    var keyPath: [String] = []
    var description: String { "\(file.lastPathComponent) as \(entity) of \(model.lastPathComponent)" }

    /// The folder with `cases`, `models` and `json` that implementations share, if the environment names one.
    static let corpus = ProcessInfo.processInfo.environment["SYNC_CONFORMANCE"].flatMap {
        $0.isEmpty ? nil : URL(fileURLWithPath: $0)
    }

    /// Returns the payloads of the package's scenarios, and of the two days of the sample.
    static func own() throws -> [PayloadFile] {
        let model = Fixtures.folder.appendingPathComponent("Models/company.json")
        let days = ["day1", "day2"].map { day in
            PayloadFile(
                file: Fixtures.folder.appendingPathComponent("Payloads/\(day).json"), entity: "User", model: model)
        }
        let scenarios = Fixtures.folder.appendingPathComponent("Scenarios")
        return try days + uses(in: scenarios) { $0.deletingLastPathComponent() }
    }

    /// Returns the payloads of the corpus's scenarios.
    static func shared(_ corpus: URL) throws -> [PayloadFile] {
        try uses(in: corpus.appendingPathComponent("cases")) { _ in corpus }
    }

    /// Returns the JSON files below a folder, at any depth.
    static func files(in folder: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".json") }.sorted()
            .map { folder.appendingPathComponent($0).standardizedFileURL }
    }

    /// Returns each file that a scenario syncs, once for each entity, model and key path.
    private static func uses(in folder: URL, relativeTo base: (URL) -> URL) throws -> [PayloadFile] {
        var uses: [PayloadFile] = []
        for scenarios in try files(in: folder) {
            let base = base(scenarios)
            for scenario in try JSONValue(parsing: Data(contentsOf: scenarios))["cases"]?.array ?? [] {
                for step in scenario["steps"]?.array ?? [] where step["expectError"] == nil {
                    guard let path = step["sync"]?.string, let entity = step["entity"]?.string,
                        let model = scenario["model"]?.string
                    else { continue }
                    let use = PayloadFile(
                        file: base.appendingPathComponent(path).standardizedFileURL, entity: entity,
                        model: base.appendingPathComponent(model).standardizedFileURL,
                        keyPath: step["key"]?.string?.components(separatedBy: ".") ?? [])
                    if !uses.contains(use) { uses.append(use) }
                }
            }
        }
        return uses
    }
}

extension JSONValue {
    fileprivate var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    fileprivate var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
