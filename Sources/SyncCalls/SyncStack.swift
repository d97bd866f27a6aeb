public import Foundation
public import SyncCore
package import SyncStore

/// A stack with the store that the ``Sync`` functions write to.
///
/// `DataStack` conforms to the protocol. Do not declare other conforming types.
public protocol SyncStack: Sendable {
    /// The object through which the ``Sync`` functions access the store.
    var host: SyncHost { get }
}

/// The object through which the ``Sync`` functions access a store.
public struct SyncHost: Sendable {
    package let store: any StoreHost

    package init(_ store: any StoreHost) { self.store = store }
}

extension SyncStack {
    var store: any StoreHost { host.store }

    /// The model of the stored rows.
    public var model: SyncModel { store.model }

    /// The largest number of calls of `Sync` that run at the same time with this stack; nil, the default, for no limit.
    ///
    /// Syncs of one store write one after the other. While one sync writes, other syncs map their payloads. With the
    /// limit 2, one sync maps its payload while another sync writes. A number below 1 counts as 1.
    ///
    /// `Sync.maxConcurrentSyncs` limits the syncs of all stacks. Both limits count the same calls.
    public var maxConcurrentSyncs: Int? {
        get { store.syncLimit.maximum }
        nonmutating set { store.syncLimit.maximum = newValue }
    }

    /// A sequence with the result of each sync that this stack commits after the property is read.
    ///
    /// The sequence also contains the results of `save`, `insertOrUpdate`, `update`, `delete`, and of `insert` with
    /// Swift values. If a sync writes a payload in several transactions, each transaction has a result. The sequence
    /// omits results without changes.
    ///
    /// The sequence omits the results of engine runs. The sequence also omits the results of calls inside a transaction
    /// of the caller, because the caller may roll back the transaction. A slow consumer receives only the latest 1,000
    /// results. The sequence ends when the stack is closed or released.
    public var syncResults: AsyncStream<SyncResult> { store.feed.stream() }
}

// MARK: - Reading

extension SyncStack {
    /// Fetches the rows of an entity and its subentities.
    ///
    /// ```swift
    /// let adults = try await stack.fetch("User", where: "age >= 18", orderedBy: "firstName", limit: 10)
    /// ```
    /// - Parameter limit: The maximum number of rows to fetch; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for an order by a to-many relationship.
    public func fetch(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil
    ) async throws -> [SyncRow] {
        let store = store
        return try await store.withReader { [model = store.model.compiled] reader in
            let query = try RowQuery(model.entity(named: entity), where: predicate, orderedBy: order, limit: limit)
            return try reader.select(query).next(.max)
        }
    }

    /// Fetches the row with a key. Returns nil if no row has the key.
    ///
    /// A sync engine can replace the temporary key of a row with a remote ID. Afterwards, both keys identify the row.
    ///
    /// - Parameter id: The primary key, which the call converts to the type of the key attribute. A composite key is an
    ///   array of its parts in the order of the model.
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity` or `databaseError`.
    public func fetch(_ entity: String, id: JSONValue) async throws -> SyncRow? {
        let store = store
        return try await store.withReader { [model = store.model.compiled, capabilities = store.capabilities] reader in
            try reader.row(entity, id: id, in: model, keeping: capabilities)
        }
    }

    /// Fetches the rows that a relationship links to a row.
    ///
    /// The rows of an ordered relationship have the order of the relationship. Other rows are ordered by key. For a
    /// to-one relationship, the array contains at most one row.
    ///
    /// - Throws: ``SyncError`` `unknownRelationship` or `databaseError`.
    public func fetchRelated(_ relationship: String, of row: SyncRow) async throws -> [SyncRow] {
        try await store.withReader { reader in try reader.rows(relationship, of: row) }
    }

    /// Counts the rows of an entity and its subentities.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `invalidPredicate` or `databaseError`.
    public func count(_ entity: String, where predicate: RowPredicate = .all) async throws -> Int {
        let store = store
        return try await store.withReader { [model = store.model.compiled] reader in
            try reader.count(of: model.entity(named: entity), where: predicate)
        }
    }

    /// Fetches the rows of an entity that match a condition, given as a string.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` with the line and column of the problem, and the errors of the method
    ///   with a ``RowPredicate``.
    package func fetch(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil
    ) async throws -> [SyncRow] {
        try await fetch(entity, where: try RowPredicate(parsing: text), orderedBy: order, limit: limit)
    }

