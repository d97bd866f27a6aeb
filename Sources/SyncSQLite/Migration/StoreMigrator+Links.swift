import GRDB
import SyncCore
import SyncStore

// A new association can take links from several old associations, and several new associations can take links from one
// old association. So the migration reads the links of each old association once, and marks each link that a new
// association takes. Unmarked links are lost.
extension StoreMigrator {
    mutating func copyLinks() throws {
        var links: [AssociationID: [MigratedLink]] = [:]
        var kept: Set<AssociationID> = []
        for link in map.new.model.links {
            let sources = map.links[link.id] ?? []
            if isPreserved(link) {
                kept.formUnion(sources.map(\.link))
                continue
            }
            var writer = LinkWriter(link, map.new)
            for source in sources {
                var found = try links[source.link] ?? self.storedLinks(of: map.old.model[source.link])
                try assign(&found, from: source, in: link, &writer)
                links[source.link] = found
            }
            try writer.complete(db)
        }
        for link in map.old.model.links where !kept.contains(link.id) {
            recordLost(try links[link.id] ?? self.storedLinks(of: link), of: link)
        }
    }

    private func assign(
        _ links: inout [MigratedLink], from source: MigrationMap.LinkSource, in link: CompiledAssociation,
        _ writer: inout LinkWriter
    ) throws {
        let before = map.old.model[source.link]
        for (index, old) in links.enumerated() {
            guard var first = keys.row(of: old.first, in: before.first.table),
                var second = keys.row(of: old.second, in: before.second.table)
            else { continue }
            var moved = old
            (moved.first, moved.second) = (first.key, second.key)
            if source.isFlipped {
                moved = moved.flipped
                swap(&first, &second)
            }
            if try isRow(first, of: link.first), try isRow(second, of: link.second), try writer.add(moved, db) {
                links[index].isAssigned = true
            }
        }
    }

    /// Returns whether a row is of the entity at this end of an association, or of a subentity.
    private func isRow(_ row: MigratedKeys.Row, of side: CompiledAssociation.Role) throws -> Bool {
        guard row.table == side.table else { return false }
        guard map.new.model[side.table].root != side.entity else { return true }
        let table = map.new[side.table]
        let key = ColumnValue.bound(row.key)
        let condition = SchemaSQL.entityCondition(map.new.model.entities[side.entity].family, map.new)
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = \(key.sql) AND \(condition)")
        return try Int.fetchOne(statement, arguments: [key.value]) != nil
    }

    /// Records the links that no new association took. A link between two lost rows does not count.
    private mutating func recordLost(_ links: [MigratedLink], of link: CompiledAssociation) {
        var (lost, lostWithRow) = (0, 0)
        for old in links where !old.isAssigned {
            let first = keys.row(of: old.first, in: link.first.table)
            let second = keys.row(of: old.second, in: link.second.table)
            if first != nil, second != nil { lost += 1 } else if first != nil || second != nil { lostWithRow += 1 }
        }
        lose(path(of: link, map.old), "one of the linked rows is lost", lostWithRow, "link")
        if let successor = map.linkSuccessors[link.id] {
            let newPath = path(of: map.new.model[successor], map.new)
            lose(newPath, "the relationship cannot store them", lost, "link")
        } else {
            lose(path(of: link, map.old), "the relationship is no longer in the model", lost, "link")
        }
    }

    private func path(of link: CompiledAssociation, _ layout: StoreLayout) -> String {
        let side = link.first.relationship == nil ? link.second : link.first
        return "entities.\(layout.model.entities[side.entity].name).relationships.\(side.relationship?.name ?? "")"
    }

    // MARK: Old links

