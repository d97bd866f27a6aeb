import Foundation
import GRDB
import SyncCore

/// Notices that the store was brought to another model since it was opened, by whomever: its tables are others then.
///
/// `@unchecked Sendable`: the variable is only touched while `lock` is held.
final class ModelWatch: @unchecked Sendable {
    private let model: Model
    private let lock = NSLock()
    /// The tables that are known to be those of the model.
    private var known: Int?

    /// - Parameter schemaVersion: Read when the model was.
    init(_ model: Model, schemaVersion: Int?) {
        self.model = model
        known = schemaVersion
    }

    /// Another number when any table, index or trigger is another.
    static func schemaVersion(_ db: Database) throws -> Int? {
        try Int.fetchOne(db.cachedStatement(sql: "PRAGMA schema_version"))
    }

    /// Begins a transaction's work, which then sees the tables that were looked at.
    ///
    /// - Parameter isNoted: Whether what is seen is committed, and may be relied on later.
    /// - Throws: ``SyncError`` `modelMismatch`.
    func check(_ db: Database, isNoted: Bool = true) throws {
        let version = try Self.schemaVersion(db)
        if lock.withLock({ known == version }) { return }
        guard let kept = try KeptModel.read(db, or: .notAStore), try !KeptModel.needsMigration(kept, to: model) else {
            throw Self.changed
        }
        if isNoted { lock.withLock { known = version } }
    }

    static var changed: SyncError {
        SyncError(.modelMismatch, "the store was brought to another model meanwhile; open it again, or try again")
    }
}