    /// Counts the rows of an entity that match a condition, given as a string.
    package func count(_ entity: String, where text: String) async throws -> Int {
        try await count(entity, where: try RowPredicate(parsing: text))
    }
}

// MARK: - Export

extension SyncStack {
    /// Exports the rows of an entity and its subentities as JSON that a sync can read.
    ///
    /// ```swift
    /// let users = try await stack.export("User", where: "age >= 18")
    /// // [{"id": 6, "first_name": "Ann", "notes": [{"id": 1, "text": "Buy milk"}]}, …]
    /// ```
    /// An attribute without a value is `null` in the record. If a sync would read this `null` as the removal of a link,
    /// the record omits the attribute. The record also omits a to-one relationship without a row. By default, a record
    /// contains the records of related rows, up to the nesting depth that a sync can read.
    ///
    /// A record omits these relationships:
    ///
    /// - The inverse of the relationship that contains the record
    /// - A to-one relationship to an enclosing row
    /// - A to-many relationship that includes an enclosing row
    /// - A relationship with pending references
    ///
    /// If a relationship of the second kind is part of the primary key, the record contains the key of the enclosing
    /// row.
    ///
    /// - Parameter limit: The maximum number of rows to export; nil for all.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for an order by a to-many relationship, and for an invalid pattern of dates.
    public func export(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        try await exporting(entity, predicate, order, limit, 0, options) { try $0.records() }
    }

    /// Exports the rows of an entity and its subentities as JSON text in buffers, from one state of the store. Use this
    /// method for exports that can exceed the available memory. Cancelling the task ends the export.
    ///
    /// ```swift
    /// try await stack.export("User", as: .ndjson) { try file.write(contentsOf: $0) }
    /// ```
    /// - Parameters:
    ///   - form: `.json` for an array of records, or `.ndjson` for one record on each line. If `options` sets
    ///     `keyedBy`, the `.json` form is an object with a member for each record. The encoding is UTF-8.
    ///   - limit: The maximum number of rows to export; nil for all.
    ///   - offset: The number of rows to skip.
    ///   - write: A function that receives each buffer. Each buffer except the last has at least 65,536 bytes. If the
    ///     function throws, the export ends and throws the error.
    /// - Throws: ``SyncError`` `unknownEntity`, `unknownAttribute`, `invalidPredicate` or `databaseError`.
    ///   `invalidOption` for another format, for `keyedBy` with `.ndjson`, for an order by a to-many relationship, and
    ///   for an invalid pattern of dates.
    ///   `typeMismatch` if the `keyedBy` value of a row is not a unique object key.
    public func export(
        _ entity: String, as form: PayloadFormat, where predicate: RowPredicate = .all,
        orderedBy order: RowOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await exporting(entity, predicate, order, limit, offset, options) { try $0.write(as: form, write) }
    }

    /// Exports the rows of an entity as JSON, one record at a time, from one state of the store. Cancelling the task
    /// ends the export.
    ///
    /// - Parameters:
    ///   - offset: The number of rows to skip.
    ///   - body: A function that receives each record in order. If the function throws, the export ends and throws the
    ///     error.
    package func exportEach(
        _ entity: String, where predicate: RowPredicate = .all, orderedBy order: RowOrder = .byKey,
        limit: Int? = nil, offset: Int = 0, options: ExportOptions = ExportOptions(),
        _ body: @escaping @Sendable (JSONValue) throws -> Void
    ) async throws {
        try await exporting(entity, predicate, order, limit, offset, options) { try $0.forEachRecord(body) }
    }

    /// Exports the rows of an entity that match a condition, given as a string.
    package func export(
        _ entity: String, where text: String, orderedBy order: RowOrder = .byKey, limit: Int? = nil,
        options: ExportOptions = ExportOptions()
    ) async throws -> [JSONValue] {
        let predicate = try RowPredicate(parsing: text)
        return try await export(entity, where: predicate, orderedBy: order, limit: limit, options: options)
    }

    private func exporting<Result: Sendable>(
        _ entity: String, _ predicate: RowPredicate, _ order: RowOrder, _ limit: Int?, _ offset: Int,
        _ options: ExportOptions, _ body: @escaping @Sendable (RowExport) throws -> Result
    ) async throws -> Result {
        let store = store
        return try await store.withReader { [model = store.model] reader in
            let query = try RowQuery(
                model.compiled.entity(named: entity), where: predicate, orderedBy: order, limit: limit, offset: offset)
            return try body(RowExport(reader, model, query, options))
        }
    }
}
