public import Foundation
public import SyncCore
import SyncStore

/// The functions that sync JSON into a store.
///
/// ```swift
/// let stack = try DataStack(model: SyncModel(contentsOf: modelURL), at: databaseURL)
/// let result = try await Sync.changes(json, inEntity: "User", stack: stack)
/// print(result["User"].insertedCount, "new users")
/// ```
///
/// A sync maps a payload to rows and links, compares the result with the stored rows, and writes the differences.
public enum Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload.
    ///
    /// The payload is an array of records, or a single record. If the payload omits a row in scope, the sync deletes
    /// the row, unless the row has a temporary key or pending changes. A single record has no scope, unless `predicate`
    /// or `parent` sets a scope. Without a scope, the sync deletes only rows that nested lists omit, and rows that
    /// delete rules delete.
    ///
    /// The sync writes to the store and does not involve an engine. Pass records that the service of an engine sent to
    /// `SyncEngine.apply(_:inEntity:)` instead, because the writes of this function are local changes.
    ///
    /// ```swift
    /// try await Sync.changes(data, inEntity: "Note", stack: stack, predicate: .where("createdAt > %@", yesterday))
    /// try await Sync.changes(fileURL, inEntity: "Note", stack: stack, parent: SyncParent("User", id: 6))
    /// ```
    /// The sync reads a file or a stream (``SyncPayload``) in chunks of whole records. By default, the sync writes all
    /// chunks in one transaction. If ``SyncOptions/commitsEachChunk`` is set, each chunk has a separate transaction.
    ///
    /// If a record depends on a later chunk, the result can differ from the result for a payload in memory:
    ///
    /// - The sync neither counts nor rejects inconsistent records in different chunks, and stores the later values.
    /// - A record in a later chunk may state that a row is of a subentity, but omit a value that the subentity
    ///   requires. In this case, the row keeps its entity. For a payload in memory, the sync rejects the record.
    /// - A record is rejected if its primary key includes the key of a new row whose record is in a later chunk.
    /// - The rows of an ordered relationship can have a different order if their records reference a row whose record
    ///   is in a later chunk.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, a ``JSONValue``, dictionaries from `JSONSerialization`,
    ///     or a ``SyncPayload``.
    ///   - entity: The entity of the root records.
    ///   - predicate: The condition for rows in scope. With a parent, the scope is the children of the parent that meet
    ///     the condition. If the condition is nil, the scope is all children of the parent. If the parent is also nil,
    ///     the scope is ``SyncOptions/scope``.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - operations: The allowed operations.
    ///   - options: The options of the sync, such as the format of the payload and the deletion limit.
    /// - Returns: The inserted, updated and deleted rows, the links, and the diagnostics.
    /// - Throws: ``SyncError``, usually with a path in the payload. Also errors of the stream, of the insert hook and
    ///   of SQLite, and `CancellationError`. The call throws `noRecords` if the payload has records, but no record has
    ///   a readable key, as in an error response. If the call throws an error, the store is unchanged, unless
    ///   ``SyncOptions/commitsEachChunk`` is set.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Inserts, updates and deletes rows so that the entity matches a payload of JSON values, such as a literal.
    ///
    /// For details, see
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload)
    }

    /// Computes the changes of a sync, and writes nothing.
    ///
    /// The sync runs in a transaction, and rolls the transaction back. Observers of the store are not notified. Other
    /// writers wait until the transaction ends. If another connection is writing, or if the database is read-only, the
    /// sync runs on a temporary copy of the committed database. In an app database, the sync does not use a copy.
    /// Instead, the sync waits or fails, as the `busyMode` of the database configuration specifies.
    ///
    /// The parameters and errors are those of
    /// ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    public nonisolated(nonsending) static func plan(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entity, stack, predicate, parent, operations, options).run(payload, isDryRun: true)
    }

    /// Starts a sync for a caller that is not asynchronous. The sync calls `completion` once, on any thread.
    ///
    /// - Returns: The task of the sync. Cancelling the task cancels the sync.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible & Sendable, inEntity entity: String, stack: some SyncStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), completion: @escaping @Sendable (Result<SyncResult, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task {
            do {
                let call = SyncCall(entity, stack, predicate, parent, operations, options)
                completion(.success(try await call.run(payload)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}

extension Sync {
    /// The largest number of syncs that run at the same time in this process; nil, the default, for no limit.
    ///
    /// When the limit is reached, further syncs wait, and start in the order of their calls. On a server, set the limit
    /// to one less than the number of processors, so that a processor stays free for reads and requests. Each running
    /// sync occupies memory for its payload. See also ``SyncStack/maxConcurrentSyncs``. A number below 1 counts as 1.
    ///
    /// Calls inside the caller's transaction, calls for single rows, and engine runs do not count, and never wait for
    /// the limit. A payload stream must not wait for another sync, because that sync may wait for the end of the
    /// stream.
    public static var maxConcurrentSyncs: Int? {
        get { SyncLimit.process.maximum }
        set { SyncLimit.process.maximum = newValue }
    }
}

// MARK: - Several entities

// Payloads of several entities.
extension Sync {
    /// Inserts, updates and deletes rows so that several entities match one payload.
    ///
    /// ```swift
    /// // {"users": [{"id": 1, "company_id": 7}], "companies": [{"id": 7, "name": "Acme"}]}
    /// try await Sync.changes(data, inEntities: ["users": "User", "companies": "Company"], stack: stack)
    /// ```
    /// The scope of each list is the same as in a sync of that list alone. If the payload has a single record or null
    /// in place of a list, the sync deletes no omitted rows of that entity. The sync applies all lists before it
    /// deletes omitted rows. A record can therefore reference a record of a later list. A missing list is an error.
    ///
    /// - Parameters:
    ///   - payload: The payload. For the supported types, see
    ///     ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    ///   - entities: The entity of the records in each list, by the key path of the list. The key path has dots between
    ///     keys.
    ///   - options: The options of the sync. ``SyncOptions/keyPath`` is the path of the object with the lists.
    /// - Returns: The changes of all entities.
    /// - Throws: ``SyncError`` `invalidOption` if `entities` is empty; `keyPathNotFound` if a list is missing;
    ///   `noRecords` if a list has records, but no record in the list has a readable key. Also the errors of a sync of
    ///   one entity. If the call throws an error, the store is unchanged, unless ``SyncOptions/commitsEachChunk`` is
    ///   set.
    @discardableResult
    public nonisolated(nonsending) static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: some SyncStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).run(payload)
    }

    /// Computes the changes of a sync of several entities, and writes nothing.
    public nonisolated(nonsending) static func plan(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: some SyncStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await SyncCall(entities, stack, operations, options).run(payload, isDryRun: true)
    }
}

