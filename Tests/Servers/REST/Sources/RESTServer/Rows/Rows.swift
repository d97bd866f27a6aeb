/// The rows of a collection.
struct Rows: Sendable {
    /// The rows by the text of their ID.
    private var rows: [String: Row] = [:]
    /// The number of the newest row.
    private var lastNumber = 0
    /// The largest numeric ID so far.
    private var lastID = 0

    /// All rows, including deleted ones, in the order of creation.
    var all: [Row] { rows.values.sorted { $0.number < $1.number } }

    /// Returns the row with an ID; nil if it is deleted.
    func live(_ key: String) -> Row? {
        rows[key].flatMap { $0.deleted == nil ? $0 : nil }
    }

    /// Creates a row. If a deleted row had the ID, its version continues, so that clients can distinguish the two.
    mutating func make(id: JSON, key: String, members: [String: JSON], at time: Int) -> Row {
        lastNumber += 1
        if let whole = Int(key) { lastID = max(lastID, whole) }
        let version = (rows[key]?.version ?? 0) + 1
        let row = Row(number: lastNumber, id: id, created: time, updated: time, version: version, members: members)
        rows[key] = row
        return row
    }

    /// Replaces the members of a row.
    mutating func change(_ key: String, to members: [String: JSON], at time: Int) -> Row? {
        rows[key]?.members = members
        rows[key]?.updated = time
        rows[key]?.version += 1
        return rows[key]
    }

    /// Deletes a row. If `softly` is true, it stays as a deleted row.
    mutating func delete(_ key: String, softly: Bool, at time: Int) {
        guard softly else { return rows[key] = nil }
        rows[key]?.deleted = time
        rows[key]?.updated = time
        rows[key]?.version += 1
    }

    /// Returns the next ID of the server. IDs are never reused.
    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }
}
