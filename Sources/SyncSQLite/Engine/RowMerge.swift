import Foundation
import GRDB
import SyncCore
import SyncStore

/// The merge of one row's local edits with the service's values: the state before the edits were removed, and the
/// result. ``EditRebase`` creates it before a page is written, and reapplies it afterwards.
struct RowMerge {
    let engine: SQLiteEngineStore
    let db: Database
    let table: TrackedTable
    let key: DatabaseValue
    /// The difference between the service's clock and the local clock, in milliseconds.
    private let clock: Int64
    /// The pulled record of the row; nil if the row is in the page only inside another record.
    private let pulled: RemoteRecord?
    /// The state of the row before the page; nil for a row that is only linked to rows of the page.
    private let standing: LocalRowState?
    /// The kind of the pending change; nil if the outbox has none for the row.
    private let kind: PendingChange.Kind?
    /// The columns and join tables that were pulled for all rows. See ``SyncedColumns``.
    let syncedColumns: Set<String>
    /// The former key paths of columns that the model reads from other key paths now. See
    /// ``SyncedColumns/formerPaths()``.
    private let formerPaths: [String: [[String]]]
    /// The edit times of a row to be created at the service; nil for other rows.
    private let creationTimes: LocalEditTimes?
    /// The values of each field that were sent and not confirmed. See ``EngineLedger/attemptedValues(of:_:)``.
    private(set) var triedValues: [String: [DatabaseValue]]
    /// The base value of each edited field, and when the field was edited.
    private(set) var bases: [String: EngineLedger.Base]
    /// The value of each column before the edits were removed.
    private var local: [String: DatabaseValue]
    /// The columns that could not be reset to their base value, because a constraint rejects that value, or because it
    /// references a row with a surrogate key that is not stored.
    private var unrevertedColumns: Set<String> = []
    /// The columns whose base value is a sent value that the service has.
    private var agreed: Set<String> = []
    var lists: [JoinRowEdits] = []

    /// The value of each column at the service.
    private var remote: [String: DatabaseValue] = [:]
    /// The values to write to the row.
    private var reapplied: [String: DatabaseValue] = [:]
    /// The new base values; nil for a column that has the service's value. Other columns keep their base values.
    private var newBases: [String: DatabaseValue?] = [:]
    /// The number of values in conflict.
    var conflicts = 0
    /// Whether a conflict is left to the user.
    var isOpen = false

    var ledger: EngineLedger { EngineLedger(db) }
    var log: ConflictLog { ConflictLog(db) }

    /// Reads the edits of a stored row. `local` has the value of each column.
    init(
        _ key: DatabaseValue, _ table: TrackedTable, _ local: [String: DatabaseValue], _ standing: LocalRowState?,
        _ pulled: RemoteRecord?, syncedColumns: Set<String>, formerPaths: [String: [[String]]] = [:], clock: Int64,
        _ engine: SQLiteEngineStore, _ db: Database
    ) throws {
        (self.engine, self.db, self.table, self.key, self.clock) = (engine, db, table, key, clock)
        (self.standing, self.pulled, self.syncedColumns, self.local) = (standing, pulled, syncedColumns, local)
        self.formerPaths = formerPaths
        let ledger = EngineLedger(db)
        kind = try ledger.change(of: key, table)?.kind
        bases = try ledger.bases(of: key, table)
        creationTimes = kind == .create ? try LocalEditTimes(of: key, table, db) : nil
        triedValues = kind == nil ? [:] : try ledger.attemptedValues(of: key, table)
        lists = try table.joinTables.map { try JoinRowEdits($0, of: self) }
    }

    /// Whether the version at the service is the known version, so the service did not change the row.
    var isCurrent: Bool { pulled?.version != nil && pulled?.version == standing?.version }

    /// Whether the row may have local edits from a time without change capture.
    var mayHaveUncapturedEdits: Bool { standing?.mayHaveUncapturedEdits ?? false }

    /// Whether the row was created locally and has no base values. A row to be created again has base values.
    var isNew: Bool { creationTimes.map { !$0.isRestored } ?? false }

    /// Returns whether a column without a base value counts as edited.
    private func isEdited(_ name: String) -> Bool { isNew || creationTimes?.isSet(name) == true }

    /// Returns when a column was edited, or 0 if that is not known. Nil if the column has no base value and the row is
    /// not to be created at the service.
    private func editTime(of name: String) -> Int64? {
        bases[name]?.editTime ?? creationTimes?.editTime(of: name, holding: local[name] ?? .null)
    }

    // MARK: Removing edits

