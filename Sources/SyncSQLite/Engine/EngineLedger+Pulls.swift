import Foundation
import GRDB
import SyncCore
import SyncStore

// The progress of pulls and listings: cursors, listed rows and tombstones. And join edits, which no other entry contains.
extension EngineLedger {
    // MARK: Cursors

    /// Returns where the pull of an entity continues; nil before its first pull. `filter` is the source and filter of
    /// the pull. With another text, the rows that were pulled before are incomplete.
    func pullState(of table: TrackedTable, filter: String) throws -> PullState? {
        let row = try db.row(
            """
            SELECT cursor, next, filter, listed_at,
              cursor IS NOT NULL AND next IS NULL AND EXISTS (SELECT 1 FROM sync_sweep AS s WHERE s.e = c.e)
            FROM sync_cursor AS c WHERE e = ?
            """, table.number)
        return try row.map { row in
            let isSame = try row.decode(String.self, atIndex: 2) == filter
            return PullState(
                cursor: try isSame ? row.decode(atIndex: 0) : nil, next: try isSame ? row.decode(atIndex: 1) : nil,
                lastListing: try row.decode(atIndex: 3),
                hasUnprocessedListing: try isSame && row.decode(Bool.self, atIndex: 4))
        }
    }

    /// Returns whether the next pull of an entity gets all rows, although an earlier pull had a cursor.
    func isCursorCleared(of table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_cursor WHERE e = ? AND cursor IS NULL", table.number)
    }

    /// Stores where the pull of an entity continues. `cursor` is the cursor of the next pull. While a pull is not
    /// finished, the stored cursor stays. `next` is the page at which an unfinished pull continues.
    func setPullState(of table: TrackedTable, cursor: String?, next: String?, filter: String) throws {
        let isSame = try db.first(
            Bool.self, "SELECT cursor IS ? AND next IS ? AND filter = ? FROM sync_cursor WHERE e = ?", cursor, next,
            filter, table.number)
        if isSame == true { return }
        try db.run(
            """
            INSERT INTO sync_cursor (e, cursor, filter, next) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET cursor = \(next == nil ? "excluded.cursor" : "cursor"),
              filter = excluded.filter, next = excluded.next
            """, table.number, cursor, filter, next)
    }

    func clearNextPage(of table: TrackedTable) throws {
        try db.run("UPDATE sync_cursor SET next = NULL WHERE e = ?", table.number)
    }

    /// Makes the next pull of an entity get all rows.
    func clearCursor(of table: TrackedTable) throws {
        try db.run("UPDATE sync_cursor SET cursor = NULL, next = NULL WHERE e = ?", table.number)
    }

    /// Records that a run that pulled an entity succeeded.
    func setSynced(_ table: TrackedTable, at time: Int64) throws {
        try db.run(
            """
            INSERT INTO sync_cursor (e, last_sync, initial) VALUES (?, ?, 1)
            ON CONFLICT DO UPDATE SET last_sync = excluded.last_sync, initial = 1
            """, table.number, time)
    }

    /// Returns when an entity was last synced, in milliseconds since 1970, and whether all its records were pulled.
    func syncDate(of table: TrackedTable) throws -> (time: Int64?, isInitialSyncComplete: Bool) {
        let row = try db.row("SELECT last_sync, initial FROM sync_cursor WHERE e = ?", table.number)
        return (try row?.decode(atIndex: 0), try row?.decode(Int.self, atIndex: 1) == 1)
    }

    // MARK: Listings

    /// Begins a listing of all IDs of an entity, and discards an unfinished listing.
    func beginListing(of table: TrackedTable) throws {
        // Keep the rows that are known only from inside other records. Records that were pulled before may contain them.
        try db.run("DELETE FROM sync_listed WHERE e = ? AND NOT \(Self.isNestedOnly("sync_listed"))", table.number)
        try db.run("DELETE FROM sync_tombstone WHERE e = ? AND source = 'missing'", table.number)
        try db.run(
            """
            INSERT INTO sync_sweep (e, seq) VALUES (?, \(Self.currentEdit))
            ON CONFLICT DO UPDATE SET seq = excluded.seq
            """, table.number)
        // A row that becomes known from now on is not missing from this listing.
        try increaseEdit()
    }

    /// Records that the deletions of a finished listing were applied.
    func endListing(of table: TrackedTable, at time: Int64) throws {
        try deleteListing(of: table.number)
        try db.run(
            "INSERT INTO sync_cursor (e, listed_at) VALUES (?, ?) ON CONFLICT DO UPDATE SET listed_at = excluded.listed_at",
            table.number, time)
    }

    func deleteListing(of number: Int) throws {
        try db.run("DELETE FROM sync_listed WHERE e = ?", number)
        try db.run("DELETE FROM sync_sweep WHERE e = ?", number)
    }

    /// Records that a listing has rows.
    func insertListed(_ keys: [DatabaseValue], _ table: TrackedTable) throws {
        try db.insert(
            keys, "INSERT INTO sync_listed (e, k) VALUES ", row: "(\(table.number), ?)", " ON CONFLICT DO NOTHING"
        ) { [$0] }
    }

    func isListed(_ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_listed WHERE e = ? AND k = ?", table.number, key)
    }

    // MARK: Tombstones

