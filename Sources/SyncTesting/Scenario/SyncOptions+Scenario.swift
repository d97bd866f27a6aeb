import SyncCore

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

    private static func deletionGuard(_ value: JSONValue) throws(ScenarioError) -> DeletionGuard {
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