    /// Resets the edited columns and lists to their base values. A column keeps its value if it cannot have the base
    /// value.
    mutating func revert() throws {
        try updateReferences()
        var former = bases.filter { local[$0.key] != nil }.mapValues(\.value)
        for column in table.columns {
            guard let value = former[column.name], engine.isName(value, in: column) else { continue }
            former[column.name] = nil
            unrevertedColumns.insert(column.name)
        }
        if try !write(former, orIgnore: true) {
            for (name, value) in former.sorted(by: { $0.key < $1.key })
            where try !write([name: value], orIgnore: true) { unrevertedColumns.insert(name) }
        }
        try revertLists()
    }

    // MARK: Reapplying edits

    /// Merges the edits into the row that the page wrote. Does nothing if the row is not stored any more.
    mutating func reapply() throws {
        guard let remote = try table.fieldReader.values(of: key, in: db) else { return }
        self.remote = remote
        try updateReferences()
        let openConflicts = try log.open(of: key, table, nil)
        // If the page did not change a column that kept its local value, the service still has the base value.
        for name in unrevertedColumns where self.remote[name]?.exact == local[name]?.exact {
            if let base = bases[name] { self.remote[name] = base.value }
        }
        try agree()
        for group in table.groups { try mergeAsOne(group) }
        let grouped = Set(table.groups.joined())
        for column in table.columns where !grouped.contains(column.name) { try merge(column.name) }
        try write(reapplied)
        for conflict in openConflicts { try update(conflict, isGrouped: grouped.contains(conflict.field)) }
        try reapplyLists()
        try record()
        if kind == .create { try ledger.deleteOpenCreate(of: key, table) }
        try ledger.finishMerge(key, table)
    }

    /// Gives the values of foreign keys the current keys of the referenced rows, so that the values can be compared.
    /// See ``SQLiteEngineStore/currentReference(_:in:_:)``.
    private mutating func updateReferences() throws {
        let (engine, db) = (engine, db)
        for column in table.columns where column.destination != nil {
            func current(_ value: DatabaseValue) throws -> DatabaseValue {
                try engine.currentReference(value, in: column, db)
            }
            let name = column.name
            if var base = bases[name] {
                base.value = try current(base.value)
                bases[name] = base
            }
            local[name] = try local[name].map(current)
            remote[name] = try remote[name].map(current)
            triedValues[name] = try triedValues[name].map { try $0.map(current) }
        }
    }

    /// Makes a sent value the base value of its column if the service has that value.
    private mutating func agree() throws {
        for (name, values) in triedValues
        where !unrevertedColumns.contains(name) && (bases[name] != nil || kind == .create) {
            guard let there = remote[name], values.contains(where: there.isExactly) else { continue }
            bases[name] = EngineLedger.Base(value: there, editTime: try editTime(of: name) ?? db.now())
            agreed.insert(name)
        }
    }

    private mutating func merge(_ name: String) throws {
        guard let here = local[name], let there = remote[name] else { return }
        guard let base = bases[name] else {
            // A column without a base value was not edited and takes the remote value, unless the row is new.
            if here.isExactly(there) { return try mergeMissedEdit(ofRemapped: name, here) }
            if isEdited(name) {
                return try resolveConflict(name, base: .null, here, there, editTime(of: name) ?? 0)
            }
            return try mergeMissedEdit(name, here, there)
        }
        switch ThreeWayMerge.outcome(base: base.value.exact, local: here.exact, remote: there.exact) {
        case .same, .remote: newBases[name] = .some(nil)
        case .local:
            reapplied[name] = here
            if agreed.contains(name) { newBases[name] = .some(base.value) }
        // The engine cleared the foreign key because it deleted the referenced row. See
        // `ChangeCaptureTriggers.unlinked`.
        case .conflict where base.cause == .cascade: newBases[name] = .some(nil)
        case .conflict: try resolveConflict(name, base: base.value, here, there, base.editTime)
        }
    }

    /// Merges a column without a base value that may have been edited while changes were not captured. At the known
    /// version, the difference is such an edit. At another version, the remote value applies, and the local value is
    /// logged.
    private mutating func mergeMissedEdit(_ name: String, _ here: DatabaseValue, _ there: DatabaseValue) throws {
        guard mayHaveUncapturedEdits, syncedColumns.contains(name) else { return }
        if isCurrent {
            reapplied[name] = here
            newBases[name] = .some(there)
        } else {
            conflicts += 1
            try log.add(table, key, field: name, base: .null, local: here, remote: there, .missedEdits)
        }
    }

