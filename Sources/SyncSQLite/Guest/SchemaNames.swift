import GRDB
import SyncCore
import SyncStore

/// The names in the schema of a database, of which SQLite has one set for tables, views and indexes.
struct SchemaNames {
    /// Name as SQLite compares it → the kind of thing and its name.
    private var kinds: [String: (type: String, name: String)] = [:]

    /// Those in use, on this connection.
    init(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT type, name FROM sqlite_schema WHERE type <> 'trigger'
                UNION ALL SELECT type, name FROM sqlite_temp_schema WHERE type <> 'trigger'
                """)
        for row in rows {
            let name: String = row[1]
            if !name.hasPrefix("sqlite_") { kinds[name.foldedForSQL] = (row[0], name) }
        }
    }

    private static func thing(_ type: String) -> String { type == "index" ? "an index" : "a \(type)" }

    /// Those of a store of this model.
    private init(_ model: SyncModel) throws {
        let scratch = try DatabaseQueue()
        defer { try? scratch.close() }
        self = try scratch.inDatabase { db in
            for statement in SchemaSQL(StoreLayout(model.compiled)).statements { try db.execute(sql: statement) }
            return try SchemaNames(db)
        }
        for name in RetiredTables.names { kinds[name] = ("table", name) }
    }

    /// Refuses names that our own tables have.
    ///
    /// - Throws: ``SyncError`` `nameCollision`.
    static func checkOwn(in db: Database) throws { try check(SyncModel(entities: []), besides: nil, in: db) }

    /// Refuses a model whose tables, views and indexes have names that something else in the database has.
    ///
    /// - Parameter kept: The model whose tables are there already.
    /// - Throws: ``SyncError`` `nameCollision`.
    static func check(_ model: SyncModel, besides kept: SyncModel?, in db: Database) throws {
        let own = try kept.map { Set(try SchemaNames($0).kinds.keys) } ?? []
        let foreign = try SchemaNames(db).kinds.filter { !own.contains($0.key) }
        if foreign.isEmpty { return }
        let wanted = try SchemaNames(model).kinds
        let taken = foreign.filter { wanted[$0.key] != nil }.sorted { $0.key < $1.key }
        guard !taken.isEmpty else { return }
        throw SyncError(
            .nameCollision,
            "the database has names already that the model needs; rename the entities, or what has them",
            problems: taken.map { key, found in
                SyncError.Problem(
                    path: found.name,
                    message:
                        "\(Self.thing(found.type)) of the database, and \(Self.thing(wanted[key]?.type ?? "table")) "
                        + "of the model")
            })
    }
}
