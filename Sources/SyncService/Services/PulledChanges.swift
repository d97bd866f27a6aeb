import SyncCore

/// An answer to a pull: what changed, by table, and until when.
struct PulledChanges {
    /// Columns that only a client has, for itself.
    static let ofClients = ["_status", "_changed"]

    /// What to ask for later changes with.
    let timestamp: String
    private let changes: JSONValue
    private let strategy: JSONValue?

    /// - Throws: ``ServiceFailure`` `malformed`.
    init(_ json: JSONValue, _ place: String) throws {
        guard let changes = json["changes"], case .object = changes else {
            throw ServiceFailure.malformed("there is no object at 'changes' (\(place))")
        }
        switch json["timestamp"] {
        case .number(let text)?, .string(let text)?: timestamp = text
        default: throw ServiceFailure.malformed("there is no 'timestamp' (\(place))")
        }
        self.changes = changes
        strategy = json["experimentalStrategy"]
    }

    /// Whether anything is said of a table.
    func has(_ table: String) -> Bool { changes[table] != nil }

    /// Whether what is said of a table is all there is of it.
    func isReplacement(_ table: String) -> Bool {
        let own = strategy?["override"]?[table] ?? strategy?["default"] ?? strategy
        return own == "replacement"
    }

    /// New and changed rows, and those that were deleted.
    ///
    /// - Throws: ``ServiceFailure`` `malformed`.
    func rows(of table: String) throws -> [RemoteRow] {
        guard let changes = changes[table] else { return [] }
        func list(_ name: String) throws -> [JSONValue] {
            switch changes[name] {
            case .array(let elements)?: return elements
            case nil, .null?: return []
            default: throw ServiceFailure.malformed("'\(name)' of '\(table)' is no list")
            }
        }
        let there = try (list("created") + list("updated")).map { record in
            guard let id = record["id"], id.isID else {
                throw ServiceFailure.malformed("a record of '\(table)' has no 'id'")
            }
            return RemoteRow(
                id: id, record: Self.ofClients.reduce(record) { $0.without(at: [$1]) },
                version: ChangesService.version(of: record))
        }
        let gone = try list("deleted").map { id in
            guard id.isID else { throw ServiceFailure.malformed("'deleted' of '\(table)' has what is no id") }
            return RemoteRow(id: id, record: nil)
        }
        return there + gone
    }
}

extension JSONValue {
    fileprivate var isID: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .number: true
        default: false
        }
    }
}
