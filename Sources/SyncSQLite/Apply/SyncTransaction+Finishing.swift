import GRDB
import GRDBSQLite
import SyncCore

extension SyncTransaction {
    /// Every foreign key must hold by now; asked before the commit, which could only say that one does not.
    func checkForeignKeys() throws {
        var open: Int32 = 0
        var peak: Int32 = 0
        sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_DEFERRED_FKS, &open, &peak, 0)
        guard open != 0 else { return }
        let violations = try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").prefix(5)
        let places = violations.map { "\($0["table"] as String? ?? "?") row \($0["rowid"] as Int64? ?? 0)" }
        throw SyncError(
            .storeFailure, "links to rows that are not stored would be left: \(places.joined(separator: ", "))")
    }

    /// Tells observers which tables changed, once.
    func notifyObservers() throws {
        var tables: [String] = []
        for tree in model.trees where tree.entities.contains(where: { !report.entities[$0].isEmpty }) || wroteLinks {
            tables.append(layout.tables[tree.id].name)
        }
        if wroteLinks { tables += storedLinks.pairTables }
        // A region is copied for each table that is added to it.
        for start in stride(from: 0, to: tables.count, by: Self.tablesPerNotice) {
            var region = DatabaseRegion()
            for table in tables[start..<min(start + Self.tablesPerNotice, tables.count)] {
                region.formUnion(try Table(table).databaseRegion(db))
            }
            try db.notifyChanges(in: region)
        }
    }

    private static let tablesPerNotice = 64

    private var wroteLinks: Bool { report.linksAdded + report.linksRemoved > 0 }

    mutating func finishedResult() throws -> SyncResult {
        var result = report.takeResult(unresolved: unresolved)
        try addHistory(to: &result)
        try addKnownRecords(to: &result)
        return result
    }
}
