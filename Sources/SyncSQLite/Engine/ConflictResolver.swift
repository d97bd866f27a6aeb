import Foundation
import GRDB
import SyncCore
import SyncStore

/// Resolves conflicts of fields by the app's resolver, or else by the conflict policy.
struct ConflictResolver {
    /// A row whose local edits are merged.
    struct Subject {
        let table: TrackedTable
        let key: DatabaseValue
        /// When the service last changed the row, in milliseconds since 1970; nil if not known.
        let changed: Int64?
        /// When the service changed the known version of the row, in milliseconds since 1970; nil if not known.
        let known: Int64?
        /// Whether the version at the service is the known version, so the service did not change the row.
        let isCurrent: Bool
        /// Whether the row may have local edits from a time without change capture.
        let mayHaveUncapturedEdits: Bool
        /// The kind of the pending change; nil if the outbox has none for the row.
        let kind: PendingChange.Kind?
        /// The columns and join tables that were pulled for all rows. See ``SyncedColumns``.
        let syncedColumns: Set<String>
        /// The edit times of a row to be created at the service; nil for other rows.
        let creationTimes: LocalEditTimes?
        /// The values of each field that were sent and not confirmed. See ``EngineLedger/attemptedValues(of:_:)``.
        let triedValues: [String: [DatabaseValue]]

        /// Whether the row was created locally and has no base values. A row to be created again has base values.
        var isNew: Bool { creationTimes.map { !$0.isRestored } ?? false }
    }

    /// A field that both sides changed, with the value of each side.
    struct Case {
        let field: String
        let base: JSONValue
        let here: JSONValue
        let there: JSONValue
        /// When the field was edited locally, in milliseconds since 1970; 0 if not known.
        let editTime: Int64
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private let clock: Int64

    init(_ engine: SQLiteEngineStore, _ db: Database, clock: Int64) {
        (self.engine, self.db, self.clock) = (engine, db, clock)
    }

    /// Returns the outcome of a conflict. `own` is the merged value that the app's resolver returned; nil if it
    /// returned none.
    func resolve(_ values: Case, of row: Subject) throws -> (ConflictOutcome, own: JSONValue?) {
        let conflict = SyncConflict(
            entity: row.table.entity.name, key: try row.table.recordKey(row.key, in: db),
            field: row.table.displayName(ofField: values.field), base: values.base, local: values.here,
            remote: values.there, localEditDate: values.editTime == 0 ? nil : Date(milliseconds: values.editTime))
        switch engine.registration.resolver?(conflict) ?? .usePolicy {
        case .local: return (ConflictOutcome(winner: .local, reason: .resolver), nil)
        case .remote: return (ConflictOutcome(winner: .remote, reason: .resolver), nil)
        case .manual: return (ConflictOutcome(winner: .open, reason: .resolver), nil)
        case .merged(let json):
            guard fits(json, values.field, row.table) else {
                let note = "\(json) does not fit the attribute"
                return (ConflictOutcome(winner: .open, reason: .resolver, note: note), nil)
            }
            return (ConflictOutcome(winner: .local, reason: .resolver, note: "\(json)"), json)
        case .usePolicy:
            return (
                ConflictOutcome(
                    row.table.registration.policy, editTime: values.editTime, changed: row.changed, known: row.known,
                    now: SQLiteEngineStore.now, clock: clock), nil
            )
        }
    }

    /// Returns whether the column of an attribute can store a merged value.
    private func fits(_ value: JSONValue, _ field: String, _ table: TrackedTable) -> Bool {
        guard case .attribute(let slot) = table.columns.first(where: { $0.name == field })?.field else { return true }
        let attribute = engine.model.compiled[table.entity.table].attributes[slot]
        return value == .null ? attribute.isOptional : value.columnValue.isReadable(as: attribute.type)
    }
}
