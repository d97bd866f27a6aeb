import GRDB
import SyncCore
import SyncStore

/// Rows that belonged to one which a connection without foreign keys deleted, as the `sqlite3` shell does, or that point to none
/// for any other reason: the delete rules are carried out late, as edits.
struct Orphans {
    private let engine: SQLiteEngine
    private let db: Database

    init(_ engine: SQLiteEngine, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Of a row that was deleted, or that points to none, the outbox knows: of the one or the other.
    func settle() throws {
        guard try db.finds(sql: "SELECT 1 FROM sync_change", arguments: []) else { return }
        while try settleOnce() {}
    }

    /// - Returns: Whether there were any, which may have left others.
    private func settleOnce() throws -> Bool {
        var count = 0
        for table in engine.tables {
            for (link, names) in engine.references(to: table) { count += try settle(link, names, of: table) }
        }
        return count > 0
    }

    private func settle(_ link: Link, _ names: LinkTable, of table: EngineTable) throws -> Int {
        // No list, also an empty one, has a row that nothing points to.
        let orphans =
            "\(names.mine) IS NOT NULL AND \(names.mine) NOT IN (SELECT \(table.table.keyColumn.quoted) FROM \(table.table.name.quoted))"
        let goes =
            link.storage != .foreignKey || link.second.relationship?.deleteRule == .cascade || link.isKeyPart
        try db.executeCached(
            sql: goes
                ? "DELETE FROM \(names.table) WHERE \(orphans)"
                : "UPDATE OR IGNORE \(names.table) SET \(names.mine) = NULL WHERE \(orphans)")
        return db.changesCount
    }
}
