/// A stored row. Times are milliseconds since 1970.
struct Row: Sendable {
    /// The number of the row, in the order of creation.
    let number: Int
    /// The ID, a string or an integer.
    let id: JSON
    /// The time of the creation.
    let created: Int
    /// The time of the last change or of the deletion.
    var updated: Int
    /// The time of the deletion; nil for a row that exists.
    var deleted: Int?
    /// The version, which is 1 for a new row and grows by 1 with each change.
    var version: Int
    /// The members that the client sent, without those that the server assigns.
    var members: [String: JSON]

    /// Returns the text of an ID in a path; nil for an invalid ID.
    static func key(of id: JSON?) -> String? {
        switch id {
        case .string(let text) where !text.isEmpty: text
        case .integer(let number): String(number)
        default: nil
        }
    }

    /// Returns the row as clients see it.
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
    /// Returns the members that a client sent, without those that the server assigns.
    func content(of members: [String: JSON]) -> [String: JSON] {
        var names: Set = ["id", "created_at", "updated_at"]
        if softDelete { names.insert("deleted_at") }
        if preconditions { names.insert("version") }
        return members.filter { !names.contains($0.key) }
    }
}
