/// The rows of one path.
struct Rows: Sendable {
    /// By the texts that stand for their ids.
    private var rows: [String: Row] = [:]
    /// The place of the row that was made last.
    private var lastNumber = 0
    /// The largest id that was ever there, of those that are numbers.
    private var lastID = 0

    /// All rows, deleted ones too, in the order in which they were made.
    var all: [Row] { rows.values.sorted { $0.number < $1.number } }

    /// The row of an id, unless it is deleted.
    func live(_ key: String) -> Row? {
        rows[key].flatMap { $0.deleted == nil ? $0 : nil }
    }

    /// Makes a row, in place of a deleted one that had the id. That one's version goes on, so that no client takes
    /// the new row for the old.
    mutating func make(id: JSON, key: String, members: [String: JSON], at time: Int) -> Row {
        lastNumber += 1
        if let whole = Int(key) { lastID = max(lastID, whole) }
        let version = (rows[key]?.version ?? 0) + 1
        let row = Row(number: lastNumber, id: id, created: time, updated: time, version: version, members: members)
        rows[key] = row
        return row
    }

    /// Gives a row other members.
    mutating func change(_ key: String, to members: [String: JSON], at time: Int) -> Row? {
        rows[key]?.members = members
        rows[key]?.updated = time
        rows[key]?.version += 1
        return rows[key]
    }

    /// Deletes a row, which stays as a deleted one if `softly`.
    mutating func delete(_ key: String, softly: Bool, at time: Int) {
        guard softly else { return rows[key] = nil }
        rows[key]?.deleted = time
        rows[key]?.updated = time
        rows[key]?.version += 1
    }

    /// The next id that the server gives. None comes twice.
    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }
}