    /// Merges a column that the model reads from another key path now, which the record lacks. If the value at the
    /// former key path differs, the column may have been edited while changes were not captured.
    private mutating func mergeMissedEdit(ofRemapped name: String, _ here: DatabaseValue) throws {
        guard mayHaveUncapturedEdits, let paths = formerPaths[name], let record = pulled?.record,
            let column = table.columns.first(where: { $0.name == name }),
            case .attribute(let slot) = column.field, let path = table.paths(of: column.field).first,
            record.value(at: path) == nil, let former = paths.lazy.compactMap({ record.value(at: $0) }).first
        else { return }
        let attribute = engine.model.compiled[table.entity.table].attributes[slot]
        let kind = try table.kind(of: key, engine.model.compiled, in: db)
        let values = try AttributeMapper(record.setting(former, at: path), of: kind, in: engine.model).values
        guard let value = values[attribute.name] else { return }
        let there = ColumnValue.databaseValue(value, as: attribute.type)
        guard !here.isExactly(there) else { return }
        if isCurrent {
            newBases[name] = .some(there)
        } else {
            conflicts += 1
            try log.add(table, key, field: name, base: .null, local: here, remote: there, .missedEdits)
        }
    }

    /// Merges the columns of a group as one field. If both sides changed the group, each column that differs is in
    /// conflict.
    private mutating func mergeAsOne(_ group: [String]) throws {
        func before(_ name: String) -> DatabaseValue? { bases[name]?.value ?? local[name] }
        func areSame(_ left: DatabaseValue?, _ right: DatabaseValue?) -> Bool { left?.exact == right?.exact }
        // A new row has base values only where the service has a sent value.
        let isNew = group.contains { isEdited($0) && bases[$0] == nil && !areSame(local[$0], remote[$0]) }
        // Each value of a preexisting row may be an edit.
        let areAllEdits = creationTimes != nil || standing?.isPreexisting == true
        let names = group.filter { areAllEdits || bases[$0] != nil || syncedColumns.contains($0) }
        let isChangedThere = names.contains { !areSame(remote[$0], before($0)) } || isNew
        let isChangedHere =
            names.contains { !areSame(local[$0], before($0)) && bases[$0]?.cause != .cascade } || isNew
        guard isChangedHere, isChangedThere, names.contains(where: { !areSame(local[$0], remote[$0]) }) else {
            for name in names { try merge(name) }
            return
        }
        let editTime = try names.compactMap(editTime).max() ?? db.now()
        for name in names {
            guard let here = local[name], let there = remote[name], !here.isExactly(there) else {
                newBases[name] = .some(nil)
                continue
            }
            try resolveConflict(name, base: before(name) ?? .null, here, there, editTime)
        }
    }

    private mutating func resolveConflict(
        _ name: String, base: DatabaseValue, _ here: DatabaseValue, _ there: DatabaseValue, _ editTime: Int64
    ) throws {
        let column = table.columns.first { $0.name == name }
        func shown(_ value: DatabaseValue) throws -> JSONValue {
            guard let destination = column?.destination, !value.isNull else { return value.json }
            return try engine.id(value, of: destination, in: db)
        }
        let (resolution, own) = try resolve(
            name, base: shown(base), here: shown(here), there: shown(there), editTime: editTime
        ) { json in try column.flatMap { try value(of: json, in: $0) } }
        if resolution.winner == .remote {
            newBases[name] = .some(nil)
        } else {
            reapplied[name] = own ?? here
            newBases[name] = .some(there)
        }
        try add(resolution, field: name, base: base, local: here, remote: there)
    }

    /// Resolves the conflict of a one-to-one reference with another row that the service linked to the referenced row.
    /// Returns whether the local reference wins.
    mutating func resolveRival(of name: String) throws -> Bool {
        try updateReferences()
        guard let here = local[name] else { return false }
        let there = bases[name]?.value ?? .null
        try resolveConflict(name, base: there, here, there, editTime(of: name) ?? 0)
        try write([name: reapplied[name] ?? there])
        // The service does not have a new row, so the row has no base values.
        if kind == .create { newBases = [:] }
        try record()
        if kind != .create { try ledger.finishMerge(key, table) }
        return !isOpen && reapplied[name]?.isExactly(here) == true
    }

    /// Logs the conflict of a field, or updates the open conflict that the field already has.
    mutating func add(
        _ resolution: ConflictOutcome, field: String, base: DatabaseValue, local: DatabaseValue, remote: DatabaseValue
    ) throws {
        if resolution.winner == .open {
            isOpen = true
            if try log.update(field, key, table, local: local, remote: remote) { return }
        }
        conflicts += 1
        try log.add(table, key, field: field, base: base, local: local, remote: remote, resolution)
    }

    /// Closes an open conflict of a column if it needs no decision after the merge. Otherwise updates its values, because
    /// `resolve` writes the remote value of the log. A group does not return to a base value column by column.
    private func update(_ conflict: ConflictLog.OpenConflict, isGrouped: Bool) throws {
        let name = conflict.field
        guard let here = local[name], let there = remote[name] else { return }
        let merged = reapplied[name] ?? there
        let isReverted = conflict.isReverted(to: there) || agreed.contains(name)
        if here.isExactly(there) || isReverted && !isGrouped {
            try log.close(conflict.id, .local, .remoteReverted)
        } else if merged.isExactly(there) {
            try log.close(conflict.id, .remote, .editedToRemote)
        } else {
            _ = try log.update(name, key, table, local: merged, remote: there)
        }
    }