    private func storedLinks(of link: CompiledAssociation) throws -> [MigratedLink] {
        let (table, columns) = linkColumns(of: link)
        let (first, second) = (columns[0], columns[1])
        let orders = "\(columns[2]) NULLS LAST, \(columns[3]) NULLS LAST"
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(columns.joined(separator: ", ")) FROM \(current(table).quoted)
                WHERE \(second) IS NOT NULL ORDER BY \(orders), \(first), \(second)
                """)
        var links: [MigratedLink] = []
        while let row = try rows.next() {
            links.append(
                MigratedLink(
                    first: try row.wholeValue(at: 0), second: try row.wholeValue(at: 1),
                    firstOrder: try row.decode(atIndex: 2),
                    secondOrder: try row.decode(atIndex: 3)))
        }
        return links
    }

    /// Returns the table of the links, and four column expressions: both keys and both positions. A position that the
    /// association does not have is `NULL`.
    private func linkColumns(of link: CompiledAssociation) -> (table: String, columns: [String]) {
        switch map.old[link.id] {
        case .foreignKey(let table, let column, let order):
            let key = map.old[link.first.table].keyColumn
            return (table, [key.quoted, column.quoted, "NULL", order?.quoted ?? "NULL"])
        case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
            return (name, [first, second].map(\.quoted) + [firstOrder, secondOrder].map { $0?.quoted ?? "NULL" })
        }
    }

    /// Removes links to lost rows. Preserved tables may still contain such links.
    func clearDanglingLinks() throws {
        guard keys.hasLosses else { return }
        for link in map.new.model.links {
            func missing(_ column: String, _ table: TableID) -> String {
                let target = map.new[table]
                return "\(column.quoted) NOT IN (SELECT \(target.keyColumn.quoted) FROM \(target.name.quoted))"
            }
            switch map.new[link.id] {
            case .foreignKey(let table, let column, let order):
                let cleared = [column, order].compactMap(\.self).map { "\($0.quoted) = NULL" }
                try db.execute(
                    sql: """
                        UPDATE \(table.quoted) SET \(cleared.joined(separator: ", "))
                        WHERE \(missing(column, link.second.table))
                        """)
            case .joinTable(let name, let first, let second, _, _):
                try db.execute(
                    sql: """
                        DELETE FROM \(name.quoted)
                        WHERE \(missing(first, link.first.table)) OR \(missing(second, link.second.table))
                        """)
            }
        }
    }
}

// MARK: - Pending references

extension StoreMigrator {
    /// Converts the pending references to the entity names, relationship names and keys of the new model.
    mutating func renamePendingReferences() throws {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT owner_entity, owner_key, relationship, position, target_entity, target_key
                FROM sync_pending ORDER BY rowid
                """)
        var renamed: [[DatabaseValue]] = []
        var lost: [String: Int] = [:]
        while let row = try rows.next() {
            if let values = try self.renamed(row) {
                renamed.append(values)
            } else if let path = try pathOfLoss(row) {
                lost[path, default: 0] += 1
            }
        }
        for (path, count) in lost.sorted(by: { $0.key < $1.key }) {
            lose(
                path, "an entity of the reference is no longer in the model or has a different primary key", count,
                "pending reference")
        }
        // Two entities can exchange names, so all pending references are deleted before the first is inserted.
        try db.execute(sql: "DELETE FROM sync_pending")
        for values in renamed {
            let bound = values.map(ColumnValue.bound)
            try db.execute(
                sql: """
                    INSERT OR IGNORE INTO sync_pending
                    (owner_entity, owner_key, relationship, position, target_entity, target_key)
                    VALUES (\(bound.map(\.sql).joined(separator: ", ")))
                    """, arguments: StatementArguments(bound.map(\.value)))
        }
    }

    /// Returns the path of the relationship whose pending reference is lost; nil if its owner is lost too and is
    /// reported instead.
    private func pathOfLoss(_ row: Row) throws -> String? {
        guard let owner = try map.old.model.entityID(row.decode(atIndex: 0)), map.successors[owner] != nil,
            try keys.row(of: row.wholeValue(at: 1), in: map.old.model.entities[owner].table) != nil
        else { return nil }
        return try
            "entities.\(row.decode(String.self, atIndex: 0)).relationships.\(row.decode(String.self, atIndex: 2))"
    }

    /// Returns the column values of a pending reference in the new model; nil if the reference is lost.
    private func renamed(_ row: Row) throws -> [DatabaseValue]? {
        guard let owner = try map.old.model.entityID(row.decode(atIndex: 0)),
            let target = try map.old.model.entityID(row.decode(atIndex: 4)),
            let newOwner = map.successors[owner].map({ map.new.model.entities[$0] }),
            let newTarget = map.successors[target].map({ map.new.model.entities[$0] }),
            let relationship = try map.name(of: row.decode(atIndex: 2), ofOld: owner).flatMap(
                newOwner.relationship(named:)),
            map.new.model.entity(newTarget.id, isKindOf: relationship.destination),
            let newRow = try keys.row(of: row.wholeValue(at: 1), in: map.old.model.entities[owner].table),
            let key = try targetKey(row.wholeValue(at: 5), target, newTarget)
        else { return nil }
        let position: Int64 = relationship.isToMany ? try max(row.decode(atIndex: 3), 0) : -1
        return [
            newOwner.name.databaseValue, newRow.key, relationship.name.databaseValue, position.databaseValue,
            newTarget.name.databaseValue, key,
        ]
    }

    /// Converts the key that a pending reference waits for to the new model. Returns nil if the key does not fit, or if
    /// the primary key consists of other attributes.
    private func targetKey(_ key: DatabaseValue, _ old: Int, _ new: CompiledEntity) -> DatabaseValue? {
        if let (before, after) = keyTypes(old, new.id) {
            return MigratedValue.convert(key, from: before, to: after)
        }
        let before = map.old.model.entities[old]
        let isSame =
            before.compositeKey != nil && map.old.model.keyNames(of: before) == map.new.model.keyNames(of: new)
            && map.old.model.keyType(of: old) == map.new.model.keyType(of: new.id)
        return isSame ? key : nil
    }

    /// Returns the old and the new type of an entity's key attribute; nil unless the key is the same single attribute
    /// in both models.
    private func keyTypes(_ old: Int, _ new: Int) -> (AttributeType, AttributeType)? {
        let (before, after) = (map.old.model.entities[old], map.new.model.entities[new])
        guard let oldSlot = before.keySlot, let newSlot = after.keySlot, map.slot(newSlot, of: after) == oldSlot else {
            return nil
        }
        return (
            map.old.model[before.table].attributes[oldSlot].type,
            map.new.model[after.table].attributes[newSlot].type
        )
    }
}

