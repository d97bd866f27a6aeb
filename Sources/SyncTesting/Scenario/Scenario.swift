import Foundation
import SyncCore
import SyncSQLite

/// One case of a scenario file.
struct Scenario: Sendable {
    /// What a case does: steps on a store, or one call of a pure function.
    enum Body: Sendable {
        case steps([ScenarioStep])
        case function(ScenarioFunction)
    }

    var name: String
    /// The behaviour, in one sentence.
    var about: String
    /// The model's path, relative to the file's base folder. A case with steps has one.
    var model: String?
    /// The custom code and facilities it asks for, without their explanations.
    var needs: [String]
    /// The keys that the hook of `willInsertHook` adds to each record.
    var hook: JSONValue?
    var body: Body

    var function: ScenarioFunction? {
        guard case .function(let function) = body else { return nil }
        return function
    }
}

extension Scenario {
    init(_ value: JSONValue) throws(ScenarioError) {
        var fields = try ScenarioFields(value, of: "the case")
        name = try fields.string("name")
        about = try fields.optionalString("about") ?? ""
        // Where an older test suite had the case from; kept for readers.
        _ = try fields.optionalString("origin")
        needs = try (fields.optionalStrings("needs") ?? []).map(Self.needName)
        model = try fields.optionalString("model")
        hook = try Self.hook(&fields)
        if hook != nil, !needs.contains(ScenarioFeatures.willInsertHook) {
            throw ScenarioError("the case has a hook, but does not need '\(ScenarioFeatures.willInsertHook)'")
        }
        if fields.has("function") {
            body = .function(try ScenarioFunction(&fields, hasModel: model != nil))
        } else {
            guard model != nil else { throw ScenarioError("the case lacks the field 'model'") }
            body = .steps(try Self.steps(try fields.value("steps")))
        }
        try fields.finish()
    }

    /// The name of a need: what stands before `: `. A name may itself contain a colon.
    static func needName(_ need: String) -> String {
        guard let end = need.firstRange(of: ": ") else { return need }
        return String(need[..<end.lowerBound])
    }

    private static func hook(_ fields: inout ScenarioFields) throws(ScenarioError) -> JSONValue? {
        guard let value = fields.optional("hook") else { return nil }
        var hook = try ScenarioFields(value, of: "the hook")
        let added = try hook.object("add")
        try hook.finish()
        return added
    }

    private static func steps(_ value: JSONValue) throws(ScenarioError) -> [ScenarioStep] {
        guard case .array(let elements) = value else {
            throw ScenarioError("the field 'steps' of the case must be an array, not \(value.kindName)")
        }
        guard !elements.isEmpty else { throw ScenarioError("the case has no steps") }
        var steps: [ScenarioStep] = []
        for (index, element) in elements.enumerated() {
            do {
                steps.append(try ScenarioStep(element))
            } catch {
                throw ScenarioError(error.message, step: index + 1)
            }
        }
        return steps
    }
}

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

/// What is wrong with a scenario file, a case or a step: never with the library under test.
struct ScenarioError: LocalizedError, Hashable, CustomStringConvertible {
    var message: String
    /// The number of the step, from 1, if it is a step that is wrong.
    var step: Int?

    init(_ message: String, step: Int? = nil) {
        self.message = message
        self.step = step
    }

    var description: String { message }
    var errorDescription: String? { step.map { "step \($0): \(message)" } ?? message }
}

// MARK: - SyncOptions+Scenario

extension SyncOptions {
    /// The options of a `sync` step: `strict`, `scope` (`automatic`, `all`), `payload` (`snapshot`, `delta`), `maxDelete`
    /// (rows, or a part as `"50%"`), `deletesBesideUnread`, `form` (`json-api`, `graphql`), `keyedBy` (an attribute, or true), `keyPath`.
    init(scenario value: JSONValue) throws(ScenarioError) {
        self.init()
        var fields = try ScenarioFields(value, of: "the options of the sync")
        isStrict = try fields.flag("strict")
        deletesBesideUnread = try fields.flag("deletesBesideUnread")
        switch try fields.optionalString("scope") {
        case nil, "automatic": scope = .automatic
        case "all": scope = .all
        case let name?: throw ScenarioError("unknown scope '\(name)'")
        }
        switch try fields.optionalString("payload") {
        case nil, "snapshot": payload = .snapshot
        case "delta": payload = .delta
        case let name?: throw ScenarioError("unknown kind of payload '\(name)'")
        }
        if let most = fields.optional("maxDelete") { deletionGuard = try Self.deletionGuard(most) }
        if let name = try fields.optionalString("form") {
            guard let form = Form(rawValue: name) else { throw ScenarioError("unknown form '\(name)'") }
            self.form = form
        }
        switch fields.optional("keyedBy") {
        case nil: break
        case .bool(true)?: keyedBy = .primaryKey
        case .string(let name)?: keyedBy = .attribute(name)
        default: throw ScenarioError("the field 'keyedBy' must be the name of an attribute, or true")
        }
        if let path = try fields.optionalString("keyPath") { keyPath = path.split(separator: ".").map(String.init) }
        try fields.finish()
    }

    private static func deletionGuard(_ value: JSONValue) throws(ScenarioError) -> DeletionLimit {
        switch value {
        case .number(let text):
            if let rows = Int(text) { return .rows(rows) }
        case .string(let text):
            if text.hasSuffix("%"), let percent = Double(text.dropLast()) { return .fraction(percent / 100) }
        default: break
        }
        throw ScenarioError("the field 'maxDelete' must be a number of rows or a part like \"50%\"")
    }
}
