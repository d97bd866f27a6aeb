public import GRDB
public import SyncCore

extension DataStack {
    /// The rows of an entity, decoded by the names of attributes: for types that are no records.
    ///
    /// ```swift
    /// struct Line: Decodable { var id: Int, title: String, dueAt: Date? }
    /// let lines = try await stack.fetch("Task", as: Line.self, where: "isDone == false")
    /// ```
    /// - Parameter skip: Is told of each row that is none of the type, which is then left out; nil if such a row is an error.
    /// - Throws: ``SyncError`` `valueDoesNotFit` for a row that is none of the type, and as ``fetch(_:where:orderedBy:limit:)-(_,_,_,_)`` does.
    public func fetch<Value: Decodable & Sendable>(
        _ entity: String, as type: Value.Type, where predicate: RecordPredicate = .all,
        orderedBy order: RecordOrder = .byKey, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil
    ) async throws -> [Value] {
        try await reading { db in
            try self.fetch(
                entity, as: type, where: predicate, orderedBy: order, limit: limit, skippingUnreadable: skip, in: db)
        }
    }

    /// The rows of an entity, decoded by the names of attributes, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func fetch<Value: Decodable>(
        _ entity: String, as type: Value.Type, where predicate: RecordPredicate = .all,
        orderedBy order: RecordOrder = .byKey, limit: Int? = nil,
        skippingUnreadable skip: (@Sendable (UnreadableRow) -> Void)? = nil, in db: Database
    ) throws -> [Value] {
        try fetch(entity, where: predicate, orderedBy: order, limit: limit, in: db).compactMap { record in
            let members = record.attributes.compactMap { name in
                record[name].map { JSONValue.Member(name, $0.jsonForm) }
            }
            do {
                return try CodedValue.value(.object(members))
            } catch {
                let error = SyncError(
                    .valueDoesNotFit, "the row \(record.key) is no \(Value.self): \(error)", entity: record.entity)
                guard let skip else { throw error }
                skip(UnreadableRow(entity: record.entity, key: record.key, error: error))
                return nil
            }
        }
    }
}
