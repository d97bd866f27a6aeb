import GRDB
import SyncCore
import SyncStore

// Base values of edited fields, and queries that compare links with them.
extension EngineLedger {
    /// A base value, and when the field was edited.
    struct Base {
        var value: DatabaseValue
        var cause = PendingChange.Cause.edit
        /// In milliseconds since 1970.
        let editTime: Int64
        /// The value that the field had when its row was deleted; nil if the row is not deleted, or was not edited.
        var held: DatabaseValue?

        static let columns = "field, value, cause, edited, is_held, held"

        init(value: DatabaseValue, editTime: Int64) { (self.value, self.editTime) = (value, editTime) }

        init(_ row: ResultRow) throws {
            value = row[1]
            cause = try row.state(atIndex: 2)
            editTime = try row.decode(atIndex: 3)
            held = try row.decode(Bool.self, atIndex: 4) ? row[5] : nil
        }
    }

    func bases(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: Base] {
        try db.rows("SELECT \(Base.columns) FROM sync_base WHERE e = ? AND k = ?", table.number, key).reduce(into: [:])
        { $0[try $1.decode(atIndex: 0)] = try Base($1) }
    }

    func bases(of keys: [DatabaseValue], _ table: TrackedTable) throws -> [BinaryComparedValue: [String: Base]] {
        var bases: [BinaryComparedValue: [String: Base]] = [:]
        try db.forEachRow("SELECT \(Base.columns), k FROM sync_base WHERE e = \(table.number) AND k IN ", keys) { row in
            bases[row[6].exact, default: [:]][try row.decode(atIndex: 0)] = try Base(row)
        }
        return bases
    }

