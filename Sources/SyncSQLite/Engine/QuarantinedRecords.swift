import Foundation
import GRDB
import SyncCore
import SyncStore

/// The rows of the server that a constraint here refused: what was said last of each.
struct QuarantinedRecords {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        self.engine = engine
        self.table = table
        self.db = db
    }

    /// The server said something else of a row since.
    func remove(_ id: JSONValue) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_inbound WHERE e = ? AND k = ?", arguments: [table.number, id.text])
    }

    /// What `sync_seen` has of a row that is listed: its key, or where its id is none the bytes of that, which are no key.
    static func listed(_ id: JSONValue, _ table: TrackedTable, in db: Database) throws -> DatabaseValue {
        try table.key.k(of: id, in: db) ?? Data(id.text.utf8).databaseValue
    }

    /// A finished listing tells which of them the server does not have any more.
    func removeUnlisted() throws {
        for row in try all() {
            let isListed = try db.finds(
                sql: "SELECT 1 FROM sync_seen WHERE e = ? AND k = ?",
                arguments: [table.number, Self.listed(row.id, table, in: db)])
            if !isListed { try remove(row.id) }
        }
    }

    /// Tries them again: together, since one may have what another one is to have, else each by itself as long as that
    /// helps.
    func retry() throws -> AppliedChanges {
        var rows = try all()
        guard !rows.isEmpty else { return AppliedChanges() }
        if let outcome = try together(rows) { return outcome }
        var outcome = AppliedChanges()
        while true {
            var round = try PageWriter(engine, table, nil, db)
            for row in rows {
                try remove(row.id)
                try round.apply([row])
            }
            let left = try all()
            outcome.add(round.outcome)
            if left.isEmpty || left.count == rows.count { break }
            outcome[table.entity.name].parked -= left.count
            rows = left
        }
        return outcome
    }

    private func all() throws -> [PulledPage.Record] {
        try db.rowsCached(
            sql: "SELECT k, body, version, time FROM sync_inbound WHERE e = ?", arguments: [table.number]
        ).map { row in
            let record = try EngineDamage.json(row.decode(atIndex: 1))
            return PulledPage.Record(
                id: try EngineDamage.json(row.decode(atIndex: 0)), record: record == .null ? JSONValue?.none : record,
                version: try row.decode(atIndex: 2), time: try row.decode(atIndex: 3))
        }
    }

    // MARK: Together

    /// - Returns: Nil if some are refused again: then nothing was done.
    private func together(_ rows: [PulledPage.Record]) throws -> AppliedChanges? {
        var outcome: AppliedChanges?
        try db.inSavepoint {
            var writer = try PageWriter(engine, table, nil, db)
            for row in rows {
                try remove(row.id)
                try makeRoom(row)
            }
            try writer.apply(rows)
            guard try all().isEmpty else { return .rollback }
            outcome = writer.outcome
            return .commit
        }
        return outcome
    }

    /// Takes from a row what is unique and what it is about to get another of. One that was edited here keeps all.
    private func makeRoom(_ row: PulledPage.Record) throws {
        guard let record = row.record, case .object = record,
            let key = try table.key.k(of: row.id, in: db),
            try !db.finds(sql: "SELECT 1 FROM sync_change WHERE e = ? AND k = ?", arguments: [table.number, key])
        else { return }
        let said = try AttributeMapper(record, of: table.entity, in: engine.model).values
        let unique = Set(try UniqueColumns(table.table, db).indexes.joined())
        let attributes = engine.model.compiled[table.entity.table].attributes
        for column in table.columns where unique.contains(column.name) {
            guard case .attribute(let slot) = column.domain, let value = said[attributes[slot].name], value != .null,
                let place = Self.nothing(column, attributes[slot].type)
            else { continue }
            try engine.muted(in: db) {
                try db.execute(
                    sql: """
                        UPDATE \(table.table.name.quoted) SET \(column.name.quoted) = \(place)
                        WHERE \(table.table.keyColumn.quoted) = ?
                        """, arguments: [key])
            }
        }
    }

    /// What no other row has.
    private static func nothing(_ column: TrackedTable.Column, _ type: AttributeType) -> String? {
        if column.isOptional { return "NULL" }
        switch type {
        case .string: return "hex(randomblob(16))"
        case .integer: return "random()"
        default: return nil
        }
    }
}
