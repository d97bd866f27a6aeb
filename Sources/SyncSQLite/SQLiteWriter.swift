import GRDB
import SyncCore
package import SyncStore

/// A connection that writes to the database of a stack.
struct SQLiteWriter: StoreWriter {
    let stack: DataStack
    let db: Database
    /// Whether the connection is the stack's, and its transaction, if it is in one, an engine's.
    let isOwn: Bool

    func transaction(_ request: SyncRequest, _ body: (SyncSession) throws -> SyncResult) throws -> SyncResult {
        func transaction(deferringIndexes: Bool) throws -> SyncResult {
            try stack.transaction(db, request, deferringIndexes: deferringIndexes, isOwn: isOwn, body)
        }
        if request.isOfPart { return try transaction(deferringIndexes: true) }
        do {
            return try transaction(deferringIndexes: false)
        } catch {
            guard try !stack.isAdopted && AddedIndex.isInTheWay(error, of: stack.layout, in: db) else { throw error }
            return try transaction(deferringIndexes: true)
        }
    }

    func waiting(_ references: [SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference] {
        try stack.waiting(references, in: db)
    }
}

extension DataStack: StoreHost {
    package func writing<Result: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> Result
    ) async throws -> Result {
        try await database.writeWithoutTransaction { db in
            try body(SQLiteWriter(stack: self, db: db, isOwn: true))
        }
    }

    package func engineStore(_ registration: EngineRegistration) throws -> any EngineStore { try engine(registration) }

    /// What syncs with a connection of the caller's, in the transaction that it is in, if it is in one.
    package func writer(_ db: Connection) -> any StoreWriter { SQLiteWriter(stack: self, db: db, isOwn: false) }

    /// Compares a plan with the stored rows and writes the difference, in a transaction that an engine is in.
    ///
    /// - Parameter isOwn: Whether what is learnt in it is kept: not if it may be taken back.
    func sync(_ payload: StagedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool) throws -> SyncResult {
        try SQLiteWriter(stack: self, db: db, isOwn: isOwn).transaction(SyncRequest(options: options)) {
            try $0.apply(payload)
        }
    }
}