extension SyncCall {
    /// Creates a call for a payload of several entities.
    ///
    /// - Throws: ``SyncError`` `invalidOption` if `entities` is empty.
    package init(
        _ entities: [String: String], _ stack: some SyncStack, _ operations: SyncOperations, _ options: SyncOptions
    ) throws {
        let lists = entities.sorted { $0.key < $1.key }.map { PayloadList(path: $0.key, entity: $0.value) }
        guard let first = lists.first else {
            throw SyncError(.invalidOption, "'entities' is empty; name the entity of at least one list")
        }
        var options = options
        options.entities = lists
        self.init(first.entity, stack, nil, nil, operations, options)
    }
}

// MARK: - Pages

extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches all pages together.
    ///
    /// The sync writes each page in a separate transaction when the page arrives. After the last page, the sync deletes
    /// the rows in scope that no page describes. The sync also deletes children that nested lists omit, if no page
    /// describes these children. If the sequence or the sync of a page fails, or if the task is cancelled, the sync
    /// deletes no rows.
    ///
    /// ```swift
    /// let pages = AsyncThrowingStream { try await service.nextPage() }
    /// let result = try await Sync.changes(pages: pages, inEntity: "User", stack: stack)
    /// ```
    /// To apply pages one at a time, see ``PagedImport``.
    ///
    /// - Parameters:
    ///   - pages: Payloads of UTF-8 JSON, such as arrays of records. An empty sequence changes nothing.
    ///   - options: The options of the sync. ``SyncOptions/payloadKind`` is ignored.
    /// - Returns: The changes of all pages and of the final deletion.
    /// - Throws: The errors of the sequence, and of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``. If
    ///   the call throws an error, the rows of earlier pages stay.
    @discardableResult
    public nonisolated(nonsending) static func changes<Pages: AsyncSequence>(
        pages: Pages, inEntity entity: String, stack: some SyncStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult where Pages.Element == Data {
        let run = PagedImport()
        var options = options
        options.payloadKind = .page(of: run)
        for try await page in pages {
            try await changes(
                page, inEntity: entity, stack: stack, predicate: predicate, parent: parent, operations: operations,
                options: options)
        }
        try Task.checkCancellation()
        return try await run.finish()
    }
}

// MARK: - Single rows

