import Foundation
import GRDB
import SyncCore

@testable import SyncSQLite
@testable import SyncStore

/// A store in memory with a session in a transaction.
struct SessionStore {
    let session: SQLiteSession
    let graph: PayloadGraph
    let tables: SyncTables
    let db: Database

    var model: CompiledModel { session.model }

    /// Fills a store, and begins a sync of a payload, or of an empty payload graph.
    static func with(
        _ model: SyncModel, _ sql: String, payload: (entity: String, json: String)? = nil,
        _ body: (SessionStore) throws -> Void
    ) throws {
        let stack = try DataStack.inMemory(model)
        let graph = try payload.map { entity, json in
            let staging = try PayloadGraphBuilder(
                inEntity: entity, of: model, parent: nil, operations: .all, options: SyncOptions())
            return try staging.map(Data(json.utf8), options: SyncOptions()).graph
        }
        let said = graph ?? PayloadGraph(model: stack.layout.model, entity: 0, operations: [], payload: Data())
        try stack.write { db in
            try db.execute(sql: sql)
            try said.withTexts { pool in
                let session = SQLiteSession(try stack.watch.visit(db, isOwn: false), stack.layout)
                let tables = SyncTables(said, pool)
                try session.begin(said, tables, ProgressReporter(nil))
                try body(SessionStore(session: session, graph: said, tables: tables, db: db))
            }
        }
    }

    func table(_ entity: String) throws -> SyncTable { tables[try model.entity(named: entity).table] }
}