    /// A row that the service deleted or lacks, until the run deletes it.
    struct Tombstone {
        enum Source: String {
            /// The service reported the row as deleted.
            case reported
            /// The service lacks the row. The deletion limit applies.
            case missing
        }

        let id: JSONValue
        /// When the service deleted the row, in milliseconds since 1970; nil if not known.
        let time: Int64?
    }

    /// Returns the tombstones of an entity. `source` is nil for all sources.
    func tombstones(of table: TrackedTable, _ source: Tombstone.Source?) throws -> [Tombstone] {
        try db.rows(
            "SELECT id, time FROM sync_tombstone WHERE e = ? AND source = ifnull(?, source)", table.number,
            source?.rawValue
        ).map { Tombstone(id: try EngineTableCheck.json($0.decode(atIndex: 0)), time: try $0.decode(atIndex: 1)) }
    }

    func hasTombstones(of table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_tombstone WHERE e = ?", table.number)
    }

    func hasTombstones(_ source: Tombstone.Source) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_tombstone WHERE source = ?", source.rawValue)
    }

    func hasTombstone(_ id: JSONValue, of table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_tombstone WHERE e = ? AND id = ?", table.number, id.text)
    }

    func insertTombstone(_ id: JSONValue, of table: TrackedTable, _ source: Tombstone.Source, time: Int64?) throws {
        try db.run(
            """
            INSERT INTO sync_tombstone (e, id, source, time) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET source = iif(source = 'reported', source, excluded.source),
              time = coalesce(excluded.time, time)
            """, table.number, id.text, source.rawValue, time)
    }

    func deleteTombstone(_ id: JSONValue, of table: TrackedTable) throws {
        try db.run("DELETE FROM sync_tombstone WHERE e = ? AND id = ?", table.number, id.text)
    }

    func deleteTombstones(of table: TrackedTable, _ source: Tombstone.Source) throws {
        try db.run("DELETE FROM sync_tombstone WHERE e = ? AND source = ?", table.number, source.rawValue)
    }

    // MARK: Join edits

    func joinEdits(
        of key: DatabaseValue, _ joinTable: TrackedTable.JoinTable
    ) throws -> [(other: DatabaseValue, isAdded: Bool)] {
        try db.rows("SELECT other, op > 0 FROM sync_link WHERE owner = ? AND link = ?", key, joinTable.name).map {
            ($0[0], try $0.decode(atIndex: 1))
        }
    }

    func hasJoinEdits(of key: DatabaseValue, _ joinTable: TrackedTable.JoinTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_link WHERE link = ? AND owner = ?", joinTable.name, key)
    }

    func insertJoinEdit(
        _ other: DatabaseValue, of key: DatabaseValue, _ joinTable: TrackedTable.JoinTable, isAdded: Bool
    ) throws {
        try db.run(
            "INSERT INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            joinTable.name, key, other, isAdded ? 1 : -1, db.now())
    }

    func deleteJoinEdit(_ other: DatabaseValue, of key: DatabaseValue, _ joinTable: TrackedTable.JoinTable) throws {
        try db.run("DELETE FROM sync_link WHERE link = ? AND owner = ? AND other = ?", joinTable.name, key, other)
    }

    func deleteJoinEdits(of key: DatabaseValue, _ joinTable: TrackedTable.JoinTable) throws {
        try db.run("DELETE FROM sync_link WHERE link = ? AND owner = ?", joinTable.name, key)
    }

    /// Returns whether join rows were copied while the engine deleted rows.
    func hasRemovedJoinRows() throws -> Bool { try db.finds("SELECT 1 FROM sync_parting") }

    /// Deletes the join rows that were copied while the engine deleted rows.
    func deleteRemovedJoinRows() throws { try db.run("DELETE FROM sync_parting") }

    /// Deletes the join edits that contradict the stored lists and the pending references.
    func deleteContradictingJoinEdits(of joinTable: TrackedTable.JoinTable, _ table: TrackedTable) throws {
        try db.run(
            """
            DELETE FROM sync_link WHERE link = ? AND (op > 0) <> (EXISTS (
              SELECT 1 FROM \(joinTable.table.table) AS p
              WHERE p.\(joinTable.table.mine) = +owner AND p.\(joinTable.table.other) = +other)
            OR EXISTS (
              SELECT 1 FROM sync_pending WHERE owner_entity IN (\(table.family)) AND owner_key = +owner
                AND relationship = \(joinTable.relationship.literal) AND target_key = +other))
            """, joinTable.name)
    }

    /// Deletes the join edits of an entity's rows. The join edits of stored rows of other entities in the same table
    /// stay.
    func deleteJoinEdits(of table: TrackedTable) throws {
        for joinTable in table.joinTables {
            try db.run(
                """
                DELETE FROM sync_link WHERE link = ? AND NOT EXISTS (
                  SELECT 1 FROM \(table.sql) AS r
                  WHERE r.\(table.keySQL) = +owner AND NOT (true\(table.isOwn("r"))))
                """, joinTable.name)
        }
    }

    /// Replaces the key of the owner or of the linked row in the join edits of an association.
    func rekeyJoinEdits(
        of joinTable: TrackedTable.JoinTable, _ side: JoinSide, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        let column = side.rawValue
        try db.run(
            "UPDATE OR REPLACE sync_link SET \(column) = ? WHERE link = ? AND \(column) = ?", new, joinTable.name, old)
    }

    enum JoinSide: String {
        case owner, other
    }
}
