import Foundation
import GRDB
import GRDBSQLite
import SyncCore

/// Notices that the store was brought to another model since it was opened, by whomever: its tables are others then.
///
/// `@unchecked Sendable`: the variable is only touched while `lock` is held.
final class ModelWatch: @unchecked Sendable {
    private let model: SyncModel
    /// Whether the tables are an app's, which may change them.
    private let isAdopted: Bool
    private let lock = NSLock()
    /// The tables that are known to be those of the model, and the file that they are in.
    private var known: Int?
    private var file: String?

    /// - Parameter schemaVersion: Read when the model was.
    init(_ model: SyncModel, schemaVersion: Int?, isAdopted: Bool) {
        self.model = model
        self.isAdopted = isAdopted
        known = schemaVersion
    }

    /// Another number when any table, index or trigger is another.
    static func schemaVersion(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    /// Begins a transaction's work, which then sees the tables that were looked at.
    ///
    /// - Parameter isNoted: Whether the connection is the stack's and what is seen is committed, so that it may be relied on
    ///   later. A connection of the caller's may be to another database.
    /// - Throws: ``SyncError`` `modelMismatch`, `unsuitableTables`.
    func check(_ db: Database, isNoted: Bool = true) throws {
        let version = try Self.schemaVersion(db)
        let file = sqlite3_db_filename(db.sqliteConnection, "main").map { String(cString: $0) } ?? ""
        if lock.withLock({ known == version && (isNoted || !file.isEmpty && self.file == file) }) {
            if isNoted { lock.withLock { self.file = file } }
            return
        }
        guard let kept = try KeptModel.read(db, or: .notAStore), try !KeptModel.needsMigration(kept, to: model),
            try KeptModel.isAdopted(db) == isAdopted
        else { throw Self.changed }
        if isAdopted { try AdoptionCheck.check(model, in: db, readsValues: false) }
        if isNoted { lock.withLock { (known, self.file) = (version, file) } }
    }

    static var changed: SyncError {
        SyncError(.modelMismatch, "the store was brought to another model meanwhile; open it again, or try again")
    }
}
