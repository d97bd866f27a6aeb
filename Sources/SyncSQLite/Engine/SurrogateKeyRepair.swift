import GRDB
import SyncCore

/// Corrects the engine's entries after surrogate keys changed while changes were not captured. SQLite may have given
/// the key of a deleted row to another row.
struct SurrogateKeyRepair {
    private let table: TrackedTable
    /// The tables whose rows may reference rows of the table.
    private let tables: [TrackedTable]
    private let ledger: EngineLedger

    init(_ table: TrackedTable, among tables: [TrackedTable], _ db: Database) {
        (self.table, self.tables, ledger) = (table, tables, EngineLedger(db))
    }

    func repair() throws {
        guard table.key.isSurrogate else { return }
        let moved = try ledger.movedSurrogateKeys(of: table)
        guard !moved.isEmpty else { return }
        for other in tables { try ledger.rekeyReferences(moved, to: table.entity.table, of: other) }
        // Move to unused keys first, since rows may have exchanged their keys.
        for (old, _) in moved { try move(old, to: "moved \(old)".databaseValue) }
        for (old, new) in moved { try move("moved \(old)".databaseValue, to: new) }
    }

    private func move(_ old: DatabaseValue, to new: DatabaseValue) throws {
        try ledger.moveSurrogateKey(old, to: new, table, among: tables)
    }
}
