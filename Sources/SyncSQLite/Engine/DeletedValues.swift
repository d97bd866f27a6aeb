import GRDB
import SyncCore
import SyncStore

/// The values that edited columns had when their row was deleted locally. They are stored like base values.
struct DeletedValues {
    struct Edit {
        let key: DatabaseValue
        let field: String
        let base: DatabaseValue
        let value: DatabaseValue
    }

    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) { (self.table, self.db) = (table, db) }

    /// Returns the edits that a row had when it was deleted.
    func edits(of key: DatabaseValue) throws -> [Edit] {
        let bases = try EngineLedger(db).bases(of: key, table)
        return table.columns.compactMap { column in
            guard let base = bases[column.name], let held = base.held else { return nil }
            return Edit(key: key, field: column.name, base: base.value, value: held)
        }
    }

    /// Logs edits as lost, except edits whose value the restored row has.
    ///
    /// - Returns: The number of lost edits.
    func log(_ edits: [Edit], _ resolution: ConflictOutcome) throws -> Int {
        var lost = 0
        for edit in edits {
            let there = try table.fieldReader.values(of: edit.key, in: db)?[edit.field] ?? .null
            guard !there.isExactly(edit.value) else { continue }
            try ConflictLog(db).add(
                table, edit.key, field: edit.field, base: edit.base, local: edit.value, remote: there, resolution)
            lost += 1
        }
        return lost
    }
}
