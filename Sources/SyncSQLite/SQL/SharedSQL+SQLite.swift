package import GRDB
package import SyncCore
package import SyncStore

// The statements that all databases share, in the dialect of SQLite.

extension TableSQL {
    init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout) { self.init(hierarchy, layout, SQLiteDialect()) }
}

extension JoinTableSQL {
    /// Returns the statements; an empty array for an association that is stored as a foreign key.
    static func statements(_ id: AssociationID, _ layout: StoreLayout) -> [String] {
        JoinTableSQL(id, layout, SQLiteDialect())?.statements ?? []
    }
}

extension KeyColumns {
    /// Returns nil for a keyless entity.
    init?(_ entity: CompiledEntity, _ layout: StoreLayout) { self.init(entity, layout, SQLiteDialect()) }
}

extension RowSQL {
    convenience init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout) {
        self.init(hierarchy, layout, SQLiteDialect())
    }
}

extension RecordSQL {
    init(_ entity: CompiledEntity, _ layout: StoreLayout) { self.init(entity, layout, SQLiteDialect(layout)) }
}

extension TargetSQL {
    init(_ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout) {
        self.init(relationship, of: owner, layout, SQLiteDialect(layout))
    }

    /// The part of the statement after the selected columns, for the related rows of several rows: the text before and
    /// after the list of the keys of these rows. The related rows of each row are in the order of the relationship.
    var restOfSeveral: (before: String, after: String) {
        get throws { ("\(rows) WHERE \(ownerKey) IN ", try order.map { " ORDER BY \($0)" } ?? "") }
    }
}

extension LinkTable {
    init(_ link: CompiledAssociation, _ end: CompiledAssociation.End, _ layout: StoreLayout) {
        self.init(link, end, layout, SQLiteDialect())
    }
}

extension LinkSQL {
    init(_ link: CompiledAssociation, _ end: CompiledAssociation.End, _ layout: StoreLayout) {
        self.init(link, end, layout, SQLiteDialect())
    }
}

extension SQLArgument {
    /// The value in the form that GRDB binds.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .double(let value): value.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let data): data.databaseValue
        }
    }
}

extension PredicateSQL {
    /// Compiles a condition for SQLite. The compiled condition uses the functions that ``install(in:)`` adds.
    ///
    /// - Parameters:
    ///   - alias: The alias of the entity's table in the statement.
    ///   - db: The database with the temporary keys that an engine replaced. The condition then compares the current
    ///     keys. Nil if the keys of the condition are current.
    /// - Throws: ``SyncError`` `invalidPredicate`. The message for an unknown name lists the known names.
    package init(
        _ predicate: RowPredicate, on entity: CompiledEntity, layout: StoreLayout, alias: String,
        in db: Database? = nil
    ) throws {
        try self.init(
            predicate, on: entity, layout: layout, alias: alias, dialect: SQLiteDialect(layout),
            replacingKeys: db.map { db in { try layout.laterKey(of: $0, $1, in: db) } })
    }

    /// The values to bind, in order.
    package var databaseValues: [DatabaseValue] { arguments.map(\.databaseValue) }

    /// Returns the condition that a row belongs to the entity or a subentity; nil if the table contains no other rows.
    package static func familyCondition(_ entity: CompiledEntity, layout: StoreLayout, alias: String) -> String? {
        familyCondition(entity, layout: layout, alias: alias, dialect: SQLiteDialect())
    }
}

extension StoreLayout {
    /// Returns the names of the entities with rows in these tables, as SQL literals: `'Book', 'Film'`.
    func entityNames(of tables: [TableID]) -> String { SQLiteDialect().entityNames(of: tables, self) }
}

extension String {
    /// The string as an SQL identifier.
    var quoted: String { SchemaSQL.quoted(self) }

    /// The string as an SQL string literal.
    var literal: String { SchemaSQL.literal(self) }
}