// MARK: - LinkWriter

/// Writes the links of one association of the new model.
struct LinkWriter {
    private struct Ends: Hashable {
        var first: BinaryComparedValue
        var second: BinaryComparedValue

        var flipped: Ends { Ends(first: second, second: first) }
    }

    private let link: CompiledAssociation
    private let layout: LinkLayout
    private let keyColumn: String
    private var written: Set<Ends> = []
    /// For each end whose relationship is to-one: the linked row of each row, by key.
    private var secondByFirst: [BinaryComparedValue: BinaryComparedValue] = [:]
    private var firstBySecond: [BinaryComparedValue: BinaryComparedValue] = [:]
    private var lastPosition: [BinaryComparedValue: Int64] = [:]
    private var lastInversePosition: [BinaryComparedValue: Int64] = [:]

    init(_ link: CompiledAssociation, _ layout: StoreLayout) {
        self.link = link
        self.layout = layout[link.id]
        keyColumn = layout[link.first.table].keyColumn
    }

    /// Writes a link, unless a to-one relationship of one of its rows already has a different link.
    ///
    /// - Returns: Whether the link is stored, by this call or an earlier one.
    mutating func add(_ migrated: MigratedLink, _ db: Database) throws -> Bool {
        if written.contains(ends(of: migrated)) { return true }
        guard isFree(migrated), !link.isSymmetric || isFree(migrated.flipped) else { return false }
        reserve(migrated)
        if link.isSymmetric { reserve(migrated.flipped) }
        try write(migrated, db)
        return true
    }

