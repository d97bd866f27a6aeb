import GRDB
import SyncCore
import SyncStore

/// Links a new row to others.
struct LinkInserter {
    let layout: StoreLayout
    let entity: CompiledEntity
    let rowKey: DatabaseValue
    let db: Database

    /// - Throws: ``SyncError`` `valueDoesNotFit` if there are too many targets or they are of another entity,
    ///   `rowNotFound` if one is gone.
    func link(_ relationship: CompiledRelationship, to targets: [SyncRecord]) throws {
        try check(targets, relationship)
        let link = layout.model[relationship.link]
        switch layout[relationship.link] {
        case .foreignKey(let table, let column, let order):
            let key = ForeignKeySQL(
                table: table, key: layout[link.first.table].keyColumn, column: column, order: order,
                freePlace: FreePlaceSQL.query(relationship.link, .second, layout), db: db)
            if relationship.end == .first, let target = targets.first {
                try point(rowKey, at: target.rowKey, key, link)
            } else if relationship.end == .second {
                for target in targets { try point(target.rowKey, at: rowKey, key, link) }
            }
        case .joinTable:
            guard let join = JoinSQL(relationship.link, layout, db) else { return }
            for target in targets {
                let pair = relationship.end == .first ? (rowKey, target.rowKey) : (target.rowKey, rowKey)
                try join.add(pair.0, pair.1)
                if link.isSymmetric { try join.add(pair.1, pair.0) }
            }
        }
    }

    /// A target of a one-to-one link has one row pointing at it, the last one.
    private func point(_ row: DatabaseValue, at target: DatabaseValue, _ key: ForeignKeySQL, _ link: Link) throws {
        if link.isOneToOne { try key.clear(pointingAt: target) }
        if link.isSymmetric { try key.clear(pointingAt: row) }
        try key.set(row, to: target)
        if link.isSymmetric { try key.set(target, to: row) }
    }

    private func check(_ targets: [SyncRecord], _ relationship: CompiledRelationship) throws {
        guard relationship.isToMany || targets.count <= 1 else {
            throw misfit("a to-one relationship has one target, not \(targets.count)", relationship)
        }
        for target in targets {
            guard layout.model.entity(target.type.id, isKindOf: relationship.destination) else {
                let expected = layout.model.entities[relationship.destination].name
                throw misfit("the targets are of entity \(expected), not \(target.entity)", relationship)
            }
            let table = layout[target.type.table]
            let sql =
                "SELECT 1 FROM \(SchemaSQL.quoted(table.name)) WHERE \(SchemaSQL.quoted(table.keyColumn)) = ?"
            guard try Row.fetchOne(db, sql: sql, arguments: [target.rowKey]) != nil else {
                throw SyncError(
                    .rowNotFound, "a target is not stored any more", entity: target.entity, path: relationship.name)
            }
        }
    }

    private func misfit(_ message: String, _ relationship: CompiledRelationship) -> SyncError {
        SyncError(.valueDoesNotFit, message, entity: entity.name, path: relationship.name)
    }
}

/// Writes the rows of a join table.
struct JoinSQL {
    let table: String
    let first: String
    let second: String
    let firstOrder: String?
    let secondOrder: String?
    /// Ask for the next positions of a first and of a second row.
    private let freePlaces: [Link.End: String]
    private let db: Database

    /// Nil for a link that is a foreign key.
    init?(_ link: LinkID, _ layout: StoreLayout, _ db: Database) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link]
        else { return nil }
        (table, self.first, self.second) = (name, first, second)
        (self.firstOrder, self.secondOrder) = (firstOrder, secondOrder)
        freePlaces = [Link.End.first, .second].reduce(into: [:]) { $0[$1] = FreePlaceSQL.query(link, $1, layout) }
        self.db = db
    }

    /// Adds a link at the end of both rows' links; nothing if it is there.
    func add(_ firstKey: DatabaseValue, _ secondKey: DatabaseValue) throws {
        var columns = [first, second]
        var values = ["?", "?"]
        var arguments = [firstKey, secondKey]
        for (order, end, key) in [(firstOrder, Link.End.first, firstKey), (secondOrder, .second, secondKey)] {
            guard let order, let freePlace = freePlaces[end] else { continue }
            columns.append(order)
            values.append("?")
            arguments.append(try DatabaseValue.fetchOne(db, sql: freePlace, arguments: [key]) ?? .null)
        }
        try db.execute(
            sql: "INSERT INTO \(SchemaSQL.quoted(table)) "
                + "(\(columns.map(SchemaSQL.quoted).joined(separator: ", "))) "
                + "VALUES (\(values.joined(separator: ", "))) "
                + "ON CONFLICT (\(SchemaSQL.quoted(first)), \(SchemaSQL.quoted(second))) DO NOTHING",
            arguments: StatementArguments(arguments))
    }
}

/// Writes the foreign key column of a link.
struct ForeignKeySQL {
    let table: String
    /// The table's own key.
    let key: String
    let column: String
    /// The column of positions among the rows with the same target.
    let order: String?
    /// Asks for a target's next position.
    let freePlace: String?
    let db: Database

    /// Points a row at a target, as the last of those that do.
    func set(_ row: DatabaseValue, to target: DatabaseValue) throws {
        let table = SchemaSQL.quoted(table)
        let column = SchemaSQL.quoted(column)
        let condition = "WHERE \(SchemaSQL.quoted(key)) = ?"
        guard let order = order.map(SchemaSQL.quoted), let freePlace else {
            try db.execute(sql: "UPDATE \(table) SET \(column) = ? \(condition)", arguments: [target, row])
            return
        }
        let place = try Int64.fetchOne(db, sql: freePlace, arguments: [target])
        try db.execute(
            sql: "UPDATE \(table) SET \(column) = ?, \(order) = ? \(condition)", arguments: [target, place, row])
    }

    /// Unlinks the rows that point at a target.
    func clear(pointingAt target: DatabaseValue) throws {
        let column = SchemaSQL.quoted(column)
        let position = order.map { ", \(SchemaSQL.quoted($0)) = NULL" } ?? ""
        try db.execute(
            sql: "UPDATE \(SchemaSQL.quoted(table)) SET \(column) = NULL\(position) WHERE \(column) = ?",
            arguments: [target])
    }
}
