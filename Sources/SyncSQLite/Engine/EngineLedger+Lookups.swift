import GRDB
import SyncCore
import SyncStore

// Queries that join entries with the stored rows.
extension EngineLedger {
    // MARK: New rows

    /// Returns the new rows of an entity that are stored, with the values of columns after the key. `key`: nil to read
    /// all new rows.
    func newRows(of table: TrackedTable, _ columns: [String], _ key: DatabaseValue? = nil) throws -> [Row] {
        let values = (["c.k"] + columns.map { "r.\($0.quoted)" }).joined(separator: ", ")
        return try db.rows(
            "SELECT \(values) \(Self.newRows(table))\(key == nil ? "" : " AND c.k = ?")",
            StatementArguments([table.number.databaseValue] + [key].compactMap(\.self)))
    }

    /// Returns whether a row is new and stored, and has these values.
    func isNew(
        _ key: DatabaseValue, _ table: TrackedTable, having values: [(column: String, value: DatabaseValue)]
    ) throws -> Bool {
        let condition = values.map { " AND r.\($0.column.quoted) IS ? COLLATE BINARY" }.joined()
        return try db.finds(
            "SELECT 1 \(Self.newRows(table)) AND c.k = ?\(condition)",
            StatementArguments([table.number.databaseValue, key] + values.map(\.value)))
    }

    private static func newRows(_ table: TrackedTable) -> String {
        """
        FROM sync_outbox c JOIN \(table.sql) r ON r.\(table.keySQL) = c.k
        WHERE c.e = ? AND c.kind = 'create'\(table.isOwn("r"))
        """
    }

    // MARK: Edited links

