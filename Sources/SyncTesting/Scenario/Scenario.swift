import Foundation
import SyncCore
import SyncSQLite

/// One case of a scenario file.
struct Scenario: Sendable {
    /// The content of a case: steps on a store, or one call of a pure function.
    enum Body: Sendable {
        case steps([ScenarioStep])
        case function(ScenarioFunction)
    }

    var name: String
    /// The behaviour that the case checks, in one sentence.
    var about: String
    /// The path of the model, relative to the base folder of the file. Cases with steps require a model.
    var model: String?
    /// The names of the features that the case needs, without their explanations.
    var needs: [String]
    /// The members that the insert hook adds to each record, for a case that needs `willInsertHook`; nil for other
    /// cases.
    var hook: JSONValue?
    var body: Body

    var function: ScenarioFunction? {
        guard case .function(let function) = body else { return nil }
        return function
    }

    /// The features that the case needs, also those that its steps need.
    var allNeeds: [String] {
        guard case .steps(let steps) = body, steps.contains(where: { $0.kind == .reopen }) else { return needs }
        return needs + [ScenarioFeatures.reopening]
    }
}

extension Scenario {
    init(_ value: JSONValue) throws(ScenarioError) {
        var fields = try ScenarioFields(value, of: "the case")
        name = try fields.string("name")
        about = try fields.optionalString("about") ?? ""
        // `origin` names the older test suite that the case comes from. It is for readers of the file.
        _ = try fields.optionalString("origin")
        needs = try (fields.optionalStrings("needs") ?? []).map(Self.needName)
        model = try fields.optionalString("model")
        hook = try Self.hook(&fields)
        if hook != nil, !needs.contains(ScenarioFeatures.willInsertHook) {
            throw ScenarioError("the case has a hook; add '\(ScenarioFeatures.willInsertHook)' to its 'needs'")
        }
        if fields.has("function") {
            body = .function(try ScenarioFunction(&fields, hasModel: model != nil))
        } else {
            guard model != nil else { throw ScenarioError("the case lacks the field 'model'") }
            body = .steps(try Self.steps(try fields.value("steps")))
        }
        try fields.finish()
    }

    /// Returns the name of a need: the text before `: `. A name may contain a colon.
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

/// A decoded scenario file. A case that cannot be decoded is an entry with an error, and is reported as failed.
struct ScenarioFile: Sendable {
    /// A decoded case, or the error of decoding it.
    struct Entry: Sendable {
        var name: String
        var scenario: Result<Scenario, ScenarioError>
    }

    var url: URL
    var group: String?
    var entries: [Entry]

    /// The folder to which paths in the file are relative. For a file in a folder `cases`, it is the parent of that
    /// folder. For other files it is the folder of the file, and for a pipe the current directory.
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
        guard format == .number("1") else { throw ScenarioError("the field 'format' of the scenario file must be 1") }
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

/// An error in a scenario file, a case or a step, as opposed to a failure of the library under test.
struct ScenarioError: LocalizedError, Hashable, CustomStringConvertible {
    var message: String
    /// The number of the invalid step, from 1; nil if the error is not in a step.
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
    /// Creates the options of a `sync` step from their JSON.
    ///
    /// The fields are `strict`, `scope` (`automatic` or `all`), `payload` (`snapshot` or `delta`), `maxDelete` (a
    /// number of rows, or a fraction such as `"50%"`), `deletesBesideUnread`, `form` (a payload format such as
    /// `json-api`), `keyedBy` (the name of an attribute, or true for the primary key) and `keyPath`.
    init(scenario value: JSONValue) throws(ScenarioError) {
        self.init(deletionLimit: nil)
        var fields = try ScenarioFields(value, of: "the 'options' object of the sync")
        isStrict = try fields.flag("strict")
        deletesBesideUnread = try fields.flag("deletesBesideUnread")
        switch try fields.optionalString("scope") {
        case nil, "automatic": scope = .automatic
        case "all": scope = .all
        case let name?: throw ScenarioError("unknown scope '\(name)'")
        }
        switch try fields.optionalString("payload") {
        case nil, "snapshot": payloadKind = .snapshot
        case "delta": payloadKind = .delta
        case let name?: throw ScenarioError("unknown kind of payload '\(name)'")
        }
        if let most = fields.optional("maxDelete") { deletionLimit = try Self.deletionLimit(most) }
        if let name = try fields.optionalString("form") {
            guard let format = PayloadFormat(rawValue: name) else { throw ScenarioError("unknown form '\(name)'") }
            self.format = format
        }
        switch fields.optional("keyedBy") {
        case nil: break
        case .bool(true)?: keyedBy = .primaryKey
        case .string(let name)?: keyedBy = .attribute(name)
        default: throw ScenarioError("the field 'keyedBy' must be the name of an attribute, or true")
        }
        if let path = try fields.optionalString("keyPath") { keyPath = .init(path) }
        try fields.finish()
    }

    private static func deletionLimit(_ value: JSONValue) throws(ScenarioError) -> DeletionLimit {
        switch value {
        case .number(let text):
            if let rows = Int(text) { return .rows(rows) }
        case .string(let text):
            if text.hasSuffix("%"), let percent = Double(text.dropLast()) { return .fraction(percent / 100) }
        default: break
        }
        throw ScenarioError("the field 'maxDelete' must be a number of rows or a percentage such as \"50%\"")
    }
}