// Single rows. `DataStack` has synchronous versions of these calls, for use inside `stack.write { db in … }`.
extension Sync {
    /// Inserts a row for a JSON record, or updates the row with the key of the record. The call also syncs nested
    /// records.
    ///
    /// For details, see ``DataStack/insertOrUpdate(_:with:options:in:)``.
    ///
    /// - Returns: The stored row, and the changes.
    /// - Throws: ``SyncError`` `primaryKeyMissing` if the record has no readable key, and the other errors of
    ///   ``DataStack/insertOrUpdate(_:with:options:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func insertOrUpdate(
        _ record: JSONValue, inEntity entity: String, stack: some SyncStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await stack.store.syncRow(SyncRequest(options: options)) { try $0.insertOrUpdate(entity, with: record) }
    }

    /// Inserts or updates the row of a record. The record is a dictionary from `JSONSerialization`.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that has no JSON form, `nestingTooDeep`, and the errors of
    ///   ``insertOrUpdate(_:inEntity:stack:options:)-(JSONValue,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func insertOrUpdate(
        _ record: [String: Any], inEntity entity: String, stack: some SyncStack, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        try await insertOrUpdate(try JSONValue(any: record), inEntity: entity, stack: stack, options: options)
    }

    /// Updates a row with the attributes and relationships that a JSON record contains.
    ///
    /// For details, see ``DataStack/update(_:id:with:options:in:)``.
    ///
    /// - Returns: The stored row and the changes; nil if no row has the key.
    /// - Throws: ``SyncError`` `duplicateKey` if `values` changes the key to the key of another row, and the other
    ///   errors of ``DataStack/update(_:id:with:options:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func update(
        id: JSONValue, with values: JSONValue, inEntity entity: String, stack: some SyncStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        let request = SyncRequest(options: options)
        let updated: (row: SyncRow?, result: SyncResult) = try await stack.store.syncRow(request) { rows in
            let found = try rows.update(entity, id: id, with: values)
            return (found?.row, found?.result ?? SyncResult(entity: entity))
        }
        guard let row = updated.row else { return nil }
        return (row, updated.result)
    }

    /// Updates a row with the attributes and relationships that a dictionary from `JSONSerialization` contains.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` for a value that has no JSON form, `nestingTooDeep`, and the errors of
    ///   ``update(id:with:inEntity:stack:options:)-(_,JSONValue,_,_,_)``.
    @discardableResult
    public nonisolated(nonsending) static func update(
        id: JSONValue, with values: [String: Any], inEntity entity: String, stack: some SyncStack,
        options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        try await update(id: id, with: try JSONValue(any: values), inEntity: entity, stack: stack, options: options)
    }

    /// Deletes a row by its key, and applies the delete rules of the model. If no row has the key, nothing changes.
    ///
    /// - Returns: The deleted rows, and the rows that lost a link.
    /// - Throws: ``SyncError`` `deletionDenied` if a delete rule `deny` protects the row, and the other errors of
    ///   ``DataStack/delete(_:id:in:)``. If the call throws an error, the store is unchanged.
    @discardableResult
    public static func delete(
        id: JSONValue, inEntity entity: String, stack: some SyncStack
    ) async throws -> SyncResult {
        let (model, capabilities) = (stack.store.model, stack.store.capabilities)
        return try await stack.store.writing { [request = SyncRequest()] writer in
            try writer.transaction(request) { session in
                try SingleRowSync(session, writer.reader, model, capabilities).delete(entity, id: id)
            }
        }
    }

    /// Deletes all rows of all entities, regardless of delete rules.
    ///
    /// The call also deletes pending references, pending changes and the conflict log. A sync engine does not delete
    /// the records at the service, and the next pull fetches the records again.
    ///
    /// - Throws: ``SyncError`` `databaseError`, and other errors of the store. If the call throws an error, it deletes
    ///   nothing.
    public static func deleteAllRows(stack: some SyncStack) async throws {
        try await stack.store.writing { writer in try writer.deleteAllRows() }
    }
}

extension StoreHost {
    /// Writes a single row in one transaction.
    fileprivate func syncRow<Row: Sendable>(
        _ request: SyncRequest, _ body: @escaping @Sendable (SingleRowSync) throws -> (row: Row, result: SyncResult)
    ) async throws -> (row: Row, result: SyncResult) {
        let (model, capabilities) = (model, capabilities)
        return try await writing { writer in
            var row: Row?
            let result = try writer.transaction(request) { session in
                let written = try body(SingleRowSync(session, writer.reader, model, capabilities))
                row = written.row
                return written.result
            }
            guard let writtenRow = row else { throw SyncError(.databaseError, "the store ran no transaction") }
            return (writtenRow, result)
        }
    }
}