    // MARK: Writing

    private func record() throws {
        for (name, base) in newBases {
            try ledger.setBase(base, of: name, key, table, editTime: editTime(of: name))
        }
        if kind == nil, !newBases.isEmpty { try ledger.insertUpdate(of: key, table) }
        if isOpen { try ledger.setConflicted(key, table) }
    }

    /// Writes columns of the row. A reference to a row that is not stored becomes a pending reference. `orIgnore`:
    /// whether to keep the row unchanged if a constraint rejects the values. Returns whether the values were written.
    @discardableResult
    private func write(_ values: [String: DatabaseValue], orIgnore: Bool = false) throws -> Bool {
        var (written, pending): ([String: DatabaseValue], [String: DatabaseValue]) = (values, [:])
        let references = table.columns.filter { $0.destination != nil && values[$0.name] != nil }
        for column in references {
            guard let value = values[column.name], try !engine.isThere(value, column, in: db) else { continue }
            pending[column.name] = value
            // A required column keeps its value until the row arrives.
            written[column.name] = column.isOptional ? DatabaseValue.null : nil
        }
        if !written.isEmpty {
            let sorted = written.sorted { $0.key < $1.key }
            let set = sorted.map { "\($0.key.quoted) = ?" }.joined(separator: ", ")
            try db.run(
                "UPDATE \(orIgnore ? "OR IGNORE " : "")\(table.sql) SET \(set) WHERE \(table.keySQL) = ?",
                list: sorted.map(\.value) + [key])
            guard db.changesCount > 0 else { return false }
        }
        for column in references {
            try engine.setPendingReference(to: pending[column.name], in: column, of: key, table, db)
        }
        return true
    }
}

// Conflicts are resolved by the app's resolver, or else by the conflict policy.
extension RowMerge {
    /// Returns the outcome of a conflict of a field. `editTime`: when the field was edited locally, in milliseconds
    /// since 1970; 0 if not known. `read` returns the value of the field for a merged value that the app's resolver
    /// returned; nil if that value does not fit the field. `own` is its result; nil if the resolver merged no values.
    func resolve<Value>(
        _ field: String, base: JSONValue, here: JSONValue, there: JSONValue, editTime: Int64,
        read: (JSONValue) throws -> Value?
    ) throws -> (ConflictOutcome, own: Value?) {
        let conflict = SyncConflict(
            entity: table.entity.name, key: try table.recordKey(key, in: db), field: table.displayName(ofField: field),
            base: base, local: here, remote: there,
            localEditDate: editTime == 0 ? nil : Date(milliseconds: editTime))
        switch engine.registration.resolver?(conflict) ?? .usePolicy {
        case .local: return (ConflictOutcome(winner: .local, reason: .resolver), nil)
        case .remote: return (ConflictOutcome(winner: .remote, reason: .resolver), nil)
        case .manual: return (ConflictOutcome(winner: .open, reason: .resolver), nil)
        case .merged(let json):
            guard let value = try read(json) else {
                let note = "\(json) does not fit the field"
                return (ConflictOutcome(winner: .open, reason: .resolver, note: note), nil)
            }
            return (ConflictOutcome(winner: .local, reason: .merged, note: "\(json)"), value)
        case .usePolicy:
            let outcome = try ConflictOutcome(
                table.registration.policy, editTime: editTime, changed: pulled?.time, known: standing?.time,
                now: db.now(), clock: clock)
            return (outcome, nil)
        }
    }

    /// Returns the value of a column for a merged value; nil if the value does not fit the column.
    private func value(of json: JSONValue, in column: TrackedTable.Column) throws -> DatabaseValue? {
        let model = engine.model.compiled
        switch column.field {
        case .attribute(let slot):
            let attribute = model[table.entity.table].attributes[slot]
            switch (json, attribute.type) {
            case (.null, _): return attribute.isOptional ? DatabaseValue.null : nil
            case (.array, .json), (.object, .json), (.array, .transformable), (.object, .transformable): break
            case (.array, _), (.object, _): return nil
            default: break
            }
            let value = json.columnValue
            return value.isReadable(as: attribute.type) ? value : nil
        case .toOne(let link):
            if json == .null { return column.isOptional ? DatabaseValue.null : nil }
            return try TrackedKey(model.entities[model[link].second.entity], engine.stack.layout)?.engineKey(
                of: json, in: db)
        case .kind:
            guard case .string(let name) = json, let id = model.entityID(name), table.entity.family.contains(id),
                !model.entities[id].isAbstract
            else { return nil }
            return name.databaseValue
        case .joinRows: return nil
        }
    }
}
