/// A row as it is kept. Times are milliseconds since 1970.
struct Row: Sendable {
    /// Its place in the order in which rows were made.
    let number: Int
    /// A string or an integer.
    let id: JSON
    /// When it was made.
    let created: Int
    /// When it was last changed; the deletion is a change.
    var updated: Int
    /// When it was deleted; nil for a row that is there.
    var deleted: Int?
    /// 1 when made, one more with each change.
    var version: Int
    /// What the client sent, without the members that are the server's.
    var members: [String: JSON]

    /// The text that stands for an id in a path; nil for what is no id.
    static func key(of id: JSON?) -> String? {
        switch id {
        case .string(let text) where !text.isEmpty: text
        case .integer(let number): String(number)
        default: nil
        }
    }

    /// The row as clients see it.
    func document(_ settings: Settings) -> JSON {
        var document = members
        document["id"] = id
        document["created_at"] = .string(Timestamp.text(created, coarse: settings.coarseTimes))
        document["updated_at"] = .string(Timestamp.text(updated, coarse: settings.coarseTimes))
        if let deleted { document["deleted_at"] = .string(Timestamp.text(deleted, coarse: settings.coarseTimes)) }
        if settings.preconditions { document["version"] = .integer(version) }
        return .object(document)
    }
}

extension Settings {
    /// What a client sent, without the members that are the server's.
    func content(of members: [String: JSON]) -> [String: JSON] {
        var names: Set = ["id", "created_at", "updated_at"]
        if softDelete { names.insert("deleted_at") }
        if preconditions { names.insert("version") }
        return members.filter { !names.contains($0.key) }
    }
}
