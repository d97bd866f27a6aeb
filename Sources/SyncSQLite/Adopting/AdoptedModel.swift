public import Foundation
public import GRDB
public import SyncCore

/// A model worked out from the tables of a database, to adopt them with.
///
/// ```swift
/// let adopted = try AdoptedModel(of: pool)
/// for remark in adopted.remarks { print(remark) }
/// try adopted.model.schemaFile().write(to: modelURL)
/// ```
/// Tables become entities, columns attributes of the types they are declared with, foreign keys relationships with
/// their inverses, and tables of two foreign keys many-to-many relationships. What a sync cannot write to as it is, is
/// left out and remarked upon, so that the model opens with ``DataStack/init(model:adopting:transformers:)``.
public struct AdoptedModel: Sendable {
    /// The entities of the tables that can be adopted.
    public let model: SyncModel
    /// What was left out, and why: `tables.post.rating: …`.
    public let remarks: [String]

    /// Reads the tables of a database, and all rows of them. Writes nothing.
    ///
    /// - Parameter tables: The tables that are wanted; none for all but those that begin with `sqlite_`, `sync_` and
    /// `grdb_`.
    /// - Throws: ``SyncError`` `unsuitableTables` if there is no table of such a name, or none that can be adopted;
    ///   `storeFailure`.
    public init(of reader: some DatabaseReader, tables: [String] = []) throws {
        (model, remarks) = try StoreFailure.mapped(.storeFailure, "the tables of the database cannot be read") {
            try reader.read { db in
                var draft = try AdoptedTables(tables, in: db)
                let model = try draft.model()
                return (model, draft.remarks.map { "\($0.path): \($0.message)" + ($0.sql.map { "\n\($0)" } ?? "") })
            }
        }
    }

    /// Reads the tables of a file.
    ///
    /// - Throws: ``SyncError`` `unreadableStore`, and what ``init(of:tables:)`` throws.
    public init(at url: URL, tables: [String] = []) throws {
        guard url.isFileURL, FileStatus(at: url.path)?.isRegular == true else {
            throw SyncError(.unreadableStore, "there is no database at '\(url.path)'")
        }
        var configuration = StoreFile.configuration()
        configuration.readonly = true
        let queue = try StoreFailure.mapped(.unreadableStore, "'\(url.path)' cannot be read as a database") {
            try DatabaseQueue(path: url.path, configuration: configuration)
        }
        defer { try? queue.close() }
        try self.init(of: queue, tables: tables)
    }
}