    func isEdited(_ column: TrackedTable.Column, of key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_base b JOIN sync_outbox c ON c.e = b.e AND c.k = b.k
            WHERE b.e = ? AND b.k = ? AND b.field = ? AND c.kind = 'update'
            """, table.number, key, column.name)
    }

    func isEdited(_ joinTable: TrackedTable.JoinTable, of key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_link l JOIN sync_outbox c ON c.k = l.owner
            WHERE l.link = ? AND l.owner = ? AND c.e = ? AND c.kind = 'update'
            """, joinTable.name, key, table.number)
    }

    /// Returns the known rows whose edited foreign key referenced a row before the edit or references it now.
    func rowsEdited(
        in column: TrackedTable.Column, of table: TrackedTable, referencing owner: DatabaseValue
    ) throws -> [DatabaseValue] {
        let (rows, key, name) = (table.sql, table.keySQL, column.sql)
        return try db.values(
            """
            SELECT b.k FROM sync_base AS b INDEXED BY sync_base_value CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE b.e = :e AND b.field = :field AND \(EngineSchema.isBase("b", ":owner")) AND c.kind = 'update'
            UNION
            SELECT b.k FROM \(rows) AS r
            CROSS JOIN sync_base AS b ON b.e = :e AND b.k = +r.\(key) AND b.field = :field
            CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE r.\(name) = :owner AND c.kind = 'update'
            """, ["e": table.number, "field": column.name, "owner": owner])
    }

    /// Returns the known rows that were added to or removed from lists with another row, or whose edited lists contain
    /// it.
    func rowsEdited(
        in joinTable: TrackedTable.JoinTable, of table: TrackedTable, with other: DatabaseValue
    ) throws -> [DatabaseValue] {
        let names = joinTable.table
        return try db.values(
            """
            SELECT l.owner FROM sync_link AS l CROSS JOIN sync_outbox AS c ON c.e = :e AND c.k = l.owner
            WHERE l.link = :link AND l.other = :other AND c.kind = 'update'
            UNION
            SELECT c.k FROM \(names.table) AS p CROSS JOIN sync_outbox AS c ON c.e = :e AND c.k = +p.\(names.mine)
            WHERE p.\(names.other) = :other AND c.kind = 'update'
              AND EXISTS (SELECT 1 FROM sync_link AS l WHERE l.link = :link AND l.owner = c.k)
            """, ["e": table.number, "link": joinTable.name, "other": other])
    }

    func newRows(
        of table: TrackedTable, referencing owner: DatabaseValue, in column: TrackedTable.Column
    ) throws -> [DatabaseValue] {
        try db.values(
            """
            SELECT c.k FROM \(table.sql) AS r
            CROSS JOIN sync_outbox AS c ON c.e = ? AND c.k = +r.\(table.keySQL)
            WHERE r.\(column.sql) = ? AND c.kind = 'create'
            """, table.number, owner)
    }

    func newRows(
        of table: TrackedTable, with other: DatabaseValue, in joinTable: TrackedTable.JoinTable
    ) throws -> [DatabaseValue] {
        let names = joinTable.table
        return try db.values(
            """
            SELECT c.k FROM \(names.table) AS p CROSS JOIN sync_outbox AS c ON c.e = ? AND c.k = +p.\(names.mine)
            WHERE p.\(names.other) = ? AND c.kind = 'create'
            """, table.number, other)
    }

    /// Returns the edits of a foreign key of known rows: the key, the key for the conflict log, the base value, the
    /// current value, and whether the row with the base value is stored.
    func movedRows(of table: TrackedTable, _ column: TrackedTable.Column, _ destination: TableLayout) throws -> [Row] {
        let (name, key) = (column.sql, table.keySQL)
        return try db.rows(
            """
            SELECT b.k, coalesce(n.name, n.k), b.value, r.\(name), b.value IS NULL OR EXISTS (
              SELECT 1 FROM \(destination.sql) AS t WHERE t.\(destination.keySQL) = +b.value)
            FROM sync_base AS b JOIN sync_known AS n ON n.e = b.e AND n.k = b.k
              JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k AND c.kind = 'update'
              JOIN \(table.sql) AS r ON r.\(key) = +b.k
            WHERE b.e = ? AND b.field = ? AND r.\(name) IS NOT NULL AND r.\(name) IS NOT +b.value\(table.isOwn("r"))
            """, table.number, column.name)
    }

    /// Returns the edits of a foreign key that reference stored rows of `targets`: the key, the base value, the current
    /// value, and whether the row with the base value is stored.
    func editedReferences(
        of owners: TrackedTable, _ column: TrackedTable.Column, to targets: TrackedTable
    ) throws -> [Row] {
        let own = column.sql
        let (key, target) = ("r.\(owners.keySQL)", "t.\(targets.keySQL)")
        let destination = targets.sql
        return try db.rows(
            """
            SELECT b.k, b.value, r.\(own), b.value IS NULL OR EXISTS (SELECT 1 FROM \(destination) AS t WHERE \(target) = +b.value)
            FROM sync_base AS b JOIN \(owners.sql) AS r ON \(key) = +b.k
              JOIN \(destination) AS t ON \(target) = r.\(own)
            WHERE b.e = ? AND b.field = ?\(owners.isOwn("r"))\(targets.isOwn("t"))
            """, owners.number, column.name)
    }

    /// Returns the join edits of known rows with stored rows of `targets`: the owner, the linked row, and whether it was
    /// added.
    func editedLinks(
        of owners: TrackedTable, _ joinTable: TrackedTable.JoinTable, to targets: TrackedTable
    ) throws -> [(owner: DatabaseValue, other: DatabaseValue, isAdded: Bool)] {
        try db.rows(
            """
            SELECT l.owner, l.other, l.op > 0 FROM sync_link AS l
            JOIN sync_outbox AS c ON c.e = ? AND c.k = l.owner AND c.kind = 'update'
            JOIN \(targets.sql) AS t ON t.\(targets.keySQL) = +l.other
            WHERE l.link = ?\(targets.isOwn("t"))
            """, owners.number, joinTable.name
        ).map { ($0[0], $0[1], try $0.decode(atIndex: 2)) }
    }

    /// Returns a row of the same table that referenced a row and whose deletion is pending.
    func deletedRow(
        of table: TrackedTable, referencing key: DatabaseValue, in column: TrackedTable.Column
    ) throws -> DatabaseValue? {
        try db.row(
            """
            SELECT c.k FROM sync_base AS b INDEXED BY sync_base_value CROSS JOIN sync_outbox AS c ON c.e = b.e AND c.k = b.k
            WHERE b.e = :e AND b.field = :field AND \(EngineSchema.isBase("b", ":key"))
              AND c.kind = 'delete' AND c.state = 'ready' AND c.k IS NOT :key
            LIMIT 1
            """, ["e": table.number, "field": column.name, "key": key])?[0]
    }

    // MARK: Rows without foreign keys

    /// Returns the SQL condition that a value is the key of a row whose deletion is to be sent, or that was deleted
    /// before it was sent.
    static func isDeletedKey(_ value: String, of table: TrackedTable) -> String {
        """
        \(value) IN (SELECT k FROM sync_outbox WHERE e = \(table.number) AND kind = 'delete' AND state = 'ready'
          UNION ALL SELECT k FROM sync_unsent WHERE e = \(table.number))
        """
    }

    /// Forgets the rows that were deleted before they were sent.
    func deleteUnsent() throws { try db.run("DELETE FROM sync_unsent") }

    /// Returns the changed rows whose foreign key references no stored row: the key and the dangling value.
    func danglingReferences(
        of table: TrackedTable, _ column: TrackedTable.Column, _ destination: TableLayout
    ) throws -> [(key: DatabaseValue, value: DatabaseValue)] {
        let (name, key, own) = (table.sql, table.keySQL, column.sql)
        return try db.rows(
            """
            SELECT r.\(key), r.\(own) FROM sync_outbox AS c CROSS JOIN \(name) AS r ON r.\(key) = c.k
            WHERE c.e = \(table.number) AND c.kind <> 'delete'\(table.isOwn("r")) AND r.\(own) IS NOT NULL
              AND r.\(own) NOT IN (SELECT \(destination.keySQL) FROM \(destination.sql))
            """
        ).map { ($0[0], $0[1]) }
    }

    func storedBase(
        of column: TrackedTable.Column, _ key: DatabaseValue, _ table: TrackedTable, _ destination: TableLayout
    ) throws -> DatabaseValue? {
        try db.value(
            """
            SELECT value FROM sync_base WHERE e = ? AND k = ? AND field = ? AND value IN (
              SELECT \(destination.keySQL) FROM \(destination.sql))
            """, table.number, key, column.name)
    }

    func clearUnedited(_ column: TrackedTable.Column, of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run(
            """
            UPDATE \(table.sql) SET \(column.sql) = NULL
            WHERE \(table.keySQL) = :k
              AND NOT EXISTS (SELECT 1 FROM sync_base WHERE e = :e AND k = :k AND field = :field)
            """, ["e": table.number, "k": key, "field": column.name])
    }

    // MARK: Known rows

    /// Returns whether a row belongs to a deleted row and was changed at the service after a time.
    func isChanged(_ child: TrackedTable, _ names: LinkTable, of key: DatabaseValue, after time: Int64) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM \(names.table) AS r JOIN sync_known AS n ON n.e = ? AND n.k = r.\(names.other)
            WHERE r.\(names.mine) = ? AND n.time > ?
            """, child.number, key, time)
    }

    /// Returns the known rows of `targets` that rows reference: the key and entity of the referencing row, the key of
    /// the known row, and the position of the link. `kind` is the SQL of the entity name of the referencing row `r`.
    /// `target` is the SQL of the reference. `join` is the SQL that joins the join table with `r`; empty for a foreign
    /// key.
    func knownTargets(
        of owners: TrackedTable, in targets: TrackedTable, kind: String, target: String, position: String, join: String
    ) throws -> [Row] {
        try db.rows(
            """
            SELECT r.\(owners.keySQL), \(kind), n.k, \(position) FROM \(owners.sql) AS r \(join)
            JOIN sync_known AS n ON n.e = \(targets.number) AND n.k = +\(target) WHERE true\(owners.isOwn("r"))
            """)
    }

    /// Returns the rows with a temporary key whose remote ID is known.
    func rowsWithUnusedID(of table: TrackedTable) throws -> [(key: DatabaseValue, id: JSONValue)] {
        let key = "r.\(table.keySQL)"
        return try db.rows(
            """
            SELECT \(key), n.remote FROM \(table.sql) AS r
            JOIN sync_known AS n ON n.e = \(table.number) AND n.k = +\(key)
            WHERE n.remote IS NOT NULL AND \(table.key.isLocal)\(table.isOwn("r"))
            """
        ).map { ($0[0], try EngineTableCheck.json($0.decode(atIndex: 1))) }
    }

    /// Returns whether a deletion also applies to a pulled row with another key: the row was deleted before it was
    /// pulled, and the pulled row was not edited since.
    func wasDeleted(_ old: DatabaseValue, before new: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_outbox AS c JOIN sync_known AS n ON n.e = c.e
            WHERE c.e = ? AND c.k = ? AND n.k = ? AND c.kind = 'delete' AND n.heard >= c.seq
              AND n.origin <> 'preexisting'
              AND NOT EXISTS (SELECT 1 FROM sync_outbox AS own WHERE own.e = n.e AND own.k = n.k)
            """, table.number, old, new)
    }

    /// Returns the number of stored rows that are known or preexisting.
    func knownCount(of table: TrackedTable) throws -> Int {
        try db.first(
            Int.self,
            """
            SELECT count(*) FROM sync_known AS n WHERE e = ? AND EXISTS (
              SELECT 1 FROM \(table.sql) AS r
              WHERE r.\(table.keySQL) = +n.k\(table.isOwn("r")))
            """, table.number) ?? 0
    }

    // MARK: Listings

    /// Returns the SQL condition that an entry is of a row that the service has returned only inside other records.
    static func isNestedOnly(_ entry: String) -> String {
        """
        EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = \(entry).e AND n.k = \(entry).k AND n.\(KnownRow.isNestedOnly))
        """
    }

    func entitiesWithNestedOnlyRows() throws -> Set<Int> {
        try Set(db.all(Int.self, "SELECT DISTINCT e FROM sync_known WHERE \(KnownRow.isNestedOnly)"))
    }

    func isNestedOnlyRowUnlisted(of table: TrackedTable) throws -> Bool {
        try db.finds(
            """
            SELECT 1 FROM sync_known AS n WHERE e = ? AND \(KnownRow.isNestedOnly)
              AND NOT EXISTS (SELECT 1 FROM sync_listed AS s WHERE s.e = n.e AND s.k = n.k)
            """, table.number)
    }

    /// Returns the keys of the known rows that the current listing lacks, except new rows and retained rows. `ways` has
    /// the relationships through which stored rows retain rows that are known only from inside other records.
    func missingKeys(of table: TrackedTable, _ ways: [SQLiteEngineStore.NestingWay]?) throws -> [DatabaseValue] {
        let isNotRetained =
            "(NOT n.\(KnownRow.isNestedOnly) OR n.k NOT IN (SELECT held.k FROM held WHERE held.e = n.e))"
        return try db.values(
            """
            \(ways.map(Self.held) ?? "")
            SELECT k FROM sync_known AS n WHERE e = ? AND heard <= (SELECT seq FROM sync_sweep WHERE e = n.e)
              AND NOT EXISTS (SELECT 1 FROM sync_listed AS s WHERE s.e = n.e AND s.k = n.k)
              AND NOT EXISTS (SELECT 1 FROM sync_outbox AS c WHERE c.e = n.e AND c.k = n.k AND c.kind = 'create')
              AND \(ways == nil ? "true" : isNotRetained)
            """, table.number)
    }

    /// Returns the common table expression `held`: the rows known only from inside other records that are linked to a
    /// stored row. The stored row itself is not known only from inside other records. The link may lead through other
    /// rows of `held`.
    private static func held(_ ways: [SQLiteEngineStore.NestingWay]) -> String {
        let first = ways.map { way in
            """
            SELECT n.e, n.k FROM sync_known AS n JOIN \(way.names.table) AS l ON l.\(way.names.other) = +n.k
              JOIN \(way.outer.sql) AS r ON r.\(way.outer.keySQL) = l.\(way.names.mine)
            WHERE n.e = \(way.inner.number) AND n.\(KnownRow.isNestedOnly) AND NOT EXISTS (
              SELECT 1 FROM sync_known AS o
              WHERE o.e IN (\(way.outerNumbers)) AND o.k = +l.\(way.names.mine) AND o.\(KnownRow.isNestedOnly))
            """
        }
        let next = ways.map { way in
            """
            SELECT n.e, n.k FROM held AS h JOIN \(way.names.table) AS l ON l.\(way.names.mine) = +h.k
              JOIN sync_known AS n ON n.e = \(way.inner.number) AND n.k = +l.\(way.names.other) AND n.\(KnownRow.isNestedOnly)
            WHERE h.e IN (\(way.outerNumbers))
            """
        }
        let all = ["SELECT NULL, NULL WHERE 0"] + first + next
        return "WITH RECURSIVE held(e, k) AS (\(all.joined(separator: "\nUNION\n")))"
    }

    /// Returns the version of a listed row: of the quarantined record, or of the known row. Returns nil if the row is
    /// neither known nor quarantined. The inner value is nil without a version.
    func listedVersion(of id: JSONValue, _ key: DatabaseValue, _ table: TrackedTable) throws -> String?? {
        try db.row(
            """
            SELECT version FROM sync_quarantine WHERE e = ? AND k = ?
            UNION ALL SELECT version FROM sync_known WHERE e = ? AND k = ?
            """, table.number, id.text, table.number, key
        ).map { try $0.decode(String?.self, atIndex: 0) }
    }

    /// Returns the condition that the service has the row of an entry `f`.
    static let isKnownEntry = "EXISTS (SELECT 1 FROM sync_known AS n WHERE n.e = f.e AND n.k = f.k)"
}
