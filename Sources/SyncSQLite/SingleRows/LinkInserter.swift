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
