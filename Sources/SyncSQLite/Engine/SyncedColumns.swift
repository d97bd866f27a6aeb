import GRDB
import SyncCore
import SyncStore

/// The columns and join tables of an entity that were pulled for all rows, from the key paths that the model uses now.
///
/// Columns that are new in the model, or that have other key paths now, are not included. Their differences are not
/// edits.
struct SyncedColumns {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    /// The columns as they are recorded after all rows were pulled.
    private var current: [PulledColumn] {
        let columns = table.columns.map { ($0.name, $0.field) }
        let joinTable = table.joinTables.map { ($0.name, OutgoingSchema.Field.joinRows($0.link, $0.end)) }
        return (columns + joinTable).map { name, field in
            PulledColumn(name: name, members: table.members(of: field), isPulled: true)
        }.sorted { $0.name < $1.name }
    }

    func names() throws -> Set<String> {
        let pulled = try recorded()
        return Set(current.filter(pulled.contains).map(\.name))
    }

    private func recorded() throws -> Set<PulledColumn> {
        Set(PulledColumn.all(in: try EngineLedger(db).pulledColumns(of: table.number)))
    }

    /// Records that all rows were pulled, so that all columns are synced.
    func insertPulled() throws {
        guard try insert(current) else { return }
        try EngineLedger(db).setCaptured(table)
    }

    /// Requests a full pull if some columns are not synced and no such pull was requested before.
    func pullNew() throws {
        let noted = try recorded()
        var next = current
        for index in next.indices where !noted.contains(next[index]) { next[index].isPulled = false }
        guard !noted.isSuperset(of: next) else { return }
        _ = try insert(next)
        try EngineLedger(db).clearCursor(of: table)
        try EngineLedger(db).recheckAll(of: table)
    }

    /// Returns whether the recorded columns changed.
    private func insert(_ columns: [PulledColumn]) throws -> Bool {
        try EngineLedger(db).setPulledColumns(PulledColumn.text(columns), of: table.number)
    }
}

/// A column or join table of an entity, as `sync_entity` records it.
struct PulledColumn: Hashable {
    var name: String
    /// The key paths that the column is read from, as JSON.
    let members: String
    /// Whether all rows were pulled with these key paths. If false, such a pull was requested.
    var isPulled: Bool

    /// Parses a text that ``text(_:)`` returned. Returns no columns if an earlier version of the library wrote the
    /// text.
    static func all(in text: String) -> [PulledColumn] {
        guard case .array(let columns)? = try? JSONValue(parsing: text) else { return [] }
        return columns.compactMap { column in
            guard case .array(let parts) = column, parts.count == 3, case .string(let name) = parts[0],
                case .string(let members) = parts[1], case .bool(let isPulled) = parts[2]
            else { return nil }
            return PulledColumn(name: name, members: members, isPulled: isPulled)
        }
    }

    static func text(_ columns: [PulledColumn]) -> String {
        JSONValue.array(columns.map { .array([.string($0.name), .string($0.members), .bool($0.isPulled)]) }).text
    }
}