    func base(of field: String, _ key: DatabaseValue, _ table: TrackedTable) throws -> DatabaseValue? {
        try db.value("SELECT value FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
    }

    func hasBase(_ field: String, _ key: DatabaseValue, _ table: TrackedTable) throws -> Bool {
        try db.finds("SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
    }

    /// Stores the base value of an edited field. The edit time of an existing entry stays. `base` is the base value;
    /// nil to delete it, because the field does not differ any more. `editTime` is the edit time of a new entry, in
    /// milliseconds since 1970; nil for the current time.
    func setBase(
        _ base: DatabaseValue?, of field: String, _ key: DatabaseValue, _ table: TrackedTable,
        editTime: Int64? = nil
    ) throws {
        guard let base else {
            return try db.run("DELETE FROM sync_base WHERE e = ? AND k = ? AND field = ?", table.number, key, field)
        }
        try db.run(
            """
            INSERT INTO sync_base (e, k, field, value, edited) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET value = excluded.value
            """, table.number, key, field, base, editTime ?? db.now())
    }

    func deleteBases(of key: DatabaseValue, _ table: TrackedTable) throws {
        try db.run("DELETE FROM sync_base WHERE e = ? AND k = ?", table.number, key)
    }

    /// Deletes the base values of fields.
    func deleteBases(of fields: Set<String>, _ keys: [DatabaseValue], _ table: TrackedTable) throws {
        let names = fields.sorted().map(\.literal).joined(separator: ", ")
        try db.run("DELETE FROM sync_base WHERE e = \(table.number) AND field IN (\(names)) AND k IN ", keys: keys)
    }

    // MARK: Base orders of lists

    /// Returns the base order of a list: the last order that both sides had. Returns nil if the list is not ordered, or
    /// if no base order is stored.
    func baseOrder(
        of joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ table: TrackedTable
    ) throws -> [DatabaseValue]? {
        guard joinTable.isOrdered else { return nil }
        return try base(of: joinTable.field, key, table).map(LinkedRowList.keys)
    }

    /// Stores the base order of a list. `keys` is the base order; nil to delete it.
    func setBaseOrder(
        _ keys: [DatabaseValue]?, of joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ table: TrackedTable,
        editTime: Int64? = nil
    ) throws { try setBase(keys.map(LinkedRowList.text), of: joinTable.field, key, table, editTime: editTime) }

    /// Replaces the key of a linked row in the base orders of a relationship. If the row is stored, call this method
    /// after it has the new key. The statement reads only lists that contain the row or have a join edit of it. Other
    /// base orders cannot contain its key.
    func rekeyBaseOrders(
        of joinTable: TrackedTable.JoinTable, _ table: TrackedTable, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        guard joinTable.isOrdered else { return }
        let names = joinTable.table
        try db.run(
            """
            UPDATE sync_base SET value = (
              SELECT json_group_array(CASE WHEN value IS :old THEN :new ELSE value END)
              FROM json_each(sync_base.value))
            WHERE e = :e AND field = :field AND EXISTS (SELECT 1 FROM json_each(sync_base.value) WHERE value IS :old)
              AND k IN (
                SELECT \(names.mine) FROM \(names.table) WHERE \(names.other) IN (:old, :new)
                UNION SELECT owner FROM sync_link WHERE link = :link AND other IN (:old, :new))
            """, ["old": old, "new": new, "e": table.number, "field": joinTable.field, "link": joinTable.name])
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

    /// Returns the edits of a foreign key of known rows: the key, the key for the conflict log, the base value, the
    /// current value, and whether the row with the base value is stored.
    func movedRows(
        of table: TrackedTable, _ column: TrackedTable.Column, _ destination: TableLayout
    ) throws -> [ResultRow] {
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
    ) throws -> [ResultRow] {
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

    // MARK: Links to rows that change

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
    ) throws -> [ResultRow] {
        try db.rows(
            """
            SELECT r.\(owners.keySQL), \(kind), n.k, \(position) FROM \(owners.sql) AS r \(join)
            JOIN sync_known AS n ON n.e = \(targets.number) AND n.k = +\(target) WHERE true\(owners.isOwn("r"))
            """)
    }

    /// Returns the SQL condition that a value is the key of a row whose deletion is to be sent, or that was deleted
    /// before it was sent.
    static func isDeletedKey(_ value: String, of table: TrackedTable) -> String {
        """
        \(value) IN (SELECT k FROM sync_outbox WHERE e = \(table.number) AND kind = 'delete' AND state = 'ready'
          UNION ALL SELECT k FROM sync_unsent WHERE e = \(table.number))
        """
    }

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

    // MARK: Keys in values

    /// Replaces the key of a referenced row in the base values and sent values of a foreign key.
    func rekeyReferences(
        in column: TrackedTable.Column, of table: TrackedTable, from old: DatabaseValue, to new: DatabaseValue
    ) throws {
        try db.run(
            """
            UPDATE sync_base INDEXED BY sync_base_value SET value = :new
            WHERE e = :e AND field = :field AND \(EngineSchema.isBase("sync_base", ":old"))
            """, ["new": new, "e": table.number, "field": column.name, "old": old])
        try db.run(
            """
            UPDATE sync_sent SET value = ? WHERE field = ? AND value = ?
              AND request IN (SELECT id FROM sync_request WHERE e = ?)
            """, new, column.name, old, table.number)
        try db.run(
            "UPDATE sync_tried SET value = ? WHERE e = ? AND field = ? AND value = ?", new, table.number, column.name,
            old)
    }

    /// Replaces the keys of referenced rows in the base values and sent values of foreign keys and lists. `keys` has
    /// the replaced keys and their new keys. `destination` is the table of the referenced rows.
    func rekeyReferences(
        _ keys: [(old: DatabaseValue, new: DatabaseValue)], to destination: TableID, of table: TrackedTable
    ) throws {
        let pairs = keys.compactMap { String.fromDatabaseValue(LinkedRowList.text([$0.old, $0.new])) }
        let map = "[\(pairs.joined(separator: ", "))]"
        func new(_ key: String) -> String {
            """
            coalesce((SELECT json_extract(m.value, '$[1]') FROM json_each(:map) AS m
              WHERE json_extract(m.value, '$[0]') IS \(key)), \(key))
            """
        }
        let isOfRow = "e = :e"
        let isSent = "request IN (SELECT id FROM sync_request WHERE e = :e)"
        for (name, condition) in [("sync_base", isOfRow), ("sync_tried", isOfRow), ("sync_sent", isSent)] {
            let list = "(SELECT json_group_array(\(new("l.value"))) FROM json_each(\(name).value) AS l)"
            let columns = table.columns.filter { $0.destination == destination }
            let lists = table.joinTables.filter { $0.destination == destination }
            let fields = columns.map { ($0.name, new("\(name).value")) } + lists.map { ($0.field, list) }
            for (field, value) in fields {
                try db.run(
                    "UPDATE \(name) SET value = \(value) WHERE \(condition) AND field = :field AND value IS NOT NULL",
                    ["map": map, "e": table.number, "field": field])
            }
        }
    }

    // MARK: Fields of another model

    /// Gives the entries of an entity's fields the names and values that the fields have in another model. Deletes the
    /// entries that do not fit the model. Calls `lose` with the key and the base value of a row whose edit is deleted.
    func migrateFields(
        of number: Int, _ fields: [String: MigratedFields.Field],
        lose: (MigratedFields.Field, _ key: DatabaseValue, _ base: DatabaseValue) throws -> Void
    ) throws {
        /// `converted` is the number of columns whose values are converted. An entry is deleted if its first value cannot
        /// be converted.
        func migrate(_ table: String, _ columns: [String], converted: Int = 0, if isOf: String = "e = ?") throws {
            let list = columns.joined(separator: ", ")
            let rows = try db.rows("SELECT field, \(list) FROM \(table) WHERE \(isOf)", number)
            try db.run("DELETE FROM \(table) WHERE \(isOf)", number)
            for row in rows {
                var name = try row.decode(String.self, atIndex: 0)
                var values = columns.indices.map { row[$0 + 1] }
                if let field = fields[name] {
                    let new = try field.new == nil ? [] : values.prefix(converted).map(field.converted)
                    guard let newName = field.new, converted == 0 || new[0] != nil else {
                        if table == "sync_base" { try lose(field, row[3], row[1]) }
                        continue
                    }
                    name = newName
                    values.replaceSubrange(..<converted, with: new.map { $0 ?? .null })
                } else if table == "sync_base" || table == "sync_unreadable" {
                    // The old model does not have the field.
                    continue
                }
                let parameters = String(repeating: ", ?", count: values.count)
                try db.run(
                    "INSERT OR IGNORE INTO \(table) (field, \(list)) VALUES (?\(parameters))",
                    list: [name.databaseValue] + values)
            }
        }
        // The values that columns had when their row was deleted are only logged, so they need not fit.
        try migrate("sync_base", ["value", "held", "k", "e", "edited", "cause", "is_held"], converted: 2)
        // The next pull determines whether the new model can read these values.
        try migrate("sync_unreadable", ["k", "e", "value"])
        let isOfRequest = "request IN (SELECT id FROM sync_request WHERE e = ?)"
        try migrate("sync_sent", ["value", "request"], converted: 1, if: isOfRequest)
        // The service may have carried out such a request.
        try migrate("sync_tried", ["value", "id", "e", "k"], converted: 1)
        try migrate("sync_made", ["k", "e", "edited", "is_restored"])
    }
}
