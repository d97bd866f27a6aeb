import GRDB
import SyncCore

/// What was written since the fingerprints were made, as the triggers recorded it.
struct WrittenRows {
    private var rows: [(place: Int, key: RowKey)] = []
    /// Whether nothing can be said of any record.
    private(set) var isEverything = false

    init(_ db: Database) throws {
        try FingerprintDamage.mapped {
            let statement = try RawStatement(db, "SELECT place, key FROM sync_written")
            while try statement.step() {
                let place = Int(statement.integer(0))
                if place > WrittenPlaces.everything, let key = statement.key(1) {
                    rows.append((place, key))
                } else {
                    isEverything = true
                }
            }
        }
    }

    var isEmpty: Bool { rows.isEmpty && !isEverything }

    /// The links that may lead to rows that are gone.
    func links(_ model: CompiledModel) -> Set<LinkID> {
        let places = WrittenPlaces(model)
        let written = Set(rows.map(\.place))
        return Set(
            model.links.filter { link in
                [Link.End.first, .second].contains { end in
                    written.contains(places.links(link.id, end)) || written.contains(places.gone(link.side(end).table))
                }
            }.map(\.id))
    }

    func hashes(_ hasher: RecordHasher) -> HashTable {
        HashTable(rows.map { hasher.hash($0.key, at: $0.place) })
    }

    static func forget(in db: Database) throws {
        let forgetting = WrittenPlaces.forgetting
        try FingerprintDamage.mapped {
            try db.execute(sql: "DELETE FROM sync_written WHERE place = \(forgetting)")
            try db.execute(sql: "INSERT INTO sync_written SELECT \(forgetting), version FROM sync_fingerprint_seal")
            try db.execute(sql: "DELETE FROM sync_written WHERE place <> \(forgetting)")
            try db.execute(sql: "DELETE FROM sync_written")
        }
    }
}
