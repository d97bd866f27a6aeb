import Foundation
import SyncCore
import SyncSQLite

/// A scenario file as it was read. Cases that could not be decoded are kept as errors, to be reported as failed.
struct ScenarioFile: Sendable {
    /// A case, or what is wrong with it.
    struct Entry: Sendable {
        var name: String
        var scenario: Result<Scenario, ScenarioError>
    }

    var url: URL
    var group: String?
    var entries: [Entry]

    /// The folder that paths in the file are relative to: the one above `cases`, else the file's own. A pipe is in none.
    var baseFolder: URL {
        if let status = FileStatus(at: url.path), !status.isRegular {
            return URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
        }
        let folder = url.standardizedFileURL.deletingLastPathComponent()
        return folder.lastPathComponent == "cases" ? folder.deletingLastPathComponent() : folder
    }

    func url(of path: String) -> URL {
        path.hasPrefix("/") ? URL(fileURLWithPath: path) : baseFolder.appendingPathComponent(path).standardizedFileURL
    }
}

extension ScenarioFile {
    init(contentsOf url: URL) throws(ScenarioError) {
        let json: JSONValue
        do {
            json = try JSONValue(parsing: FileContents.read(url.path))
        } catch {
            throw ScenarioError("cannot read the file: \(error)")
        }
        try self.init(json, at: url)
    }

    init(_ json: JSONValue, at url: URL) throws(ScenarioError) {
        var fields = try ScenarioFields(json, of: "the scenario file")
        let format = try fields.value("format")
        guard format == .number("1") else { throw ScenarioError("the file is not of format 1") }
        group = try fields.optionalString("group")
        guard case .array(let cases) = try fields.value("cases") else {
            throw ScenarioError("the field 'cases' of the scenario file must be an array")
        }
        try fields.finish()
        guard !cases.isEmpty else { throw ScenarioError("the file has no cases") }
        self.url = url
        entries = Self.entries(cases)
    }

    private static func entries(_ cases: [JSONValue]) -> [Entry] {
        var names: Set<String> = []
        return cases.enumerated().map { index, value in
            var name = "case \(index + 1)"
            if case .string(let text)? = value["name"] { name = text }
            do throws(ScenarioError) {
                let scenario = try Scenario(value)
                guard names.insert(name).inserted else { throw ScenarioError("two cases are named '\(name)'") }
                return Entry(name: name, scenario: .success(scenario))
            } catch {
                return Entry(name: name, scenario: .failure(error))
            }
        }
    }
}
