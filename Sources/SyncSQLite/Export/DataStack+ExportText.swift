public import Foundation
public import GRDB
public import SyncCore

extension DataStack {
    /// Gives the rows of an entity as JSON text piece by piece, from one read: for files that need not fit in memory.
    ///
    /// ```swift
    /// try await stack.exportText("User", as: .ndjson) { try file.write(contentsOf: $0) }
    /// ```
    /// - Parameters:
    ///   - form: An array of records, which is the default, or a record a line; either way UTF-8.
    ///   - offset: How many rows are passed over before the first.
    ///   - write: Takes the next piece, of some ten thousand bytes. What it throws ends the export and passes through.
    /// - Throws: What ``export(_:where:orderedBy:limit:options:)-(_,RecordPredicate,_,_,_)`` throws.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RecordPredicate = .all,
        orderedBy order: RecordOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: (Data) throws -> Void
    ) throws {
        try reading { db in
            try self.exportText(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Gives the rows of an entity as JSON text piece by piece, from one read. Cancelling the task ends it.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RecordPredicate = .all,
        orderedBy order: RecordOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), write: @escaping @Sendable (Data) throws -> Void
    ) async throws {
        try await reading { db in
            try self.exportText(
                entity, as: form, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options,
                in: db,
                write: write)
        }
    }

    /// Gives the rows of an entity as JSON text piece by piece, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func exportText(
        _ entity: String, as form: SyncOptions.Form = .json, where predicate: RecordPredicate = .all,
        orderedBy order: RecordOrder = .byKey, limit: Int? = nil, offset: Int = 0,
        options: ExportOptions = ExportOptions(), in db: Database, write: (Data) throws -> Void
    ) throws {
        guard form == .json || form == .ndjson else {
            throw SyncError(.invalidOption, "rows are not exported as \(form.rawValue)")
        }
        if let names = options.keyedBy {
            guard form == .json else {
                throw SyncError(.invalidOption, "a record a line has no name to stand under")
            }
            return try exportMembers(
                entity, namedBy: names, where: predicate, orderedBy: order, limit: limit, offset: offset,
                options: options, in: db, write: write)
        }
        var text = ExportText(form)
        try exportEach(
            entity, where: predicate, orderedBy: order, limit: limit, offset: offset, options: options, in: db
        ) { record in
            text.append(record)
            if text.count >= Self.pieceSize { try write(text.take()) }
        }
        text.end()
        try write(text.take())
    }

    /// In bytes; larger pieces are not written faster.
    static let pieceSize = 65_536
}
