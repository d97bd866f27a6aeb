import GRDB
import SyncCore
import SyncStore

/// Rows with a pending edit of a foreign key, so that they reference another row than at the service.
///
/// When the service deletes a row, it also deletes the rows that belong to that row. A row that was moved to it only
/// locally still belongs to its former owner at the service.
struct LocallyMovedRows {
    struct Move {
        let table: TrackedTable
        let column: TrackedTable.Column
        let key: DatabaseValue
        /// The key of the row in the conflict log after its deletion.
        let name: DatabaseValue
        let base: DatabaseValue
        let target: DatabaseValue
        /// The value of the column while rows are deleted: the base value, or NULL if the row with that key is not
        /// stored.
        let former: DatabaseValue
        /// Whether a deletion of the referenced row cascades to this row. Otherwise a deletion of this row cascades to
        /// the referenced row.
        let isCascaded: Bool

        func isSame(as other: Move) -> Bool {
            table.number == other.table.number && column.name == other.column.name && key.isExactly(other.key)
        }
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private var all: [Move] = []

    /// Finds the moved rows. Skips entities with `editWins`, in which an edited row restores the row that it
    /// references.
    init(_ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        for table in engine.tables where table.registration.deletions == .deleteWins {
            for column in table.columns { try find(column, of: table) }
        }
    }

    private mutating func find(_ column: TrackedTable.Column, of table: TrackedTable) throws {
        guard case .toOne(let id) = column.field else { return }
        let link = engine.model.compiled[id]
        let goesAlong = link.second.relationship?.deleteRule == .cascade
        guard goesAlong || link.first.relationship?.deleteRule == .cascade, !link.isKeyPart else { return }
        for row in try EngineLedger(db).movedRows(of: table, column, engine.stack.layout[link.second.table]) {
            let isFormerThere = try row.decode(Bool.self, atIndex: 4)
            guard isFormerThere || column.isOptional else { continue }
            all.append(
                Move(
                    table: table, column: column, key: row[0], name: row[1], base: row[2], target: row[3],
                    former: isFormerThere ? row[2] : .null, isCascaded: goesAlong))
        }
    }

    /// Returns the moves because of which a cascade deleted rows. Call this method after the deletion, before the
    /// rollback. `rows` has the rows that the service deleted. Moves in `taken` are not returned again.
    func cascaded(by rows: Set<StoredRow>, excluding taken: [Move]) throws -> [Move] {
        try all.filter { move in
            guard try !move.table.isStored(move.key, in: db), try !isThere(move),
                !taken.contains(where: { $0.isSame(as: move) })
            else { return false }
            let isDeletedItself = RowKey(move.key).map {
                rows.contains(StoredRow(table: move.table.entity.table, key: $0))
            }
            return !(isDeletedItself ?? false) || !move.isCascaded
        }
    }

    /// Sets the foreign keys of moved rows to their former values.
    func revert(_ moves: [Move]) throws {
        for move in moves { try set(move.former, move) }
    }

    /// Sets the foreign keys of moved rows to their local values again, if the referenced rows are stored. Otherwise
    /// logs the edits as lost. If a moved row is deleted, stores its local value in the log entry. `line` is the ID of
    /// the last log entry before the deletion.
    func reapply(_ moves: [Move], since line: Int) throws {
        for move in moves {
            if try !move.table.isStored(move.key, in: db) {
                try ConflictLog(db).setLocal(
                    move.target, of: move.column.name, [move.key, move.name], move.table, since: line)
            } else if try isThere(move) {
                try set(move.target, move)
            } else {
                try discard(move)
            }
        }
    }

    private func discard(_ move: Move) throws {
        let table = move.table
        let ledger = EngineLedger(db)
        if move.former.isExactly(move.base) { try ledger.setBase(nil, of: move.column.name, move.key, table) }
        try ConflictLog(db).add(
            table, move.key, field: move.column.name, base: move.base, local: move.target, remote: move.base,
            .danglingReference)
        // The service may have rejected the change because of the row that it references.
        try ledger.unblock(.row(table, move.key))
    }

    private func isThere(_ move: Move) throws -> Bool {
        guard let destination = move.column.destination.map({ engine.stack.layout[$0] }) else { return false }
        return try db.finds("SELECT 1 FROM \(destination.sql) WHERE \(destination.keySQL) = ?", move.target)
    }

    private func set(_ value: DatabaseValue, _ move: Move) throws {
        try db.run(
            "UPDATE OR IGNORE \(move.table.sql) SET \(move.column.sql) = ? WHERE \(move.table.keySQL) = ?", value,
            move.key)
    }
}