    /// Writes the missing reverse links of a symmetric association, whose relationship is its own inverse.
    mutating func complete(_ db: Database) throws {
        guard link.isSymmetric else { return }
        for ends in written where !written.contains(ends.flipped) {
            try write(MigratedLink(first: ends.second.value, second: ends.first.value), db)
        }
    }

    private func isFree(_ migrated: MigratedLink) -> Bool {
        let ends = ends(of: migrated)
        return (link.first.isToMany || (secondByFirst[ends.first] ?? ends.second) == ends.second)
            && (link.second.isToMany || (firstBySecond[ends.second] ?? ends.first) == ends.first)
    }

    private mutating func reserve(_ migrated: MigratedLink) {
        let ends = ends(of: migrated)
        if !link.first.isToMany { secondByFirst[ends.first] = ends.second }
        if !link.second.isToMany { firstBySecond[ends.second] = ends.first }
    }

    private func ends(of migrated: MigratedLink) -> Ends {
        Ends(first: migrated.first.exact, second: migrated.second.exact)
    }

    // MARK: Tables

    private mutating func write(_ migrated: MigratedLink, _ db: Database) throws {
        let ends = ends(of: migrated)
        written.insert(ends)
        let first = ColumnValue.bound(migrated.first)
        let second = ColumnValue.bound(migrated.second)
        switch layout {
        case .foreignKey(let table, let column, let order):
            var columns = ["\(column.quoted) = \(second.sql)"]
            var arguments = [second.value]
            if let order {
                columns.append("\(order.quoted) = ?")
                arguments.append(Self.nextPosition(migrated.secondOrder, &lastInversePosition[ends.second]))
            }
            let statement = try db.cachedStatement(
                sql: "UPDATE \(table.quoted) SET \(columns.joined(separator: ", ")) "
                    + "WHERE \(keyColumn.quoted) = \(first.sql)")
            try statement.execute(arguments: StatementArguments(arguments + [first.value]))
        case .joinTable(let name, let firstColumn, let secondColumn, let firstOrder, let secondOrder):
            var columns = [firstColumn, secondColumn]
            var arguments = [first, second]
            if let firstOrder {
                columns.append(firstOrder)
                arguments.append(("?", Self.nextPosition(migrated.firstOrder, &lastPosition[ends.first])))
            }
            if let secondOrder {
                columns.append(secondOrder)
                arguments.append(("?", Self.nextPosition(migrated.secondOrder, &lastInversePosition[ends.second])))
            }
            let names = columns.map(\.quoted).joined(separator: ", ")
            let statement = try db.cachedStatement(
                sql: "INSERT INTO \(name.quoted) (\(names)) VALUES "
                    + "(\(arguments.map(\.sql).joined(separator: ", ")))")
            try statement.execute(arguments: StatementArguments(arguments.map(\.value)))
        }
    }

    /// Returns the stored position of a link, or the position after the last link of the list if the link has none.
    private static func nextPosition(_ order: Int64?, _ last: inout Int64?) -> DatabaseValue {
        let position = order ?? ListOrdering.end(of: [last], reserved: [])
        last = max(position, last ?? position)
        return position.databaseValue
    }
}

// MARK: - MigratedLink

/// A link: the keys of its two rows, and its positions at both ends.
struct MigratedLink {
    var first: DatabaseValue
    var second: DatabaseValue
    var firstOrder: Int64?
    var secondOrder: Int64?
    /// Whether an association of the new model took the link.
    var isAssigned = false

    var flipped: MigratedLink {
        MigratedLink(first: second, second: first, firstOrder: secondOrder, secondOrder: firstOrder)
    }
}
